"""Encoded pairs to padded batches, one slice per replica."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from input_pipeline.delivery import Delivery
from input_pipeline.encoded import EncodedPairs, Side
from input_pipeline.epochs import Epochs
from nmt.types import BATCH_SPEC, Batch

ENDLESS = np.iinfo(np.int64).max
NO_ROW = -1


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
        return self.delivery(iter(self.dataset(first)))

    @tf.autograph.experimental.do_not_convert  # there is nothing to convert, and it takes a second
    def dataset(self, first: int) -> tf.data.Dataset:
        """One slice per replica and step, on the host."""
        num_replicas = len(self.delivery.devices)

        def make(number: tf.Tensor) -> tuple[Batch, ...]:
            parts = tf.numpy_function(self.batch, [number], [tf.int32] * len(BATCH_SPEC))
            for part, spec in zip(parts, BATCH_SPEC):
                part.set_shape(spec.shape)
            return cut(Batch(*parts), num_replicas)

        dataset = tf.data.Dataset.range(first, self.num_batches or ENDLESS).map(make)
        return dataset.with_options(no_threads())

    def batch(self, number: int) -> tuple[np.ndarray, ...]:
        """All replicas' part of a step: the fields of a Batch."""
        epoch, place = divmod(int(number), self.epochs.num_batches)
        rows, bounds = self.epochs.epoch(epoch)
        begin, end = bounds[place]
        filled = fill_up(rows[begin:end], len(self.delivery.devices))
        return *gather(self.pairs.source, filled, 1), *gather(self.pairs.target, filled, 0)


def no_threads() -> tf.data.Options:
    """Keeps TensorFlow from drawing ahead in threads of its own.

    Such a thread waits for Python to make its batch; at the end of the program Python waits for
    the thread. `Delivery` draws ahead instead.
    """
    options = tf.data.Options()
    options.autotune.enabled = False
    options.experimental_optimization.inject_prefetch = False
    return options


def fill_up(rows: np.ndarray, num_replicas: int) -> np.ndarray:
    """Adds rows that are none until they can be cut evenly: [7, 8, 9], 2 -> [7, 8, 9, -1]."""
    return np.pad(rows, (0, -len(rows) % num_replicas), constant_values=NO_ROW)


def gather(side: Side, rows: np.ndarray, filler_length: int) -> tuple[np.ndarray, np.ndarray]:
    """Ids, padded to the longest row, and lengths."""
    real = np.maximum(rows, 0)
    lengths = np.where(rows == NO_ROW, 0, side.lengths[real])
    places = np.arange(lengths.max())
    inside = places < lengths[:, None]
    ids = np.zeros(inside.shape, np.int32)
    ids[inside] = side.take((side.starts[real][:, None] + places)[inside])
    return ids, np.where(rows == NO_ROW, filler_length, lengths).astype(np.int32)


def cut(batch: Batch, num_replicas: int) -> tuple[Batch, ...]:
    """Equal slices of a global batch, in order, one per replica."""
    parts = [tf.split(values, num_replicas) for values in batch]
    return tuple(Batch(*slices) for slices in zip(*parts))
