"""Measures words/s of both encoder types at the default sizes, on synthetic and demo data.

    .venv/bin/python scripts/bench_encoders.py [--rounds=3] [more train.py flags]

Every cell is a fresh process; the rounds go through all cells in turn, so that a machine that is
slow for a while hurts all alike. Prints the median words/s with the range, and the ratio.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATASETS = ("synthetic", "demo")
ENCODERS = ("cudnn_lstm", "dynamic_rnn")


def measure(dataset: str, encoder: str, extra: Sequence[str]) -> float:
    """Words/s of one run."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "results.json"
        flags = [f"--dataset={dataset}", f"--encoder_type={encoder}", f"--results_file={path}"]
        command = [sys.executable, str(ROOT / "train.py"), *flags, *extra]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return float(json.loads(path.read_text())["words_per_second"])


def main() -> None:
    """Runs all rounds and prints the table."""
    rounds, extra = 3, sys.argv[1:]
    if extra and extra[0].startswith("--rounds="):
        rounds, extra = int(extra[0].split("=")[1]), extra[1:]
    cells = [(dataset, encoder) for dataset in DATASETS for encoder in ENCODERS]
    speeds: dict[tuple[str, str], list[float]] = {cell: [] for cell in cells}
    for number in range(1, rounds + 1):
        for cell in cells:
            speeds[cell].append(measure(*cell, extra))
            print(f"round {number}: {' '.join(cell)} {speeds[cell][-1]:,.0f} words/s", flush=True)
    print("\n|Dataset|Encoder|words/s (median)|range|of dynamic_rnn|\n|:--|:--|:--|:--|:--|")
    for dataset, encoder in cells:
        found, plain = speeds[dataset, encoder], speeds[dataset, "dynamic_rnn"]
        median = statistics.median(found)
        ratio = median / statistics.median(plain)
        low, high = min(found), max(found)
        print(f"|{dataset}|{encoder}|{median:,.0f}|{low:,.0f} to {high:,.0f}|{ratio:.2f}|")


if __name__ == "__main__":
    main()
