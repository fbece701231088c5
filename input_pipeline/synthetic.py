"""Random ids of full length, made on the device once: training with no input cost."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from input_pipeline.vocabulary import EOS, SPECIAL_WORDS
from nmt.config import DataConfig
from nmt.types import Batch


def synthetic_batch(config: DataConfig, rows: int, seed: int) -> Batch:
    """A batch with --src_max_len words on each side; the target's last word is </s>."""
    length, first = config.src_max_len, len(SPECIAL_WORDS)
    source_size, target_size = config.synthetic_vocab_sizes

    def ids(columns: int, vocabulary: int, part: int) -> tf.Tensor:
        return tf.random.stateless_uniform(
            [rows, columns], [seed, part], first, vocabulary, tf.int32
        )

    target = tf.concat([ids(length - 1, target_size, 1), tf.fill([rows, 1], EOS)], axis=1)
    lengths = tf.fill([rows], length)
    return Batch(ids(length, source_size, 0), lengths, target, lengths)


def synthetic_batches(config: DataConfig, devices: Sequence[str], seed: int) -> tuple[Batch, ...]:
    """One batch per device, made where it is used; together the rows that a single one would have.

    How many replicas share a global batch changes nothing about it.
    """
    batches, size = [], config.batch_size
    for replica, device in enumerate(devices):
        with tf.device(device):
            everything = synthetic_batch(config, size * len(devices), seed)
            batches.append(Batch(*(part[replica * size :][:size] for part in everything)))
    return tuple(batches)
