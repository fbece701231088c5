"""Embeddings' gradients as rows: only the words of a batch have one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import tensorflow as tf

from nmt.config import ParallelConfig
from nmt.machine.devices import is_gpu
from variable_update.all_reduce import copied

ID_BYTES = 4


class Embedding(NamedTuple):
    """A variable of which a step reads few rows."""

    size: int
    depth: int
    most_rows: int  # that one replica reads in a step


def row_bytes(embedding: Embedding, num_bytes: int = 4) -> int:
    """What one replica's rows are at most, with so many bytes a number."""
    return embedding.most_rows * (num_bytes * embedding.depth + ID_BYTES)


def adders(devices: Sequence[str]) -> Sequence[str]:
    """Those that add up rows of all: every GPU for itself, one of a host's devices for the rest."""
    return devices if is_gpu(devices[0]) else devices[:1]


def exchange_bytes(embedding: Embedding, devices: Sequence[str], num_bytes: int = 4) -> int:
    """What travels: rows to every device that adds them, dense sums from there to the rest."""
    adding, others = len(adders(devices)), len(devices) - 1
    rows = adding * others * row_bytes(embedding, num_bytes)
    return rows + (len(devices) - adding) * num_bytes * embedding.size * embedding.depth


def choose(
    config: ParallelConfig, devices: Sequence[str], embeddings: Mapping[int, Embedding]
) -> dict[int, Embedding]:
    """Those whose gradients travel as rows; the dense ones of `relaxed` wait for a step."""
    travels = len(devices) > 1 and config.strategy != "independent"
    if config.sparse_gradients == "dense" or not travels or config.variable_consistency != "strong":
        return {}
    if config.sparse_gradients == "sparse":
        return dict(embeddings)
    return {
        number: embedding
        for number, embedding in embeddings.items()
        if fewer_bytes(config, devices, embedding)
    }


def fewer_bytes(config: ParallelConfig, devices: Sequence[str], embedding: Embedding) -> bool:
    """Whether rows are fewer bytes than the dense gradient.

    The best all-reduce sends that 2 (N - 1) times; a server gets it or the rows from each replica.
    """
    num_bytes = 2 if config.compact_gradient_transfer else 4
    dense, others = num_bytes * embedding.size * embedding.depth, len(devices) - 1
    if config.strategy == "replicated":
        return exchange_bytes(embedding, devices, num_bytes) < 2 * others * dense
    return row_bytes(embedding) < dense


def merge(gradient: tf.IndexedSlices) -> tf.IndexedSlices:
    """One row for each different word."""
    ids, places = tf.unique(gradient.indices)
    values = tf.math.unsorted_segment_sum(gradient.values, places, tf.size(ids))
    return tf.IndexedSlices(values, ids, gradient.dense_shape)


def add_rows(parts: Sequence[tf.IndexedSlices], like: Embedding) -> tf.Tensor:
    """The dense sum, on the current device.

    A replica's rows are all different and replicas are added one after the other, so that it has
    the same bits wherever it is made.
    """
    total = tf.zeros([like.size, like.depth])
    for part in parts:
        values = tf.cast(part.values, tf.float32)
        total = tf.tensor_scatter_nd_add(total, part.indices[:, tf.newaxis], values)
    return total


def exchange_rows(
    per_device: Sequence[tf.IndexedSlices],
    devices: Sequence[str],
    like: Embedding,
    wire: tf.DType,
) -> list[tf.Tensor]:
    """Rows to the devices that add them up, sums from there to those that do not."""
    sent = []
    for rows, device in zip(per_device, devices):
        with tf.device(device):
            sent.append(tf.IndexedSlices(tf.cast(rows.values, wire), rows.indices))
    sums = []
    for device in adders(devices):
        with tf.device(device):
            sums.append(add_rows(sent, like))
    return sums if len(sums) == len(devices) else handed_out(sums[0], devices, wire)


def handed_out(total: tf.Tensor, devices: Sequence[str], wire: tf.DType) -> list[tf.Tensor]:
    """A sum for every device, as it travels for those that made it too: all have the same bits."""
    with tf.device(devices[0]):
        total = tf.cast(total, wire)
    copies = []
    for device, copy in zip(devices, copied(total, devices)):
        with tf.device(device):
            copies.append(tf.cast(copy, tf.float32))
    return copies
