"""How the fast CPU path lays matrices out: `[..., features, batch]`.

Weights, `[..., features in, features out]`, stand to the left then, which oneDNN multiplies faster
by a few columns than it does rows. Sequences have `[time, directions]` before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final

import tensorflow as tf

from nmt.machine import cpu
from nmt.network.matmul import large_matmul

swap = tf.linalg.matrix_transpose
Multiply = Callable[[tf.Tensor], tf.Tensor]


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Every sentence is a column."""

    folds: bool  # a large matmul transposes weights as it reads them
    features: ClassVar[int] = -2  # the axis of features
    batch: ClassVar[int] = -1  # the axis of sentences

    def turn(self, values: tf.Tensor) -> tf.Tensor:
        """`[..., batch, features]` as it is here, and back."""
        return swap(values)

    def into(self, weights: tf.Tensor) -> Multiply:
        """Multiplies many matrices by weights, which are transposed once, not every time."""
        transposed = swap(weights)
        return lambda values: transposed @ values

    def back(self, weights: tf.Tensor) -> Multiply:
        """The same with transposed weights, as gradients go."""
        return lambda values: weights @ values

    def project(self, flat: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor) -> tf.Tensor:
        """Multiplies a large matrix by weights, `[features in, features out]`, and adds a bias."""
        if self.folds:
            projected = large_matmul(kernel, flat, transpose_a=True)
        else:
            # Batched, so that TensorFlow does not fold the transpose, slower without AVX-512.
            projected = large_matmul(swap(kernel), flat, batched=True)
        return projected + bias[:, tf.newaxis]

    def project_back(self, flat: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        """Multiplies a large matrix by transposed weights: the kernel as it is."""
        return large_matmul(kernel, flat, batched=False)

    def outer(self, left: tf.Tensor, right: tf.Tensor) -> tf.Tensor:
        """`[features of left, features of right]`, summed over the sentences of two matrices."""
        return large_matmul(left, right, transpose_b=True)

    def flatten(self, steps: tf.Tensor) -> tf.Tensor:
        """`[time, ..., features, batch]` as `[..., features, time * batch]`."""
        rank = len(steps.shape)
        turned = tf.transpose(steps, [*range(1, rank - 1), 0, rank - 1])
        return tf.reshape(turned, [*steps.shape[1:-1], -1])

    def unflatten(self, flat: tf.Tensor, batch_size: tf.Tensor) -> tf.Tensor:
        """The opposite."""
        rank = len(flat.shape)
        steps = tf.reshape(flat, [*flat.shape[:-1], -1, batch_size])
        return tf.transpose(steps, [rank - 1, *range(rank - 1), rank])

    def split(self, raw: tf.Tensor) -> list[tf.Tensor]:
        """The four gates of `[directions, matrix]`; of one direction, parts of the same memory."""
        if raw.shape[0] > 1:
            return tf.split(raw, 4, axis=1)
        return [gate[tf.newaxis] for gate in tf.split(raw[0], 4)]


FASTEST: Final = Columns(folds="avx512f" in cpu.features())
