"""The GPU path of `cudnn_lstm`: the whole stack, forward and backward, as one cuDNN call each."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from nmt.lstm.layers import NO_DROPOUT, Dropout, Layer, StackInputs, StackOutputs, State


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


def run_stack(
    inputs: StackInputs, layers: Sequence[Layer], dropout: Dropout = NO_DROPOUT
) -> StackOutputs:
    """Runs the stack in CudnnRNNV3, which applies the dropout between layers itself."""
    sequence = dropout(inputs.sequence, 0)
    num_steps, batch_size = tf.unstack(tf.shape(sequence)[:2])
    lengths = tf.fill([batch_size], num_steps) if inputs.lengths is None else inputs.lengths
    result = tf.raw_ops.CudnnRNNV3(
        input=sequence,
        input_h=tf.stack([state.hidden for state in inputs.initial]),
        input_c=tf.stack([state.cell for state in inputs.initial]),
        params=pack(layers),
        sequence_lengths=lengths,
        direction="bidirectional" if len(layers[0]) == 2 else "unidirectional",
        dropout=dropout.rate,
        is_training=True,
        time_major=True,
    )
    final = zip(tf.unstack(result.output_h), tf.unstack(result.output_c))
    output = result.output
    output.set_shape([None, None, len(layers[0]) * layers[0][0].recurrent.shape[0]])
    return StackOutputs(output, [State(hidden, cell) for hidden, cell in final])
