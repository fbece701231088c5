"""Parts of a training step, each in several ways; the first way is the one that was taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import tensorflow as tf

from nmt.loss import cross_entropy
from nmt.lstm.layers import LayerWeights, StackInputs, zero_states
from nmt.lstm.layouts import FASTEST, Columns
from nmt.lstm.scan import run_stack_in
from nmt.matmul import BATCHED, large_matmul

Work = Callable[[], Any]


class Sizes(NamedTuple):
    """What is computed."""

    batch: int = 64
    time: int = 14
    units: int = 512
    vocabulary: int = 8000
    layers: int = 4


def numbers(*shape: int) -> tf.Variable:
    """Any numbers; in a variable, for TensorFlow computes with constants beforehand."""
    return tf.Variable(0.05 * tf.random.normal(shape), trainable=False)


def compiled(function: Callable[..., tf.Tensor], *values: tf.Variable, **how: Any) -> Work:
    """One call of a graph; of the result a single number is read."""

    def run() -> tf.Tensor:
        return tf.reshape(function(*(value.read_value() for value in values)), [-1])[0]

    return tf.function(run, autograph=False, **how)


def repeated(count: int, step: Callable[[tf.Tensor], tf.Tensor], first: tf.Tensor) -> tf.Tensor:
    """A loop in the graph, as over time."""
    return tf.while_loop(
        lambda time, _: time < count, lambda time, value: (time + 1, step(value)), (0, first)
    )[1]


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


LAYOUTS: Final = (FASTEST, Columns(folds=not FASTEST.folds))


def layouts_of(num_directions: int) -> Callable[[Sizes], dict[str, Work]]:
    """Two layers, forward and backward."""

    def ways(sizes: Sizes) -> dict[str, Work]:
        units, depth = sizes.units, num_directions * sizes.units
        shapes = [(depth, 4 * units), (units, 4 * units), (4 * units,)]
        layers = [
            [LayerWeights(*(numbers(*shape) for shape in shapes)) for _ in range(num_directions)]
            for _ in range(2)
        ]
        sequence = numbers(sizes.time, sizes.batch, depth)
        states = zero_states(layers, sizes.batch)

        def in_layout(layout: Columns) -> Work:
            def run(values: tf.Tensor) -> tf.Tensor:
                weights = tf.nest.map_structure(lambda weight: weight.read_value(), layers)
                with tf.GradientTape() as tape:
                    tape.watch([values, weights])
                    inputs = StackInputs(values, None, states)
                    total = tf.reduce_sum(run_stack_in(layout, inputs, weights).sequence)
                gradients = tf.nest.flatten(tape.gradient(total, [values, weights]))
                return tf.add_n([tf.reduce_sum(gradient[:1]) for gradient in gradients])

            return compiled(run, sequence)

        return {describe(each): in_layout(each) for each in LAYOUTS}

    return ways


def describe(layout: Columns) -> str:
    """When weights are transposed."""
    how = "as they are read" if layout.folds else "before"
    return f"weights of the projection transposed {how}"


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


def loss_and_gradient(sizes: Sizes) -> dict[str, Work]:
    """From logits to losses and the logits' gradient."""
    tokens = sizes.batch * sizes.time
    logits = numbers(tokens, sizes.vocabulary)
    labels = tf.random.uniform([tokens], 0, sizes.vocabulary, tf.int32)

    def kernel(values: tf.Tensor) -> tf.Tensor:
        return tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(features=values, labels=labels)[1]

    def by_hand(values: tf.Tensor) -> tf.Tensor:
        powers = tf.exp(values - tf.reduce_max(values, axis=1, keepdims=True))
        sums = tf.reduce_sum(powers, axis=1)
        places = tf.stack([tf.range(tokens), labels], axis=1)
        return tf.tensor_scatter_nd_sub(powers, places, sums)

    return {
        "oneDNN's softmax and two maxima": compiled(
            lambda values: cross_entropy(values, labels)[1], logits
        ),
        "TensorFlow's kernel for both": compiled(kernel, logits),
        "exponentials and sums": compiled(by_hand, logits),
    }


def gates(sizes: Sizes) -> dict[str, Work]:
    """What a step computes beside its matmul."""
    raw, cell = numbers(4 * sizes.units, sizes.batch), numbers(sizes.units, sizes.batch)

    def plain(values: tf.Tensor, state: tf.Tensor) -> tf.Tensor:
        enter, forget, candidate, leave = tf.split(values, 4)
        new = tf.sigmoid(forget) * state + tf.sigmoid(enter) * tf.tanh(candidate)
        return tf.sigmoid(leave) * tf.tanh(new)

    def one_sigmoid(values: tf.Tensor, state: tf.Tensor) -> tf.Tensor:
        enter, forget, candidate, leave = tf.split(tf.sigmoid(values), 4)
        new = forget * state + enter * (2.0 * candidate - 1.0)
        return leave * tf.tanh(new)

    return {
        "an operation each": compiled(plain, raw, cell),
        "one sigmoid for all gates": compiled(one_sigmoid, raw, cell),
        "compiled by XLA": compiled(plain, raw, cell, jit_compile=True),
    }


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


def large_matmuls(sizes: Sizes) -> dict[str, Work]:
    """The gradient of a layer's input, which transposes its weights."""
    gates, weights = (
        numbers(sizes.batch * sizes.time, 4 * sizes.units),
        numbers(sizes.units, 4 * sizes.units),
    )

    def transposing(batched: bool) -> Work:
        return compiled(
            lambda a, b: large_matmul(a, b, transpose_b=True, batched=batched), gates, weights
        )

    ways = {True: "TensorFlow's batched matmul", False: "the plain one"}
    return {ways[batched]: transposing(batched) for batched in (BATCHED, not BATCHED)}


PARTS: Final[Mapping[str, Callable[[Sizes], dict[str, Work]]]] = {
    "two layers of one direction": layouts_of(1),
    "two layers of two directions": layouts_of(2),
    "gradient of a layer's input": large_matmuls,
    "recurrent matmul of a step": recurrent_step,
    "a layer's weights, transposed": transposed_weights,
    "matmuls of four layers": decoder_stack,
    "a layer's weight gradient": weight_gradients,
    "loss and its gradient": loss_and_gradient,
    "gates of a step": gates,
    "update": adam,
}
