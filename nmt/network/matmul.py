"""Large matmuls."""

from __future__ import annotations

from typing import Final

import tensorflow as tf

from nmt.machine import cpu

BATCHED: Final = "avx512f" in cpu.features()
"""Whether TensorFlow's batched matmul is mostly the faster one: with AVX-512 oneDNN has a better
kernel for it than for the plain one, above all where the right side is transposed
(benchmarks.ways)."""


def large_matmul(
    left: tf.Tensor,
    right: tf.Tensor,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    batched: bool = BATCHED,
) -> tf.Tensor:
    """Multiplies two matrices, in the way that is faster on this processor."""
    how = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    if not batched:
        return tf.matmul(left, right, **how)
    return tf.matmul(left[tf.newaxis], right[tf.newaxis], **how)[0]
