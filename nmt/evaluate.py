"""Judges a model by a test set: python -m nmt.evaluate --model=DIR --src=test.en --ref=test.de"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt import flags, paths, programs
from nmt.config import option
from nmt.machine import environment
from nmt.search import search_flags
from nmt.search.search_flags import DEFAULTS, SearchConfig


@dataclass(frozen=True, kw_only=True)
class TestConfig:
    """Test set and output."""

    src: str = option("", "sentences to translate, one a line, plain or gzipped")
    ref: str = option("", "reference translations, line by line")
    tokenized: bool = option(False, "the text is split into tokens already: BLEU counts these")
    results_file: str = option("", "file that gets one more line of JSON")


@dataclass(frozen=True, kw_only=True)
class EvaluateConfig:
    """All of it."""

    test: TestConfig = TestConfig()
    search: SearchConfig = DEFAULTS


PROGRAM = flags.Program("nmt.evaluate", "translates a test set and scores it", EvaluateConfig)


def find_problems(config: EvaluateConfig) -> list[str]:
    """All reasons it cannot run."""
    problems = search_flags.find_problems(config.search)
    for name in ("src", "ref"):
        path = getattr(config.test, name)
        if not path:
            problems.append(f"--{name} is missing; name a file with one sentence a line")
        elif Path(path).is_dir():
            problems.append(f"--{name}={path} is a directory; name a file in it")
        elif not Path(path).is_file():
            problems.append(f"--{name}={path} does not exist; name another file")
    unwritable = paths.writable_file("results_file", config.test.results_file)
    return problems + ([unwritable] if unwritable else [])


def run(config: EvaluateConfig) -> dict[str, Any]:
    """Translates, prints the scores, gives the record."""
    from input_pipeline.corpus import Pair
    from input_pipeline.text_files import read_file_pair
    from nmt.judging.evaluation import evaluate, summary
    from nmt.reporting import results

    test = config.test
    blocks = list(read_file_pair(Path(test.src), Path(test.ref)))
    pairs = [Pair(*pair) for block in blocks for pair in zip(*block)]
    translator = search_flags.load_translator(config.search)
    found = evaluate(translator, pairs, tokenized=test.tokenized)
    names = ("search", "bleu", "signature", "chrf", "chrf_signature")
    record: dict[str, Any] = {"model": config.search.model, "checkpoint": translator.origin}
    record |= {"test": test.src, "sentences": len(pairs)}
    record |= {name: getattr(found, name) for name in names}
    try:
        if test.results_file:
            results.append(record, Path(test.results_file))
    finally:  # after it: a pipe that has closed costs no record, and a full disk no score
        print(f"{translator.origin}: {summary(found, 'test sentences')}", flush=True)
    return record


def main(argv: Sequence[str]) -> int:
    """Evaluates; gives the exit code."""
    return programs.main(PROGRAM, argv, find_problems, run)


if __name__ == "__main__":
    environment.begin()
    sys.exit(main(sys.argv[1:]))
