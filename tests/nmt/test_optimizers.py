import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from nmt.config import OPTIMIZERS as NAMES
from nmt.config import OptimizerConfig
from nmt.optimizers import OPTIMIZERS, clipped_mean_scale, make_optimizer
from nmt.types import ReplicaGradients

CONFIG = OptimizerConfig(learning_rate=0.1, max_gradient_norm=0.0, weight_decay=0.2)


def update(name, gradients, num_tokens=1.0):
    variables = [tf.Variable([[1.0, -2.0]]), tf.Variable([3.0])]
    optimizer = make_optimizer(dataclasses.replace(CONFIG, optimizer=name), variables)
    for step, sums in enumerate(gradients):
        tensors = [tf.constant(value) for value in sums]
        scale = optimizer.scale(ReplicaGradients(tensors, tf.constant(num_tokens), 0.0))
        optimizer.update(tensors, scale.factor, tf.constant(step))
    return [variable.numpy() for variable in variables]


def adam_by_hand(value, gradients, decay=0.0):
    m = v = 0.0
    for t, gradient in enumerate(gradients, start=1):
        value = value - 0.1 * decay * value
        m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
        rate = 0.1 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        value = value - rate * m / (np.sqrt(v) + 1e-8)
    return value


GRADIENTS = [([[0.5, 1.0]], [2.0]), ([[-1.5, 0.25]], [1.0]), ([[0.0, 0.1]], [-3.0])]


def test_the_flag_and_the_table_name_the_same_optimizers():
    assert tuple(OPTIMIZERS) == NAMES


def test_sgd_divides_the_sum_by_the_token_count_once():
    matrix, bias = update("sgd", [([[4.0, 8.0]], [2.0])], num_tokens=4.0)
    np.testing.assert_allclose(matrix, [[0.9, -2.2]], rtol=1e-6)
    np.testing.assert_allclose(bias, [2.95], rtol=1e-6)


@pytest.mark.parametrize(("name", "decay"), [("adam", 0.0), ("adamw", 0.2)])
def test_adam_agrees_with_the_formula_and_only_matrices_decay(name, decay):
    matrix, bias = update(name, GRADIENTS)
    first = [gradient[0][0][0] for gradient in GRADIENTS]
    np.testing.assert_allclose(matrix[0, 0], adam_by_hand(1.0, first, decay), rtol=1e-5)
    np.testing.assert_allclose(bias[0], adam_by_hand(3.0, [g[1][0] for g in GRADIENTS]), rtol=1e-5)


@pytest.mark.parametrize(("limit", "expected"), [(1.0, 1.0), (100.0, 5.0), (0.0, 5.0)])
def test_clipping_bounds_the_global_norm_of_the_means(limit, expected):
    sums = [tf.constant([[6.0]]), tf.constant([0.0, 8.0])]
    squares = [tf.nn.l2_loss(gradient) for gradient in sums]
    scale = clipped_mean_scale(squares, tf.constant(2.0), limit)
    assert float(scale.norm) == 5.0  # before it is clipped
    means = [gradient * scale.factor for gradient in sums]
    np.testing.assert_allclose(tf.linalg.global_norm(means), expected, rtol=1e-6)
    np.testing.assert_allclose(means[1][1] / means[0][0, 0], 8 / 6, rtol=1e-6)


def test_a_batch_without_tokens_leaves_the_weights_alone():
    matrix, bias = update("sgd", [([[0.0, 0.0]], [0.0])], num_tokens=0.0)
    np.testing.assert_array_equal(matrix, [[1.0, -2.0]])
    np.testing.assert_array_equal(bias, [3.0])
