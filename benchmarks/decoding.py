"""Measures translating in batches against one sentence at a time.

    python -m benchmarks.decoding --model=DIR --src=test.en [--beam_width=4]

One by one is measured twice: with the search in one graph, and with a loop in Python that calls a
graph for every word. The same model in one process, all ways in turn; the same sentences, and the
translations are compared.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.rounds import table
from input_pipeline.text_files import read_blocks
from nmt import flags, programs
from nmt.config import option
from nmt.machine import environment
from nmt.search import search_flags
from nmt.search.search_flags import DEFAULTS, SearchConfig

if TYPE_CHECKING:  # it imports TensorFlow, which the environment has to be ready for
    from nmt.search.translation import Translator

Speeds = dict[str, list[float]]


@dataclass(frozen=True, kw_only=True)
class MeasureConfig:
    """Measurement."""

    src: str = option("", "sentences to translate, one a line, plain or gzipped")
    sentences: int = option(256, "how many of them, from the first", at_least=1)
    rounds: int = option(5, "how often every way is measured", at_least=1)


@dataclass(frozen=True, kw_only=True)
class DecodingConfig:
    """All of it."""

    measure: MeasureConfig = MeasureConfig()
    search: SearchConfig = DEFAULTS


PROGRAM = flags.Program(
    "benchmarks.decoding",
    "measures translating in batches against one sentence at a time",
    DecodingConfig,
)


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


def find_problems(config: DecodingConfig) -> list[str]:
    """All reasons it cannot run."""
    problems, src = search_flags.find_problems(config.search), config.measure.src
    if not src:
        problems.append("--src is missing; name a file with one sentence a line")
    elif not Path(src).is_file():
        problems.append(f"--src={src} is no file; name one with one sentence a line")
    return problems


def run(config: DecodingConfig) -> None:
    """Translates in rounds and prints the table."""
    given = config.measure
    every = itertools.chain.from_iterable(read_blocks(Path(given.src)))
    lines = list(itertools.islice(every, given.sentences))
    translator = search_flags.load_translator(config.search)
    ways = ways_of(translator, config.search.batch_size)
    texts = [way(lines) for way in ways.values()]  # traced here, not below
    print(summary(measure(ways, lines, given.rounds)))
    same = sum(len(set(of_one)) == 1 for of_one in zip(*texts))
    print(f"\n{same} of {len(lines)} translations are equal")


def main(argv: Sequence[str]) -> int:
    """Measures; gives the exit code."""
    return programs.main(PROGRAM, argv, find_problems, run)


if __name__ == "__main__":
    environment.begin()
    sys.exit(main(sys.argv[1:]))
