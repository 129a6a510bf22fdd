"""The machine line: what a figure was measured on, without anything that names the machine itself."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

__all__ = ["load", "machine_line"]


def machine_line(*packages: str) -> str:
    """CPU model, cores that this process may use, system, Python, and the versions of evalspan and `packages`."""
    parts = [
        _cpu_model(),
        f"{_cores()} cores",
        f"{platform.system()} {platform.machine()}",
        f"Python {platform.python_version()}",
        *(f"{package} {version(package)}" for package in (*packages, "evalspan")),
    ]
    return ", ".join(parts)


def load() -> str:
    """The load average of the last minute: how many others computed at the same time. `unknown` where there is none."""
    try:
        return f"{os.getloadavg()[0]:.1f}"
    except (AttributeError, OSError):
        return "unknown"


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        key, _, value = line.partition(":")
        if key.strip() == "model name" and value.strip():
            return " ".join(value.split())
    return platform.processor() or "unknown CPU"


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux has it
        return os.cpu_count() or 1
