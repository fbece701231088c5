"""Cross entropy over real target tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import tensorflow as tf

from nmt.network.matmul import large_matmul

Backward = Callable[[tf.Tensor], tuple[tf.Tensor, tf.Tensor]]

# Numbers of tokens are rounded up to multiples of this: oneDNN makes, and keeps, kernels of their
# own for every size, and there are as many sizes as numbers of tokens in a batch.
ROWS_AT_ONCE: Final = 16


def token_loss_sum(
    hidden: tf.Tensor,
    projection: tf.Tensor,
    labels: tf.Tensor,
    lengths: tf.Tensor,
    smoothing: float = 0.0,
) -> tf.Tensor:
    """Sums the loss of all tokens before each sentence's end.

    Padding is taken out before the projection: it costs nothing and cannot leak.

    Args:
        hidden: decoder outputs, `[time, batch, units]`.
        projection: `[units, vocabulary]`.
        labels: `[time, batch]` ids.
        lengths: `[batch]`, real tokens of each sentence.
        smoothing: share of a label that is spread over all words.
    """
    real = tf.transpose(tf.sequence_mask(lengths, tf.shape(labels)[0]))  # [time, batch]
    places = tf.where(tf.reshape(real, [-1]))[:, 0]  # [tokens]
    rows = tf.gather(tf.reshape(hidden, [-1, hidden.shape[-1]]), places)
    wanted = tf.gather(tf.reshape(labels, [-1]), places)
    return summed_cross_entropy(rows, projection, wanted, smoothing)


def summed_cross_entropy(
    rows: tf.Tensor, projection: tf.Tensor, labels: tf.Tensor, smoothing: float = 0.0
) -> tf.Tensor:
    """Projects rows, `[tokens, units]`, and sums the loss of their labels.

    The gradient of the logits, the largest tensor of a step, is used as the softmax leaves it: what
    comes from above scales the rows instead.
    """
    num_tokens = tf.size(labels)
    rows, labels = filled_up(rows), filled_up(labels)

    @tf.custom_gradient
    def run(rows: tf.Tensor, projection: tf.Tensor) -> tuple[tf.Tensor, Backward]:
        logits = tf.cast(large_matmul(rows, projection), tf.float32)  # [tokens, vocabulary]
        losses, d_logits = cross_entropy(logits, labels, smoothing)
        d_logits = tf.cast(d_logits, rows.dtype)

        def backward(upstream: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            scale = tf.cast(upstream, rows.dtype)
            d_rows = large_matmul(d_logits, projection, transpose_b=True) * scale
            return d_rows, large_matmul(rows * scale, d_logits, transpose_a=True, batched=False)

        return tf.reduce_sum(losses[:num_tokens]), backward

    return run(rows, projection)


def filled_up(values: tf.Tensor) -> tf.Tensor:
    """Some zeros at the end; rows of zeros add nothing to a projection's gradient."""
    missing = -tf.shape(values)[0] % ROWS_AT_ONCE
    return tf.pad(values, [[0, missing]] + [[0, 0]] * (len(values.shape) - 1))


def cross_entropy(
    logits: tf.Tensor, labels: tf.Tensor, smoothing: float = 0.0
) -> tuple[tf.Tensor, tf.Tensor]:
    """Each row's loss and its gradient; `smoothing` is the share of a label that all words get."""
    probabilities, log_sum = softmax_and_log_sum(logits)
    places = tf.stack([tf.range(tf.size(labels)), labels], axis=1)
    right = (1.0 - smoothing) * tf.gather_nd(logits, places)
    gradients = tf.tensor_scatter_nd_sub(
        probabilities, places, tf.fill(tf.shape(labels), 1.0 - smoothing)
    )
    if smoothing:
        right += smoothing * tf.reduce_mean(logits, axis=1)
        gradients -= smoothing / tf.cast(tf.shape(logits)[1], tf.float32)
    return log_sum - right, gradients


def softmax_and_log_sum(logits: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Each row's probabilities, and the logarithm of the sum of its exponentials.

    TensorFlow's kernel for a loss takes four times as long on a CPU as oneDNN's softmax and two
    maxima, exponentials and their sum 1.6 times as long. The most likely entry has no small
    probability, so that its logarithm is exact.
    """
    probabilities = tf.nn.softmax(logits)
    largest = tf.reduce_max(logits, axis=1)
    return probabilities, largest - tf.math.log(tf.reduce_max(probabilities, axis=1))
