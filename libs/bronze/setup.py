"""Builds the compiled half where there is a compiler and Cython; without them, or with TARDIS_PURE=1, the plain half does all."""

import os
from pathlib import Path

from setuptools import Extension, setup


def extensions() -> list[Extension]:
    if os.environ.get("TARDIS_PURE") == "1":
        return []
    try:
        from Cython.Build import cythonize

        from tardis_market._c import get_include
    except ImportError:
        return []
    headers = Path(get_include())
    modules = [
        Extension(
            f"tardis_bronze._c.{name}",
            [f"src/tardis_bronze/_c/{name}.pyx"],
            include_dirs=[str(headers)],
            extra_compile_args=["-O3"],
        )
        for name in ("read", "write")
    ]
    made = cythonize(modules, include_path=["src", str(headers.parents[1])], language_level=3, force=True)
    for module in made:
        module.optional = True  # set here, since cythonize makes new extensions and drops it
    return made


setup(ext_modules=extensions())
