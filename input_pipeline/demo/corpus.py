"""The demo corpus: distinct sentence pairs in three splits, the same for a seed everywhere."""

from __future__ import annotations

from itertools import islice
from typing import Final

from input_pipeline.corpus import Pair, Splits
from input_pipeline.demo.draw import Draw
from input_pipeline.demo.sentences import sentences

TRIES_PER_PAIR: Final = 10


def generate(
    seed: int = 1, num_train: int = 40_000, num_dev: int = 1_000, num_test: int = 1_000
) -> Splits:
    """Makes a corpus in which no English and no German sentence occurs twice."""
    draw = Draw(seed)
    pairs = _distinct_pairs(draw, num_train + num_dev + num_test)
    # Later draws are longer, as the short sentences are used up: each split needs a fair share.
    pairs.sort(key=lambda _: draw.random())
    dev_end = num_train + num_dev
    return Splits(pairs[:num_train], pairs[num_train:dev_end], pairs[dev_end:])


def _distinct_pairs(draw: Draw, num_pairs: int) -> list[Pair]:
    sources: dict[str, str] = {}
    targets: set[str] = set()
    tries = num_pairs * TRIES_PER_PAIR
    for source, target in islice(sentences(draw), tries):
        if len(sources) == num_pairs:
            break
        if source not in sources and target not in targets:
            sources[source] = target
            targets.add(target)
    if len(sources) < num_pairs:
        raise ValueError(
            f"the demo grammar gave {len(sources):,} distinct pairs in {tries:,} tries, "
            f"fewer than the {num_pairs:,} asked for; ask for a smaller corpus"
        )
    return [Pair(source, target) for source, target in sources.items()]
