import numpy as np
import pytest
import tensorflow as tf

from nmt.loss import cross_entropy


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0, 1e4])
def test_loss_and_gradient_are_those_of_tensorflows_kernel(scale):
    logits = scale * tf.random.stateless_normal([50, 300], [1, 2])
    labels = tf.random.stateless_uniform([50], [3, 4], 0, 300, tf.int32)
    expected = tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(features=logits, labels=labels)
    losses, gradients = cross_entropy(logits, labels)
    np.testing.assert_allclose(losses, expected.loss, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(gradients, expected.backprop, rtol=1e-4, atol=1e-6)


def test_the_loss_of_an_unlikely_label_is_finite():
    losses, gradients = cross_entropy(tf.constant([[1000.0, 0.0, -1000.0]]), tf.constant([2]))
    np.testing.assert_allclose(losses, [2000.0])
    np.testing.assert_allclose(gradients, [[1.0, 0.0, -1.0]])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_is_not_hidden(bad):
    losses, gradients = cross_entropy(tf.constant([[0.0, bad, 1.0]] * 3), tf.constant([0, 1, 2]))
    assert np.isnan(losses).all()
    assert np.isnan(gradients).any(axis=1).all()
