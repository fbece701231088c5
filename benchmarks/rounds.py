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
from typing import Any

from nmt import checks, flags
from nmt.config import TrainConfig

ROOT = Path(__file__).resolve().parent.parent
Record = dict[str, Any]
Found = dict[str, list[Record]]
Cells = Mapping[str, Callable[[], Record]]


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


def refuse_mistakes(commands: Iterable[Sequence[str]]) -> None:
    """Ends with what train.py would refuse in any of the cells, before the first is begun."""
    for given in commands:
        config, problems = flags.parse(given)
        problems += checks.find_problems(config)
        if problems:
            print(f"{' '.join(given)}: {'; '.join(problems)}", file=sys.stderr)
            sys.exit(2)


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
    argv: Sequence[str],
    text: str | None,
    defaults: Sequence[str],
    rounds: int,
    **choices: Sequence[str],
) -> tuple[argparse.Namespace, list[str], TrainConfig]:
    """Own flags, what train.py gets, and what it makes of it; a mistake ends with exit code 2."""
    parser = argparse.ArgumentParser(
        description=text, epilog="all other flags go to train.py", allow_abbrev=False
    )
    parser.add_argument("--rounds", type=int, default=rounds)
    for name, values in choices.items():
        parser.add_argument(f"--{name}", choices=values, help="nothing but this one")
    mine, rest = parser.parse_known_args(argv)
    rest = [*defaults, *rest]
    config, problems = flags.parse(rest)
    problems += checks.find_problems(config)
    if problems:
        parser.error("; ".join(problems))
    return mine, rest, config
