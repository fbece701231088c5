"""This machine's processor, as far as the system tells."""

from __future__ import annotations

import functools
import os
import platform
from pathlib import Path
from typing import Final

CPUINFO: Final = Path("/proc/cpuinfo")


@functools.cache
def description() -> str:
    """What Linux says of all cores; nothing elsewhere."""
    return CPUINFO.read_text() if CPUINFO.exists() else ""


def features() -> set[str]:
    """Instructions it has: "avx2", "avx512f" and others."""
    return set(description().split())


def name() -> str:
    """The model's name and the number of cores."""
    lines = description().splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()} x {len(names) or 1}"


def num_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
