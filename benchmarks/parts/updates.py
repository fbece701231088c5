"""What is done with gradients."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from benchmarks.parts.common import Sizes, Work, compiled, numbers


def adam(sizes: Sizes) -> dict[str, Work]:
    """The update of ten matrices with gradients that are clipped."""
    shape, count = (sizes.units, 4 * sizes.units), 10
    several = [[numbers(*shape) for _ in range(count)] for _ in range(4)]
    flat = [[numbers(count * shape[0], shape[1])] for _ in range(4)]
    scale = tf.Variable(0.5)

    def kernels(
        variables: list[list[tf.Variable]], scaled: Callable[..., tf.Tensor] = tf.multiply
    ) -> Callable[[tf.Tensor], tf.Tensor]:
        def update(factor: tf.Tensor) -> tf.Tensor:
            for weight, m, v, gradient in zip(*variables):
                grad = scaled(gradient.read_value(), factor)
                tf.raw_ops.ResourceApplyAdam(
                    var=weight.handle, m=m.handle, v=v.handle, beta1_power=0.9, beta2_power=0.99,
                    lr=1e-3, beta1=0.9, beta2=0.999, epsilon=1e-8, grad=grad,
                )  # fmt: skip
            return factor

        return update

    def fused(factor: tf.Tensor) -> tf.Tensor:
        for weight, m, v, gradient in zip(*several):
            clipped = gradient * factor
            m.assign(0.9 * m + 0.1 * clipped)
            v.assign(0.999 * v + 0.001 * clipped**2)
            weight.assign_sub(1e-3 * m / (tf.sqrt(v) + 1e-8))
        return factor

    return {
        "scaled, then TensorFlow's kernel, for each variable": compiled(kernels(several), scale),
        "TensorFlow's kernel alone, gradients scaled before": compiled(
            kernels(several, lambda gradient, _: gradient), scale
        ),
        "scaled, over one flat buffer": compiled(kernels(flat), scale),
        "compiled by XLA, one pass": compiled(fused, scale, jit_compile=True),
    }


def embedding(sizes: Sizes) -> dict[str, Work]:
    """Adam for a table of which a batch reads few rows."""
    shape, tokens = (sizes.vocabulary, sizes.units), sizes.batch * sizes.time
    weight, m, v = (numbers(*shape) for _ in range(3))
    gradients = numbers(tokens, sizes.units)
    ids = tf.random.uniform([tokens], 0, sizes.vocabulary // 8, tf.int32)
    rate, beta1, beta2, epsilon = 1e-3, 0.9, 0.999, 1e-8

    def every_row(rows: tf.Tensor) -> tf.Tensor:
        total = tf.math.unsorted_segment_sum(rows, ids, sizes.vocabulary)
        tf.raw_ops.ResourceApplyAdam(
            var=weight.handle, m=m.handle, v=v.handle, beta1_power=0.9, beta2_power=0.99,
            lr=rate, beta1=beta1, beta2=beta2, epsilon=epsilon, grad=total,
        )  # fmt: skip
        return total[:1]

    def rows_alone(rows: tf.Tensor) -> tf.Tensor:
        places, segments = tf.unique(ids)
        total = tf.math.unsorted_segment_sum(rows, segments, tf.size(places))
        new_m = beta1 * tf.gather(m, places) + (1 - beta1) * total
        new_v = beta2 * tf.gather(v, places) + (1 - beta2) * tf.square(total)
        moved = tf.gather(weight, places) - rate * new_m / (tf.sqrt(new_v) + epsilon)
        for variable, value in ((m, new_m), (v, new_v), (weight, moved)):
            variable.scatter_update(tf.IndexedSlices(value, places))
        return total[:1]

    return {
        "every row": compiled(every_row, gradients),
        "a batch's rows alone (another optimizer)": compiled(rows_alone, gradients),
    }
