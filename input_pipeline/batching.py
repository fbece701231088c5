"""Encoded pairs to padded batches, one per replica."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from input_pipeline.corpus import Pair
from input_pipeline.vocabulary import EOS, UNK, WordVocabulary
from nmt.types import Batch


class Ids(NamedTuple):
    """One side of a corpus: all ids in a row, and how many belong to each sentence."""

    values: np.ndarray  # [words] int32
    lengths: np.ndarray  # [sentences] int32


class EncodedPairs(NamedTuple):
    """A corpus in ids, and how many pairs were left out because a side was empty or too long."""

    source: Ids
    target: Ids  # </s> included
    num_dropped: int

    def __len__(self) -> int:
        return len(self.source.lengths)


def flatten(sentences: Sequence[Sequence[int]]) -> Ids:
    """[[5, 6], [7]] -> values [5, 6, 7], lengths [2, 1]."""
    lengths = np.array([len(sentence) for sentence in sentences], np.int32)
    return Ids(np.array([i for sentence in sentences for i in sentence], np.int32), lengths)


def encode_pairs(
    pairs: Iterable[Pair],
    vocabularies: tuple[WordVocabulary, WordVocabulary],
    max_lengths: tuple[int, int],
) -> EncodedPairs:
    """Turns text into ids and leaves out pairs with an empty or over-long side."""
    source, target, num_dropped = [], [], 0
    for pair in pairs:
        sides = vocabularies[0].encode(pair.source), [*vocabularies[1].encode(pair.target), EOS]
        fits = all(len(side) <= limit for side, limit in zip(sides, max_lengths))
        if fits and sides[0] and len(sides[1]) > 1:
            source.append(sides[0])
            target.append(sides[1])
        else:
            num_dropped += 1
    return EncodedPairs(flatten(source), flatten(target), num_dropped)


def pair_lengths(pairs: EncodedPairs) -> np.ndarray:
    """The length a pair is bucketed by: that of its longer side."""
    longer: np.ndarray = np.maximum(pairs.source.lengths, pairs.target.lengths)
    return longer


def bucket_boundaries(lengths: np.ndarray, num_buckets: int) -> list[int]:
    """Lengths at which a new bucket starts, so that buckets hold equally many sentences."""
    cuts = np.quantile(lengths, np.arange(1, num_buckets) / num_buckets, method="nearest")
    return [int(cut) + 1 for cut in np.unique(cuts) if cut < lengths.max()]


def ragged(ids: Ids) -> tf.RaggedTensor:
    """One row per sentence."""
    return tf.RaggedTensor.from_row_lengths(ids.values, ids.lengths)


def fill_up(batch: Batch, num_replicas: int) -> Batch:
    """Adds rows with nothing to learn until the batch can be cut into equal slices."""
    rows = tf.shape(batch.source)[0]
    missing = -rows % num_replicas
    return Batch(
        tf.pad(batch.source, [[0, missing], [0, 0]]),
        tf.pad(batch.source_lengths, [[0, missing]], constant_values=1),
        tf.pad(batch.target, [[0, missing], [0, 0]]),
        tf.pad(batch.target_lengths, [[0, missing]]),
    )


def cut(batch: Batch, num_replicas: int) -> tuple[Batch, ...]:
    """Equal slices of a global batch, in order, one per replica."""
    parts = [tf.split(values, num_replicas) for values in fill_up(batch, num_replicas)]
    return tuple(Batch(*slices) for slices in zip(*parts))


class BatchPlan(NamedTuple):
    """How a corpus is cut into steps."""

    replica_batch_size: int
    num_replicas: int
    boundaries: list[int]  # lengths at which a new bucket starts
    num_epochs: int  # 0: endless
    seed: int

    @property
    def global_batch_size(self) -> int:
        """Sentences of all replicas in one step."""
        return self.replica_batch_size * self.num_replicas


def count_batches(lengths: np.ndarray, plan: BatchPlan) -> int:
    """How many batches all epochs make, the partial ones at the end included."""
    buckets = np.bincount(np.digitize(lengths, plan.boundaries))
    return int(sum(-(-plan.num_epochs * int(n) // plan.global_batch_size) for n in buckets))


def training_batches(pairs: EncodedPairs, plan: BatchPlan) -> tf.data.Dataset:
    """Shuffled batches, each from one length bucket, as one slice per replica."""
    dataset = tf.data.Dataset.from_tensor_slices((ragged(pairs.source), ragged(pairs.target)))
    dataset = dataset.shuffle(len(pairs), seed=plan.seed, reshuffle_each_iteration=True)
    dataset = dataset.repeat(plan.num_epochs or None)
    dataset = dataset.map(lambda s, t: Batch(s, tf.size(s), t, tf.size(t)))
    dataset = dataset.bucket_by_sequence_length(
        lambda pair: tf.maximum(pair.source_lengths, pair.target_lengths),
        plan.boundaries,
        [plan.global_batch_size] * (len(plan.boundaries) + 1),
    )
    dataset = dataset.map(lambda batch: cut(batch, plan.num_replicas))
    return dataset.prefetch(tf.data.AUTOTUNE)


def source_batches(
    sentences: Iterable[str], vocabulary: WordVocabulary, batch_size: int
) -> tf.data.Dataset:
    """Batches of all sources in order, for translating; an empty one becomes one unknown word."""
    ids = flatten([vocabulary.encode(sentence) or [UNK] for sentence in sentences])
    dataset = tf.data.Dataset.from_tensor_slices(ragged(ids))
    dataset = dataset.map(lambda source: Batch(source, tf.size(source), [EOS], 1))
    return dataset.padded_batch(batch_size)
