"""Whole layers, forward and backward, and the gates of one of their steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import tensorflow as tf

from benchmarks.parts.common import Sizes, Work, compiled, numbers
from nmt.network.lstm import columns
from nmt.network.lstm.layers import Layer, LayerWeights, StackInputs, zero_states
from nmt.network.lstm.scan import run_stack


def new_layer(sizes: Sizes, num_directions: int, depth: int) -> Layer:
    """A layer's weights, in variables."""
    shapes = [(depth, 4 * sizes.units), (sizes.units, 4 * sizes.units), (4 * sizes.units,)]
    return [LayerWeights(*(numbers(*shape) for shape in shapes)) for _ in range(num_directions)]


def passes(
    stacks: list[list[Layer]], sizes: Sizes, folds: bool = columns.FOLDS, **how: Any
) -> Callable[[tf.Variable], Work]:
    """Forward and backward pass of stacks that read the same sequence, each by itself."""

    def run(values: tf.Tensor) -> tf.Tensor:
        weights = tf.nest.map_structure(lambda weight: weight.read_value(), stacks)
        with mock.patch.object(columns, "FOLDS", folds), tf.GradientTape() as tape:
            tape.watch([values, weights])
            outputs = []
            for layers in weights:
                inputs = StackInputs(values, None, zero_states(layers, sizes.batch))
                outputs.append(tf.reduce_sum(run_stack(inputs, layers).sequence))
            total = tf.add_n(outputs)
        gradients = tf.nest.flatten(tape.gradient(total, [values, weights]))
        return tf.add_n([tf.reduce_sum(gradient[:1]) for gradient in gradients])

    return lambda sequence: compiled(run, sequence, **how)


def layers_of(num_directions: int) -> Callable[[Sizes], dict[str, Work]]:
    """Two layers of one or two directions."""

    def ways(sizes: Sizes) -> dict[str, Work]:
        depth = num_directions * sizes.units
        stacks = [[new_layer(sizes, num_directions, depth) for _ in range(2)]]
        sequence = numbers(sizes.time, sizes.batch, depth)
        return {
            **{
                describe(folds): passes(stacks, sizes, folds)(sequence)
                for folds in (columns.FOLDS, not columns.FOLDS)
            },
            "compiled by XLA as a whole": passes(stacks, sizes, jit_compile=True)(sequence),
        }

    return ways


def describe(folds: bool) -> str:
    """When weights are transposed."""
    how = "as they are read" if folds else "before"
    return f"weights of the projection transposed {how}"


def both_directions(sizes: Sizes) -> dict[str, Work]:
    """One layer that reads both ways; by itself no direction has to be turned, which is little."""
    sequence = numbers(sizes.time, sizes.batch, sizes.units)
    forward, backward = new_layer(sizes, 2, sizes.units)
    return {
        "one loop, whose matmul is batched": passes([[[forward, backward]]], sizes)(sequence),
        "a loop for each": passes([[[forward]], [[backward]]], sizes)(sequence),
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
