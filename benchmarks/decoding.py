"""Measures translating in batches against one sentence at a time.

    python -m benchmarks.decoding --model=DIR --src=test.en [--beam_width=4]

The same model in one process, both ways in turn; the same sentences, and the translations are
compared.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.rounds import table
from nmt import environment


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
    from nmt import search_flags

    lines = Path(given.src).read_text(encoding="utf-8").splitlines()[: given.sentences]
    config = search_flags.SearchConfig(model=given.model, beam_width=given.beam_width)
    translator = search_flags.load_translator(config)
    sizes = {"one by one": 1, f"batches of {given.batch_size}": given.batch_size}
    ways = {name: dataclasses.replace(translator, batch_size=n) for name, n in sizes.items()}
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    texts = {name: way(lines) for name, way in ways.items()}  # traced here, not below
    for _ in range(given.rounds):
        for name, way in ways.items():
            began = time.perf_counter()
            way(lines)
            speeds[name].append(len(lines) / (time.perf_counter() - began))
    alone, together = (statistics.median(found) for found in speeds.values())
    rows = [
        [name, f"{statistics.median(found):,.1f}", f"{min(found):,.1f} to {max(found):,.1f}"]
        for name, found in speeds.items()
    ]
    print(table(["Way", "sentences/s (median)", "range"], rows))
    one, other = texts.values()
    same = sum(a == b for a, b in zip(one, other))
    print(f"\n{together / alone:.1f} times as fast; {same} of {len(lines)} translations are equal")


if __name__ == "__main__":
    main(sys.argv[1:])
