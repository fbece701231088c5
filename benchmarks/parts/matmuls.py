"""Matmuls by themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import tensorflow as tf

from benchmarks.parts.common import Sizes, Work, compiled, numbers, repeated
from nmt.network.matmul import BATCHED, large_matmul


class Large(NamedTuple):
    """A large matmul of a step: what nmt.network.matmul is called with there."""

    shapes: Callable[[Sizes], tuple[tuple[int, int], tuple[int, int]]]
    transpose_a: bool = False
    transpose_b: bool = False
    batched: bool = BATCHED  # as it is done


def words(sizes: Sizes) -> int:
    """In a batch."""
    return sizes.batch * sizes.time


LARGE: Final = {
    "projection of a layer's input": Large(
        lambda s: ((s.units, 4 * s.units), (s.units, words(s))), transpose_a=True
    ),
    "gradient of a layer's input": Large(
        lambda s: ((s.units, 4 * s.units), (4 * s.units, words(s))), batched=False
    ),
    "gradient of a layer's weights": Large(
        lambda s: ((s.units, words(s)), (4 * s.units, words(s))), transpose_b=True
    ),
    "logits": Large(lambda s: ((words(s), s.units), (s.units, s.vocabulary))),
    "gradient of what is projected": Large(
        lambda s: ((words(s), s.vocabulary), (s.units, s.vocabulary)), transpose_b=True
    ),
    "gradient of the projection": Large(
        lambda s: ((words(s), s.units), (words(s), s.vocabulary)),
        transpose_a=True,
        batched=False,
    ),
}


def ways_of(kind: Large) -> Callable[[Sizes], dict[str, Work]]:
    """One of them, as TensorFlow's batched matmul and as its plain one."""

    def ways(sizes: Sizes) -> dict[str, Work]:
        left, right = (numbers(*shape) for shape in kind.shapes(sizes))

        def multiplying(batched: bool) -> Work:
            how = {"transpose_a": kind.transpose_a, "transpose_b": kind.transpose_b}
            return compiled(lambda a, b: large_matmul(a, b, **how, batched=batched), left, right)

        names = {True: "TensorFlow's batched matmul", False: "the plain one"}
        return {names[each]: multiplying(each) for each in (kind.batched, not kind.batched)}

    return ways


def recurrent_step(sizes: Sizes) -> dict[str, Work]:
    """The matmul of a time step: hidden state times recurrent weights."""
    units, batch = sizes.units, sizes.batch
    weights, transposed = numbers(units, 4 * units), numbers(4 * units, units)
    rows, columns = numbers(batch, units), numbers(units, batch)
    stacks = numbers(sizes.layers, 4 * units, units), numbers(sizes.layers, units, batch)

    def folded(w: tf.Tensor, h: tf.Tensor) -> tf.Tensor:
        return tf.matmul(w, h, transpose_a=True)

    def folded_behind(h: tf.Tensor, w: tf.Tensor) -> tf.Tensor:
        return tf.matmul(h, w, transpose_b=True)

    return {
        "weights transposed once, to the left of columns": compiled(tf.matmul, transposed, columns),
        "weights to the left, transposed in the matmul": compiled(folded, weights, columns),
        "weights to the right of rows": compiled(tf.matmul, rows, weights),
        "weights to the right, transposed in the matmul": compiled(folded_behind, rows, transposed),
        f"{sizes.layers} layers in one call": compiled(tf.matmul, *stacks),
    }


def transposed_weights(sizes: Sizes) -> dict[str, Work]:
    """What stands to the left of columns: a layer's recurrent weights."""
    weights = numbers(sizes.units, 4 * sizes.units)
    return {
        "by every replica": compiled(tf.transpose, weights),
        "by another, once for all": compiled(tf.identity, weights),
    }


def decoder_stack(sizes: Sizes) -> dict[str, Work]:
    """All matmuls of several layers' forward pass."""
    steps, units, batch, layers = sizes.time, sizes.units, sizes.batch, sizes.layers
    kernel, recurrent = numbers(4 * units, units), numbers(4 * units, units)
    sequence, hidden = numbers(units, steps * batch), numbers(units, batch)
    both, stacked = numbers(layers, 4 * units, 2 * units), numbers(layers, 2 * units, batch)

    def layer_by_layer(k: tf.Tensor, r: tf.Tensor, x: tf.Tensor, h: tf.Tensor) -> tf.Tensor:
        for _ in range(layers):
            projected = tf.matmul(k, x)[:units]
            h = repeated(steps, lambda state: tf.matmul(r, state)[:units], h + projected[0, 0])
            x = projected + h[0, 0]  # a layer begins when the one below has ended
        return x

    def wavefront(w: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
        def diagonal(state: tf.Tensor) -> tf.Tensor:
            return tf.matmul(w, state)[:, : 2 * units]

        return repeated(steps + layers - 1, diagonal, values)

    return {
        "layer by layer, all inputs in one matmul": compiled(
            layer_by_layer, kernel, recurrent, sequence, hidden
        ),
        "all layers at once, one time step apart": compiled(wavefront, both, stacked),
    }


def weight_gradients(sizes: Sizes) -> dict[str, Work]:
    """The gradient of one layer's recurrent weights."""
    steps, units, batch = sizes.time, sizes.units, sizes.batch
    states, gates = numbers(units, steps * batch), numbers(4 * units, steps * batch)
    state, gate, total = numbers(units, batch), numbers(4 * units, batch), numbers(units, 4 * units)

    def after(h: tf.Tensor, g: tf.Tensor) -> tf.Tensor:
        return tf.matmul(h, g, transpose_b=True)

    def during(h: tf.Tensor, g: tf.Tensor, start: tf.Tensor) -> tf.Tensor:
        return repeated(steps, lambda sums: sums + tf.matmul(h, g, transpose_b=True), start)

    return {
        "one matmul after the loop": compiled(after, states, gates),
        "one a time step, added up": compiled(during, state, gate, total),
    }
