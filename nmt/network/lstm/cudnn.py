"""The GPU path of `cudnn_lstm`: whole layers, forward and backward, as one cuDNN call each."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import tensorflow as tf

from nmt.network.lstm.layers import (
    NO_DROPOUT,
    Dropout,
    Layer,
    StackInputs,
    StackOutputs,
    State,
    embed,
    layer_by_layer,
)


def pack(layers: Sequence[Layer]) -> tf.Tensor:
    """Lays a stack's weights out as cuDNN reads them.

    First every matrix, layer by layer and direction by direction: four gates of the kernel, then
    four of the recurrent weights, each as `[units, depth]`. Then every bias in the same order:
    cuDNN adds two per gate, of which the second is zero here.
    """
    directions = [weights for layer in layers for weights in layer]
    matrices = [
        tf.reshape(tf.transpose(gate), [-1])
        for weights in directions
        for matrix in (weights.kernel, weights.recurrent)
        for gate in tf.split(matrix, 4, axis=1)
    ]
    biases = [b for weights in directions for b in (weights.bias, tf.zeros_like(weights.bias))]
    return tf.concat(matrices + biases, axis=0)


def run_layers(inputs: StackInputs, layers: Sequence[Layer]) -> StackOutputs:
    """Runs several layers in one CudnnRNNV3 call."""
    kind = inputs.sequence.dtype
    num_steps, batch_size = tf.unstack(tf.shape(inputs.sequence)[:2])
    lengths = tf.fill([batch_size], num_steps) if inputs.lengths is None else inputs.lengths
    # The op has no bfloat16 arithmetic: it would convert to float32 by itself, without the reserve.
    single = functools.partial(tf.cast, dtype=tf.float32)
    result = tf.raw_ops.CudnnRNNV3(
        input=single(inputs.sequence),
        input_h=single(tf.stack([state.hidden for state in inputs.initial])),
        input_c=single(tf.stack([state.cell for state in inputs.initial])),
        params=single(pack(layers)),
        sequence_lengths=lengths,
        direction="bidirectional" if len(layers[0]) == 2 else "unidirectional",
        is_training=True,
        time_major=True,
    )
    output = tf.cast(result.output, kind)
    output.set_shape([None, None, len(layers[0]) * layers[0][0].recurrent.shape[0]])
    states = (tf.unstack(tf.cast(part, kind)) for part in (result.output_h, result.output_c))
    return StackOutputs(output, [State(*state) for state in zip(*states)])


run_one_by_one = layer_by_layer(lambda inputs, layer: run_layers(inputs, [layer]))


def run_stack(
    inputs: StackInputs, layers: Sequence[Layer], dropout: Dropout = NO_DROPOUT
) -> StackOutputs:
    """Runs the stack in one call, or in one a layer where something is done between them.

    The op's own dropout has a seed that is fixed when the graph is built, equal for all replicas.
    """
    inputs = inputs._replace(sequence=embed(inputs.sequence))
    if dropout.rate or inputs.residual:
        return run_one_by_one(inputs, layers, dropout)
    return run_layers(inputs, layers)
