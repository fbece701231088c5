"""Encoded pairs to padded batches, one slice per replica, delivered to its device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from input_pipeline.encoded import EncodedPairs, Side, flatten
from input_pipeline.epochs import Epochs
from input_pipeline.vocabulary import EOS, UNK, Vocabulary
from nmt.types import Batch

ENDLESS = np.iinfo(np.int64).max
NO_ROW = -1
BUFFERED_BATCHES = 4


class Delivery(NamedTuple):
    """Where batches go."""

    devices: Sequence[str]
    prefetch: bool  # made and copied to the device while the step before is computed


@dataclass(frozen=True)
class TrainingBatches:
    """All batches of a run, each reachable by its number."""

    pairs: EncodedPairs
    epochs: Epochs
    num_epochs: int  # 0: endless
    delivery: Delivery

    @property
    def num_batches(self) -> int | None:
        """Batches of all epochs, or None where there is no end."""
        return self.num_epochs * self.epochs.num_batches or None

    def starting_at(self, first: int) -> Iterator[tuple[Batch, ...]]:
        """One slice per replica and step, without the first so many steps."""
        replicas = range(len(self.delivery.devices))
        return zip(*(iter(self.for_replica(replica, first)) for replica in replicas))

    @cached_property
    def sides(self) -> tuple[SideTensors, SideTensors]:
        """Both languages; one index for all replicas."""
        return in_tensors(self.pairs.source), in_tensors(self.pairs.target)

    def for_replica(self, replica: int, first: int) -> tf.data.Dataset:
        """One replica's slice of every batch, on its device."""
        devices, prefetch = self.delivery
        rows = batch_rows(self.epochs, first, self.num_epochs)
        source, target = self.sides

        def make(rows: tf.Tensor) -> Batch:
            part = slice_of(rows, replica, len(devices))
            return Batch(*gather(source, part, rows, 1), *gather(target, part, rows, 0))

        dataset = rows.map(make, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)
        if prefetch:
            to_device = tf.data.experimental.prefetch_to_device(devices[replica], BUFFERED_BATCHES)
            dataset = dataset.apply(to_device)
        return dataset


def batch_rows(epochs: Epochs, first: int, num_epochs: int) -> tf.data.Dataset:
    """The pairs of every batch from the given one on, as numbers of rows."""
    first_epoch, skipped = divmod(first, epochs.num_batches)

    def of_epoch(number: tf.Tensor) -> tf.data.Dataset:
        rows, bounds = tf.numpy_function(epochs.epoch, [number], [tf.int64, tf.int64])
        bounds.set_shape([None, 2])
        batches = tf.data.Dataset.from_tensor_slices(bounds)
        return batches.map(lambda bound: rows[bound[0] : bound[1]])

    numbers = tf.data.Dataset.range(first_epoch, num_epochs or ENDLESS)
    return numbers.flat_map(of_epoch).skip(skipped)


def slice_of(rows: tf.Tensor, replica: int, num_replicas: int) -> tf.Tensor:
    """A replica's equal part of a batch; rows that are none fill it up.

    rows [7, 8, 9], replica 1 of 2 -> [9, -1]
    """
    count = tf.size(rows)
    size = -(-count // num_replicas)
    filled = tf.pad(rows, [[0, size * num_replicas - count]], constant_values=NO_ROW)
    return filled[replica * size : (replica + 1) * size]


class SideTensors(NamedTuple):
    """One language, its index in tensors that every step shares."""

    side: Side
    starts: tf.Tensor
    lengths: tf.Tensor


def in_tensors(side: Side) -> SideTensors:
    """Makes the index known to TensorFlow, once."""
    return SideTensors(side, tf.constant(side.starts), tf.constant(side.lengths))


def gather(
    side: SideTensors, part: tf.Tensor, rows: tf.Tensor, filler_length: int
) -> tuple[tf.Tensor, tf.Tensor]:
    """Ids and lengths of a replica's rows, as wide as the longest of all replicas' rows."""
    width = tf.reduce_max(tf.gather(side.lengths, rows))
    real = tf.maximum(part, 0)
    lengths = tf.where(part == NO_ROW, filler_length, tf.gather(side.lengths, real))
    places = tf.range(width)
    inside = (places < lengths[:, None]) & (part != NO_ROW)[:, None]
    starts = tf.gather(side.starts, real)[:, None]
    indices = tf.where(inside, starts + tf.cast(places, tf.int64), 0)
    ids = tf.where(inside, tf.cast(tf.gather(side.side.values(), indices), tf.int32), 0)
    return ids, lengths


def source_batches(
    sentences: Sequence[str], vocabulary: Vocabulary, batch_size: int
) -> tf.data.Dataset:
    """Batches of all sources in order, for translating; an empty one becomes one unknown word."""
    ids = flatten([found or [UNK] for found in vocabulary.encode(sentences)])
    dataset = tf.data.Dataset.from_tensor_slices(
        tf.RaggedTensor.from_row_lengths(ids.values, ids.lengths)
    )
    dataset = dataset.map(lambda source: Batch(source, tf.size(source), [EOS], 1))
    return dataset.padded_batch(batch_size)
