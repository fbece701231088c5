import numpy as np
import pytest
import tensorflow as tf

from nmt.network import loss
from nmt.network.loss import cross_entropy, summed_cross_entropy


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


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("num_tokens", [0, 1, 15, 16, 17, 40])
def test_rows_that_fill_up_add_nothing(num_tokens, smoothing):
    rows = tf.random.stateless_normal([num_tokens, 8], [1, 2])
    projection = tf.random.stateless_normal([8, 30], [3, 4])
    labels = tf.random.stateless_uniform([num_tokens], [5, 6], 0, 30, tf.int32)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([rows, projection])
        found = summed_cross_entropy(rows, projection, labels, smoothing)
        wanted = (1 - smoothing) * tf.one_hot(labels, 30) + smoothing / 30
        expected = -tf.reduce_sum(wanted * tf.nn.log_softmax(rows @ projection))
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    pairs = (tape.gradient(each, [rows, projection]) for each in (found, expected))
    for ours, theirs in zip(*pairs):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_there_are_few_sizes_of_matmuls(monkeypatch):
    sizes = set()

    def recording(logits, *rest):
        sizes.add(len(logits))
        return cross_entropy(logits, *rest)

    monkeypatch.setattr(loss, "cross_entropy", recording)
    for num_tokens in range(1, 49):
        labels = tf.zeros([num_tokens], tf.int32)
        summed_cross_entropy(tf.ones([num_tokens, 4]), tf.ones([4, 6]), labels)
    assert sizes == {16, 32, 48}
