"""Measures the parts of a step done in other ways than the one that was taken.

    .venv/bin/python -m benchmarks.ways [--threads=2] [--batch=64] [--rounds=9] [--only=loss]

Everything runs in one process, the ways of a part in turn; the first of each part is what train.py
does.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.command_line import Parser
from benchmarks.rounds import table
from nmt.machine import environment

Work = Callable[[], Any]
Ways = Mapping[str, Work]


def milliseconds(work: Work, calls: int) -> float:
    """Of one call, until its result is there."""
    begun = time.perf_counter()
    for _ in range(calls):
        result = work()
    result.numpy()
    return (time.perf_counter() - begun) / calls * 1e3


def measure(ways: Ways, rounds: int) -> dict[str, float]:
    """Medians over interleaved rounds of about 50 ms each."""
    calls = {}
    for name, work in ways.items():
        milliseconds(work, 2)
        calls[name] = max(1, round(50 / milliseconds(work, 2)))
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, work in ways.items():
            found[name].append(milliseconds(work, calls[name]))
    return {name: statistics.median(times) for name, times in found.items()}


def rows_of(part: str, found: Mapping[str, float]) -> list[list[str]]:
    """A part's rows; its first way is the one that was taken."""
    taken = next(iter(found.values()))
    return [[part, name, f"{ms:.2f}", f"{ms / taken:.2f}"] for name, ms in found.items()]


def main(argv: Sequence[str]) -> None:
    """Measures every part and prints the table."""
    parser = Parser("python -m benchmarks.ways", __doc__)
    parser.add_count("threads", 0, "0: one per core", at_least=0)
    parser.add_count("batch", 64, "sentences of a step")
    parser.add_count("rounds", 9, "how often every way is measured")
    parser.add_argument("--only", default="", help="parts with this in their name")
    given = parser.parse_args(argv)
    environment.prepare(verbosity=0)
    import tensorflow as tf

    from benchmarks.parts import PARTS
    from benchmarks.parts.common import Sizes
    from nmt.machine.cpu import num_cores

    names = parser.named(given.only, PARTS)
    tf.config.threading.set_intra_op_parallelism_threads(given.threads or num_cores())
    tf.config.threading.set_inter_op_parallelism_threads(given.threads or num_cores())
    lines = []
    for name in names:
        lines += rows_of(name, measure(PARTS[name](Sizes(batch=given.batch)), given.rounds))
    print(environment.describe())
    print(table(["Part of a step", "Way", "ms", "of the way taken"], lines))


if __name__ == "__main__":
    environment.begin()
    main(sys.argv[1:])
