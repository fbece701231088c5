"""Interleaved rounds: every cell a fresh process, all cells in turn, medians over the rounds."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.command_line import Parser
from nmt import checks
from nmt.config import TrainConfig

ROOT = Path(__file__).resolve().parent.parent
Record = dict[str, Any]
Found = dict[str, list[Record]]
Cells = Mapping[str, Callable[[], Record]]


SPOILING: Final = {
    "output_dir": "would let each cell go on from the one before; leave it out",
    "results_file": "is what each cell is read from; leave it out",
    "num_epochs": "is not how cells are compared; use --num_batches",
    "batch_words": "is not how cells are compared; use --batch_size",
}
"""Flags of train.py that would make cells unlike each other."""


class Failed(Exception):
    """A process ended badly; the message is the last thing it said."""


def output_of(command: Sequence[str], settings: Mapping[str, str] | None = None) -> str:
    """What a process prints; `settings` are put into its environment."""
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(settings or {})},
        capture_output=True,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
    )
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise Failed(said[-1])
    return done.stdout


def train(given: Sequence[str], settings: Mapping[str, str] | None = None) -> Record:
    """The record of one run of train.py."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "results.json"
        command = [sys.executable, str(ROOT / "train.py"), *given, f"--results_file={path}"]
        output_of(command, settings)
        record: Record = json.loads(path.read_text())
    if not record["timed_batches"]:
        raise Failed("no batch was timed")
    return record


def measure(
    cells: Cells, rounds: int, check: Callable[[Found], None] = lambda found: None
) -> Found:
    """All records by cell. One that fails is a line, and the rest goes on; so after Ctrl-C.

    `check` looks at what there is after every round: what cannot be compared is known early.
    """
    found: Found = {}
    try:
        for number in range(1, rounds + 1):
            for name, cell in cells.items():
                try:
                    record = cell()
                except Failed as problem:
                    print(f"round {number}: {name}: FAILED {problem}", flush=True)
                    continue
                found.setdefault(name, []).append({**record, "round": number})
                print(
                    f"round {number}: {name}: {record['words_per_second']:,.0f} words/s", flush=True
                )
            check(found)
    except KeyboardInterrupt:
        print("broken off; the table shows what was measured")
    return found


def refuse_mistakes(parser: Parser, commands: Iterable[Sequence[str]]) -> None:
    """Ends with what train.py would refuse in any of the cells, before the first is begun."""
    for given in commands:
        _, problems = checks.read(given)
        if problems:
            parser.refuse(f"{' '.join(given)}: {'; '.join(problems)}")


def median(records: Sequence[Record], field: str) -> float:
    """A field's median over the rounds."""
    return statistics.median(record[field] for record in records)


def ratio(ours: Sequence[Record], theirs: Sequence[Record]) -> str:
    """Of medians, and its range over the rounds."""
    if not theirs:
        return ""
    speeds = [{r["round"]: r["words_per_second"] for r in of} for of in (ours, theirs)]
    each = [speed / speeds[1][number] for number, speed in speeds[0].items() if number in speeds[1]]
    of = median(ours, "words_per_second") / median(theirs, "words_per_second")
    return f"{of:.2f} ({min(each):.2f} to {max(each):.2f})" if each else f"{of:.2f}"


def table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [heading, [":--"] * len(heading), *rows]
    return "\n".join(f"|{'|'.join(line)}|" for line in lines)


def parse(
    parser: Parser, argv: Sequence[str], defaults: Sequence[str], rounds: int
) -> tuple[argparse.Namespace, list[str], TrainConfig]:
    """Own flags, what train.py gets, and what it makes of it; a mistake ends with exit code 2."""
    parser.add_count("rounds", rounds, "how often every cell is measured")
    mine, rest = parser.parse_known_args(argv)
    given = [*defaults, *rest]
    config = parser.train_config(given)
    chosen = {"batch_words": config.data.batch_words, **vars(config.run)}
    if wrong := [f"--{name} {why}" for name, why in SPOILING.items() if chosen[name]]:
        parser.refuse(*wrong)
    return mine, given, config
