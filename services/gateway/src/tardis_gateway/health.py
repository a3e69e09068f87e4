"""What the gateway says about itself."""

from __future__ import annotations

import resource
import sys
import time

_STARTED = time.monotonic()


def health() -> dict[str, object]:
    """The contract's `/health-check`; the heap figures of the old server have no counterpart here and repeat the resident size."""
    resident = _resident_mb()
    return {
        "status": "Healthy",
        "uptimeHours": round((time.monotonic() - _STARTED) / 3600, 2),
        "timestampMs": time.time_ns() // 1_000_000,
        "memoryInfo": {"rssMB": resident, "heapTotalMB": resident, "heapUsedMB": resident, "externalMB": 0},
    }


def _resident_mb() -> float:
    try:
        with open("/proc/self/statm") as statm:
            return round(int(statm.read().split()[1]) * resource.getpagesize() / 1e6, 1)
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return round(peak / (1e6 if sys.platform == "darwin" else 1e3), 1)
