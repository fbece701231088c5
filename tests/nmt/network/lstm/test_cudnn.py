"""The GPU path, as far as a machine without one can show it."""

import importlib

import numpy as np
import pytest
import tensorflow as tf

from nmt.config import ATTENTIONS
from nmt.network.lstm.cudnn import pack, run_stack
from nmt.network.lstm.layers import NO_DROPOUT, Dropout, StackInputs
from tests import small
from tests.nmt.network.lstm.test_equality import DEPTH, LENGTHS, UNITS, make_case


def trace(num_layers, ways, dropout):
    sequence, states, layers = make_case(num_layers, ways)

    @tf.function
    def compute(sequence, states, layers):
        with tf.device("GPU:0"), tf.GradientTape() as tape:
            tape.watch(layers)
            outputs, _ = run_stack(StackInputs(sequence, LENGTHS, states), layers, dropout)
            loss = tf.reduce_sum(outputs)
        with tf.device("GPU:0"):
            return tape.gradient(loss, layers)

    return compute.get_concrete_function(sequence, states, layers).graph


@pytest.mark.parametrize(("ways", "direction"), [(1, b"unidirectional"), (2, b"bidirectional")])
def test_graph_has_one_cudnn_call_each_way_for_the_whole_stack(ways, direction):
    graph = trace(3, ways, NO_DROPOUT)
    found = {op.type: op for op in graph.get_operations() if op.type.startswith("Cudnn")}
    assert set(found) == {"CudnnRNNV3", "CudnnRNNBackpropV3"}
    assert sum(op.type == "CudnnRNNV3" for op in graph.get_operations()) == 1
    for op in found.values():
        assert op.get_attr("direction") == direction
        assert op.get_attr("time_major")
        assert "GPU:0" in op.device


def test_dropout_comes_between_one_call_a_layer():
    kinds = [op.type for op in trace(3, 2, Dropout(0.25, tf.constant([1, 2]))).get_operations()]
    assert kinds.count("CudnnRNNV3") == kinds.count("CudnnRNNBackpropV3") == 3
    assert kinds.count("StatelessRandomUniformV2") == 3


def test_mixed_precision_computes_cudnn_in_float32():
    trainer = small.trainer(encoder_type="cudnn_lstm", kind="GPU", mixed_precision=True)
    graph = trainer.replica_step.get_concrete_function().graph
    found = [op for op in graph.get_operations() if op.type.startswith("CudnnRNN")]
    assert len(found) == 4
    assert {op.get_attr("T") for op in found} == {tf.float32}


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_attention_leaves_both_sides_one_call_each_way(attention):
    trainer = small.trainer(encoder_type="cudnn_lstm", kind="GPU", attention=attention)
    kinds = [op.type for op in trainer.replica_step.get_concrete_function().graph.get_operations()]
    assert kinds.count("CudnnRNNV3") == kinds.count("CudnnRNNBackpropV3") == 2
    assert not any("While" in kind for kind in kinds)


def test_residual_layers_are_one_call_each():
    trainer = small.trainer(encoder_type="cudnn_lstm", kind="GPU", residual=True)
    kinds = [op.type for op in trainer.replica_step.get_concrete_function().graph.get_operations()]
    assert kinds.count("CudnnRNNV3") == kinds.count("CudnnRNNBackpropV3") == 4


def test_one_layer_is_packed_as_keras_packs_it():
    _, _, layers = make_case(1, 1)
    kernel, recurrent, bias = layers[0][0]
    keras_rnn = importlib.import_module("keras.src.backend.tensorflow.rnn")
    expected = keras_rnn._standardize_cudnn_weights(
        weights=tf.split(kernel, 4, axis=1) + tf.split(recurrent, 4, axis=1),
        biases=tf.split(tf.concat([bias, tf.zeros_like(bias)], 0), 8),
        shape=tf.constant([-1]),
        transpose_weights=True,
    )
    np.testing.assert_array_equal(pack(layers), expected)


def test_all_matrices_come_before_all_biases():
    _, _, layers = make_case(2, 2)
    packed = pack(layers).numpy()
    place = 0
    for depth, layer in ((DEPTH, layers[0]), (2 * UNITS, layers[1])):
        for weights in layer:
            for matrix, rows in ((weights.kernel, depth), (weights.recurrent, UNITS)):
                block = packed[place : place + 4 * UNITS * rows].reshape(4, UNITS, rows)
                for gate in range(4):
                    expected = matrix.numpy()[:, gate * UNITS : (gate + 1) * UNITS].T
                    np.testing.assert_array_equal(block[gate], expected)
                place += block.size
    for weights in (*layers[0], *layers[1]):
        np.testing.assert_array_equal(packed[place : place + 4 * UNITS], weights.bias)
        assert not packed[place + 4 * UNITS : place + 8 * UNITS].any()
        place += 8 * UNITS
    assert place == packed.size
