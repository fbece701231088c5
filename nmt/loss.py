"""Cross entropy over real target tokens."""

from __future__ import annotations

import tensorflow as tf


def token_loss_sum(
    hidden: tf.Tensor, projection: tf.Tensor, labels: tf.Tensor, lengths: tf.Tensor
) -> tf.Tensor:
    """Sums the loss of all tokens before each sentence's end.

    Padding is taken out before the projection: it costs nothing and cannot leak.

    Args:
        hidden: decoder outputs, `[time, batch, units]`.
        projection: `[units, vocabulary]`.
        labels: `[time, batch]` ids.
        lengths: `[batch]`, real tokens of each sentence.
    """
    real = tf.transpose(tf.sequence_mask(lengths, tf.shape(labels)[0]))  # [time, batch]
    places = tf.where(tf.reshape(real, [-1]))[:, 0]  # [tokens]
    rows = tf.gather(tf.reshape(hidden, [-1, hidden.shape[-1]]), places)
    logits = tf.cast(rows @ projection, tf.float32)  # [tokens, vocabulary]
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        tf.gather(tf.reshape(labels, [-1]), places), logits
    )
    return tf.reduce_sum(losses)
