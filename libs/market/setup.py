"""Builds the compiled half where a C compiler is at hand; the package works without it. TARDIS_PURE=1 leaves it out."""

import os

from setuptools import Extension, setup

FOLDER = "src/tardis_market/_c"


def extensions():
    if os.environ.get("TARDIS_PURE") == "1":
        return []
    from Cython.Build import cythonize

    modules = [
        Extension(
            f"tardis_market._c.{name}",
            [f"{FOLDER}/{name}.pyx"],
            include_dirs=[FOLDER],
            depends=[f"{FOLDER}/simd.h"],
            extra_compile_args=["-O3"],
        )
        for name in ("encode", "scan", "repeats")
    ]
    made = cythonize(modules, include_path=["src"])
    for module in made:
        module.optional = True  # set here, since cythonize makes new extensions and drops it
    return made


setup(ext_modules=extensions())
