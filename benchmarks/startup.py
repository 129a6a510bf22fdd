"""How long `evalspan --help` takes on a warm cache. Goal: under 0.5 s."""

import statistics
import subprocess
import sys
import time
from pathlib import Path

COMMAND = [str(Path(sys.executable).parent / "evalspan"), "--help"]


def main() -> None:
    """Print the median of 15 runs, after one that warms the cache."""
    subprocess.run(COMMAND, check=True, stdout=subprocess.DEVNULL)
    seconds = []
    for _ in range(15):
        start = time.perf_counter()
        subprocess.run(COMMAND, check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - start)
    print(f"evalspan --help: median {statistics.median(seconds):.3f} s, worst {max(seconds):.3f} s, goal 0.500 s")


if __name__ == "__main__":
    main()
