"""How the fast CPU path lays matrices out: which is multiplied faster depends on the processor.

What a layout calls a matrix is `[..., batch, features]` or that transposed; weights are
`[..., features in, features out]` in both. Sequences have `[time, directions]` before it.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import ClassVar

import tensorflow as tf

from nmt import cpu
from nmt.matmul import large_matmul

swap = tf.linalg.matrix_transpose
Multiply = Callable[[tf.Tensor], tf.Tensor]


class Layout(abc.ABC):
    """Where features are, and how weights meet them."""

    features: ClassVar[int]  # the axis of features
    batch: ClassVar[int]  # the axis of sentences

    @abc.abstractmethod
    def turn(self, values: tf.Tensor) -> tf.Tensor:
        """`[..., batch, features]` as it is here, and back."""

    @abc.abstractmethod
    def into(self, weights: tf.Tensor) -> Multiply:
        """Makes of weights what multiplies many matrices with them, one after the other."""

    @abc.abstractmethod
    def back(self, weights: tf.Tensor) -> Multiply:
        """The same with transposed weights, as gradients go."""

    @abc.abstractmethod
    def project(self, flat: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor) -> tf.Tensor:
        """Multiplies a large matrix by weights, `[features in, features out]`, and adds a bias."""

    @abc.abstractmethod
    def project_back(self, flat: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        """Multiplies a large matrix by transposed weights."""

    @abc.abstractmethod
    def outer(self, left: tf.Tensor, right: tf.Tensor) -> tf.Tensor:
        """`[features of left, features of right]`, summed over the sentences of two matrices."""

    @abc.abstractmethod
    def flatten(self, steps: tf.Tensor) -> tf.Tensor:
        """`[time, matrix]` as one matrix in which all steps of all sentences stand."""

    @abc.abstractmethod
    def unflatten(self, flat: tf.Tensor, like: tf.Tensor) -> tf.Tensor:
        """The opposite; time and batch are those of `like`."""

    @abc.abstractmethod
    def split(self, raw: tf.Tensor) -> list[tf.Tensor]:
        """The four gates of `[directions, matrix]`."""


class Rows(Layout):
    """`[batch, features]`: weights to the right; nothing has to be turned or made flat."""

    features, batch = -1, -2

    def turn(self, values: tf.Tensor) -> tf.Tensor:
        """Nothing to do."""
        return values

    def into(self, weights: tf.Tensor) -> Multiply:
        """Weights to the right."""
        return by_one(weights) if weights.shape[0] == 1 else lambda values: values @ weights

    def back(self, weights: tf.Tensor) -> Multiply:
        """Transposed once, not in every matmul."""
        return self.into(swap(weights))

    def project(self, flat: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor) -> tf.Tensor:
        """TensorFlow makes one operation of both."""
        return tf.nn.bias_add(flat @ kernel, bias)

    def project_back(self, flat: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        """A large matmul transposes as it reads."""
        return large_matmul(flat, kernel, transpose_b=True)

    def outer(self, left: tf.Tensor, right: tf.Tensor) -> tf.Tensor:
        """Sums over rows."""
        return large_matmul(left, right, transpose_a=True)

    def flatten(self, steps: tf.Tensor) -> tf.Tensor:
        """Rows of all steps under each other."""
        return tf.reshape(steps, [-1, steps.shape[-1]])

    def unflatten(self, flat: tf.Tensor, like: tf.Tensor) -> tf.Tensor:
        """The opposite."""
        return tf.reshape(flat, [*tf.unstack(tf.shape(like)[:2]), flat.shape[-1]])

    def split(self, raw: tf.Tensor) -> list[tf.Tensor]:
        """Side by side in every row."""
        return tf.split(raw, 4, axis=2)


def by_one(weights: tf.Tensor) -> Multiply:
    """A plain matmul, which oneDNN does faster for rows than one with a single direction."""
    plain = weights[0]
    return lambda values: (values[0] @ plain)[tf.newaxis]


class Columns(Layout):
    """`[features, batch]`: weights to the left, which is faster for a few columns."""

    features, batch = -2, -1

    def __init__(self, *, folds: bool) -> None:
        self.folds = folds  # a large matmul transposes weights as it reads them

    def turn(self, values: tf.Tensor) -> tf.Tensor:
        """Transposes."""
        return swap(values)

    def into(self, weights: tf.Tensor) -> Multiply:
        """Transposed once, not in every matmul."""
        transposed = swap(weights)
        return lambda values: transposed @ values

    def back(self, weights: tf.Tensor) -> Multiply:
        """Weights to the left."""
        return lambda values: weights @ values

    def project(self, flat: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor) -> tf.Tensor:
        """An axis more keeps TensorFlow from folding a transpose where it is to be left."""
        if self.folds:
            projected = large_matmul(kernel, flat, transpose_a=True)
        else:
            projected = large_matmul(swap(kernel), flat, batched=True)
        return projected + bias[:, tf.newaxis]

    def project_back(self, flat: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        """Weights to the left."""
        return large_matmul(kernel, flat)

    def outer(self, left: tf.Tensor, right: tf.Tensor) -> tf.Tensor:
        """Sums over columns."""
        return large_matmul(left, right, transpose_b=True)

    def flatten(self, steps: tf.Tensor) -> tf.Tensor:
        """Columns of all steps side by side."""
        return tf.reshape(tf.transpose(steps, [1, 0, 2]), [steps.shape[1], -1])

    def unflatten(self, flat: tf.Tensor, like: tf.Tensor) -> tf.Tensor:
        """The opposite."""
        shape = [flat.shape[0], tf.shape(like)[0], tf.shape(like)[2]]
        return tf.transpose(tf.reshape(flat, shape), [1, 0, 2])

    def split(self, raw: tf.Tensor) -> list[tf.Tensor]:
        """Under each other; of a single direction they are parts of the same memory."""
        if raw.shape[0] > 1:
            return tf.split(raw, 4, axis=1)
        return [gate[tf.newaxis] for gate in tf.split(raw[0], 4)]


def fastest(num_directions: int) -> Layout:
    """What this processor multiplies fastest.

    Without AVX-512 oneDNN multiplies a few rows half as fast as columns. With it rows save more
    than they cost, but for two directions, which only columns can do well in one matmul.
    """
    if "avx512f" not in cpu.features():
        return Columns(folds=False)
    return Rows() if num_directions == 1 else Columns(folds=True)
