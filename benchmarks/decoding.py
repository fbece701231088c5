"""Measures translating in batches against one sentence at a time.

    python -m benchmarks.decoding --model=DIR --src=test.en [--beam_width=4]

One by one is measured twice: with the search in one graph, and with a loop in Python that calls a
graph for every word. The same model in one process, all ways in turn; the same sentences, and the
translations are compared.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.rounds import table
from nmt.machine import environment

if TYPE_CHECKING:  # it imports TensorFlow, which the environment has to be ready for
    from nmt.search.translation import Translator

Speeds = dict[str, list[float]]


def ways_of(translator: Translator, batch_size: int) -> dict[str, Translator]:
    """The slowest first."""
    from benchmarks.word_by_word import WordByWord

    parts = {field.name: getattr(translator, field.name) for field in fields(translator)}
    return {
        "one by one, a loop in Python over words": WordByWord(**{**parts, "batch_size": 1}),
        "one by one": replace(translator, batch_size=1),
        f"batches of {batch_size}": replace(translator, batch_size=batch_size),
    }


def measure(ways: Mapping[str, Translator], lines: Sequence[str], rounds: int) -> Speeds:
    """Sentences per second of every way in every round."""
    speeds: Speeds = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            began = time.perf_counter()
            way(lines)
            speeds[name].append(len(lines) / (time.perf_counter() - began))
    return speeds


def summary(speeds: Speeds) -> str:
    """The table; what the last way is of each other's speed is the median over the rounds."""
    last = list(speeds.values())[-1]
    rows = []
    for name, found in speeds.items():
        times = statistics.median(a / b for a, b in zip(last, found))
        span = f"{min(found):,.1f} to {max(found):,.1f}"
        rows.append([name, f"{statistics.median(found):,.1f}", span, f"{times:.1f}"])
    return table(["Way", "sentences/s (median)", "range", "batches are faster by"], rows)


def main(argv: Sequence[str]) -> None:
    """Translates in rounds and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--src", required=True)
    parser.add_argument("--beam_width", type=int, default=1)
    parser.add_argument("--batch_size", type=int, default=64)
    parser.add_argument("--sentences", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args(argv)
    environment.prepare(verbosity=0)
    from nmt.search import search_flags

    lines = Path(given.src).read_text(encoding="utf-8").split("\n")[: given.sentences]
    config = search_flags.SearchConfig(model=given.model, beam_width=given.beam_width)
    ways = ways_of(search_flags.load_translator(config), given.batch_size)
    texts = [way(lines) for way in ways.values()]  # traced here, not below
    print(summary(measure(ways, lines, given.rounds)))
    same = sum(len(set(of_one)) == 1 for of_one in zip(*texts))
    print(f"\n{same} of {len(lines)} translations are equal")


if __name__ == "__main__":
    environment.use_huge_pages()
    main(sys.argv[1:])
