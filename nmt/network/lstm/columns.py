"""How the fast CPU path lays matrices out: every sentence is a column, `[..., features, batch]`.

Weights, `[..., features in, features out]`, stand to the left then, which oneDNN multiplies faster
by a few columns than it does rows. Sequences have `[time, directions]` before it.
"""

from __future__ import annotations

from typing import Final

import tensorflow as tf

from nmt.machine import cpu
from nmt.network.matmul import large_matmul

FEATURES: Final = -2
BATCH: Final = -1
BATCH_OF_THREE: Final = 2
"""The axes of features and of sentences; the latter of `[time, features, batch]`, counted from the
front."""
FOLDS: Final = "avx512f" in cpu.features()
"""Whether a large matmul transposes weights as it reads them, which is slower without AVX-512."""

turn = tf.linalg.matrix_transpose


def project(flat: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor) -> tf.Tensor:
    """Multiplies a large matrix by weights, `[features in, features out]`, and adds a bias."""
    if FOLDS:
        projected = large_matmul(kernel, flat, transpose_a=True)
    else:
        # Batched, so that TensorFlow does not fold the transpose by itself.
        projected = large_matmul(turn(kernel), flat, batched=True)
    return projected + bias[:, tf.newaxis]


def project_back(flat: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
    """Multiplies a large matrix by transposed weights: the kernel as it is."""
    return large_matmul(kernel, flat, batched=False)


def outer(left: tf.Tensor, right: tf.Tensor) -> tf.Tensor:
    """`[features of left, features of right]`, summed over the sentences of two matrices."""
    return large_matmul(left, right, transpose_b=True)


def flatten(steps: tf.Tensor) -> tf.Tensor:
    """`[time, ..., features, batch]` as `[..., features, time * batch]`."""
    rank = len(steps.shape)
    turned = tf.transpose(steps, [*range(1, rank - 1), 0, rank - 1])
    return tf.reshape(turned, [*steps.shape[1:-1], -1])


def unflatten(flat: tf.Tensor, batch_size: tf.Tensor) -> tf.Tensor:
    """`[..., features, time * batch]` as `[time, ..., features, batch]`."""
    rank = len(flat.shape)
    steps = tf.reshape(flat, [*flat.shape[:-1], -1, batch_size])
    return tf.transpose(steps, [rank - 1, *range(rank - 1), rank])


def split(raw: tf.Tensor) -> list[tf.Tensor]:
    """The four gates of `[directions, matrix]`; of one direction, parts of the same memory."""
    if raw.shape[0] > 1:
        return tf.split(raw, 4, axis=1)
    return [gate[tf.newaxis] for gate in tf.split(raw[0], 4)]
