"""The table of datasets: each makes what a run trains on."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from input_pipeline.batching import (
    BatchPlan,
    bucket_boundaries,
    count_batches,
    encode_pairs,
    pair_lengths,
    training_batches,
)
from input_pipeline.corpus import Pair, Splits
from input_pipeline.demo.corpus import generate
from input_pipeline.synthetic import synthetic_batches
from input_pipeline.vocabulary import WordVocabulary, build_vocabulary
from nmt.config import DataConfig
from nmt.errors import UserError
from nmt.types import Batch


class Request(NamedTuple):
    """What a run wants of its data."""

    config: DataConfig
    devices: Sequence[str]
    num_epochs: int  # 0: endless
    seed: int


BatchesFrom = Callable[[int], Iterable[tuple[Batch, ...]]]
"""Gives one slice per replica and step, without the first so many steps."""


class TrainingData(NamedTuple):
    """What a run trains on, and what it can be judged by."""

    description: str
    batches_from: BatchesFrom
    num_batches: int | None  # None: endless
    vocabulary_sizes: tuple[int, int]
    vocabularies: tuple[WordVocabulary, WordVocabulary] | None
    test: list[Pair]


def synthetic_data(request: Request) -> TrainingData:
    """The same random batch again and again, already on its device."""
    config = request.config
    batches = synthetic_batches(config, request.devices, request.seed)
    return TrainingData(
        description=f"synthetic: random ids, {config.src_max_len} words each side",
        batches_from=lambda _: itertools.repeat(batches),
        num_batches=None,
        vocabulary_sizes=(config.src_vocab_size, config.tgt_vocab_size),
        vocabularies=None,
        test=[],
    )


def demo_data(request: Request) -> TrainingData:
    """The built-in English-German corpus; the same one for every --seed."""
    return from_text("demo: built-in English-German corpus", generate(), request)


def from_text(name: str, splits: Splits, request: Request) -> TrainingData:
    """Batches of a corpus at hand, with a vocabulary of all its training words."""
    config = request.config
    vocabularies = (
        build_vocabulary(pair.source for pair in splits.train),
        build_vocabulary(pair.target for pair in splits.train),
    )
    pairs = encode_pairs(splits.train, vocabularies, (config.src_max_len, config.tgt_max_len))
    if not len(pairs):
        raise UserError(
            f"none of {pairs.num_dropped:,} training pairs is within --src_max_len="
            f"{config.src_max_len} and --tgt_max_len={config.tgt_max_len}; give larger ones"
        )
    lengths = pair_lengths(pairs)
    plan = BatchPlan(
        config.batch_size,
        len(request.devices),
        bucket_boundaries(lengths, config.num_buckets),
        request.num_epochs,
        request.seed,
    )
    dataset = training_batches(pairs, plan)
    return TrainingData(
        description=f"{name}, {len(pairs):,} training pairs ({pairs.num_dropped:,} left out, empty "
        f"or too long), {len(vocabularies[0]):,} source and {len(vocabularies[1]):,} target words",
        batches_from=dataset.skip,
        num_batches=count_batches(lengths, plan) if plan.num_epochs else None,
        vocabulary_sizes=(len(vocabularies[0]), len(vocabularies[1])),
        vocabularies=vocabularies,
        test=splits.test,
    )


Source = Callable[[Request], TrainingData]

SOURCES: Final[dict[str, Source]] = {
    "demo": demo_data,
    "synthetic": synthetic_data,
}
