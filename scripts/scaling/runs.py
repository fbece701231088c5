"""Measuring cells: a fresh process each, in interleaved rounds, kept as they come."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scaling.cells import Cell

TRAIN = Path(__file__).resolve().parents[2] / "train.py"


@dataclass(frozen=True)
class Run:
    """One cell measured once: the record of train.py, or why there is none."""

    cell: Cell
    round: int
    record: dict[str, Any] | None
    error: str = ""

    def to_json(self) -> str:
        """One line."""
        return json.dumps({**asdict(self), "cell": asdict(self.cell)})


def from_json(line: str) -> Run:
    """The opposite of `to_json`."""
    fields = json.loads(line)
    return Run(**{**fields, "cell": Cell(**fields["cell"])})


def read_runs(path: Path) -> list[Run]:
    """What was measured before; a line that was broken off is measured again."""
    runs = []
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            runs.append(from_json(line))
        except (ValueError, TypeError, KeyError):
            continue
    return runs


def append(run: Run, path: Path) -> None:
    """Adds a line; one that was broken off before it stays by itself."""
    begun = path.exists() and path.read_bytes()[-1:] not in (b"", b"\n")
    with path.open("a") as file:
        file.write(("\n" if begun else "") + run.to_json() + "\n")


def measure(cell: Cell, flags: Sequence[str], batch_size: int, limit_s: float) -> Run:
    """Trains once in a process of its own."""
    with tempfile.TemporaryDirectory() as directory:
        results = Path(directory) / "results.json"
        command = [sys.executable, str(TRAIN), *cell.flags(batch_size, flags)]
        command.append(f"--results_file={results}")
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=limit_s,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            return Run(cell, 0, None, f"took longer than {limit_s:.0f} s")
        lines = results.read_text().splitlines() if results.exists() else []
        if done.returncode or not lines:
            said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
            return Run(cell, 0, None, said[-1])
        record: dict[str, Any] = json.loads(lines[-1])
        if not record["timed_batches"]:
            return Run(cell, 0, None, "no batch was timed; give fewer --num_warmup_batches")
        return Run(cell, 0, record)


def missing(cells: Sequence[Cell], rounds: int, runs: Sequence[Run]) -> Iterator[tuple[int, Cell]]:
    """Every round's cells that have no record yet, round by round."""
    done = {(run.round, run.cell) for run in runs if run.record is not None}
    for number in range(1, rounds + 1):
        for cell in cells:
            if (number, cell) not in done:
                yield number, cell
