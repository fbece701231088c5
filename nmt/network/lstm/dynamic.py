"""`dynamic_rnn`: a loop over time that looks at the sequence lengths at every step.

TensorFlow differentiates the loop. This is the plain reference the other implementations equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf

from nmt.network.lstm.layers import (
    NO_DROPOUT,
    Dropout,
    Layer,
    LayerWeights,
    StackInputs,
    StackOutputs,
    State,
    embed,
    layer_by_layer,
    reverse,
)


class FusedWeights(NamedTuple):
    """Input and recurrent weights under each other, for one matmul per step."""

    kernel: tf.Tensor  # [input_depth + units, 4 * units]
    bias: tf.Tensor  # [4 * units]


def fuse(weights: LayerWeights) -> FusedWeights:
    """Puts the weights together once, before a loop uses them many times."""
    return FusedWeights(tf.concat([weights.kernel, weights.recurrent], axis=0), weights.bias)


def cell(inputs: tf.Tensor, state: State, weights: FusedWeights) -> State:
    """One time step of one layer: `[batch, depth]` in, the next state out."""
    both = tf.concat([inputs, state.hidden], axis=1)
    gates = both @ weights.kernel + weights.bias  # [batch, 4 * units]
    enter, forget, candidate, leave = tf.split(gates, 4, axis=1)
    memory = tf.sigmoid(forget) * state.cell + tf.sigmoid(enter) * tf.tanh(candidate)
    return State(tf.sigmoid(leave) * tf.tanh(memory), memory)


def run_direction(inputs: StackInputs, weights: LayerWeights) -> tuple[tf.Tensor, State]:
    """Runs one direction; states stand still and outputs are zero after a sequence's end."""
    num_steps, batch_size = tf.unstack(tf.shape(inputs.sequence)[:2])
    lengths = tf.fill([batch_size], num_steps) if inputs.lengths is None else inputs.lengths
    fused = fuse(weights)

    def step(time: tf.Tensor, state: State, outputs: tf.TensorArray) -> tuple[object, ...]:
        new = cell(inputs.sequence[time], state, fused)
        alive = (time < lengths)[:, tf.newaxis]
        kept = State(*(tf.where(alive, n, old) for n, old in zip(new, state)))
        output = tf.where(alive, new.hidden, tf.zeros_like(new.hidden))
        return time + 1, kept, outputs.write(time, output)

    outputs = tf.TensorArray(inputs.sequence.dtype, num_steps)
    _, final, outputs = tf.while_loop(
        lambda time, *_: time < num_steps, step, (0, inputs.initial[0], outputs)
    )
    sequence = outputs.stack()
    sequence.set_shape([None, None, weights.recurrent.shape[0]])
    return sequence, final


def run_layer(inputs: StackInputs, layer: Layer) -> StackOutputs:
    """Runs a layer in one or both directions; the outputs of both stand side by side."""
    forward, last = run_direction(inputs, layer[0])
    if len(layer) == 1:
        return StackOutputs(forward, [last])
    turned = StackInputs(
        reverse(inputs.sequence, inputs.lengths), inputs.lengths, inputs.initial[1:]
    )
    backward, first = run_direction(turned, layer[1])
    both = tf.concat([forward, reverse(backward, inputs.lengths)], axis=2)
    return StackOutputs(both, [last, first])


run_layers = layer_by_layer(run_layer)


def run_stack(
    inputs: StackInputs, layers: Sequence[Layer], dropout: Dropout = NO_DROPOUT
) -> StackOutputs:
    """Runs the layers one after the other."""
    return run_layers(inputs._replace(sequence=embed(inputs.sequence)), layers, dropout)
