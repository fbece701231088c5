"""From the decoder's outputs to their gradient."""

from __future__ import annotations

import tensorflow as tf

from benchmarks.parts.common import Sizes, Work, compiled, numbers
from nmt.network.loss import cross_entropy, summed_cross_entropy


def used(losses: tf.Tensor, gradients: tf.Tensor) -> tf.Tensor:
    """A number for which both have to be computed."""
    return tf.reduce_sum(losses) + gradients[0, 0]


def loss_and_gradient(sizes: Sizes) -> dict[str, Work]:
    """From logits to losses and the logits' gradient."""
    tokens = sizes.batch * sizes.time
    logits = numbers(tokens, sizes.vocabulary)
    labels = tf.random.uniform([tokens], 0, sizes.vocabulary, tf.int32)

    def own(values: tf.Tensor) -> tf.Tensor:
        return used(*cross_entropy(values, labels))

    def kernel(values: tf.Tensor) -> tf.Tensor:
        return used(*tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(features=values, labels=labels))

    def by_hand(values: tf.Tensor) -> tf.Tensor:
        largest = tf.reduce_max(values, axis=1, keepdims=True)
        powers = tf.exp(values - largest)
        sums = tf.reduce_sum(powers, axis=1, keepdims=True)
        places = tf.stack([tf.range(tokens), labels], axis=1)
        right = tf.gather_nd(values, places)
        losses = (tf.math.log(sums) + largest)[:, 0] - right
        return used(losses, tf.tensor_scatter_nd_sub(powers / sums, places, tf.ones([tokens])))

    return {
        "oneDNN's softmax and two maxima": compiled(own, logits),
        "TensorFlow's kernel for both": compiled(kernel, logits),
        "exponentials and sums": compiled(by_hand, logits),
    }


def projection_and_loss(sizes: Sizes) -> dict[str, Work]:
    """From the decoder's outputs to the loss, and back to them and to the projection."""
    tokens = sizes.batch * sizes.time
    hidden, projection = numbers(tokens, sizes.units), numbers(sizes.units, sizes.vocabulary)
    labels = tf.random.uniform([tokens], 0, sizes.vocabulary, tf.int32)

    def in_slices(length: int) -> Work:
        def run(rows: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                tape.watch([rows, weights])
                total = tf.add_n(
                    [
                        summed_cross_entropy(
                            rows[at : at + length], weights, labels[at : at + length]
                        )
                        for at in range(0, tokens, length)
                    ]
                )
            gradients = tape.gradient(total, [rows, weights])
            return tf.add_n([tf.reduce_sum(gradient[:1]) for gradient in gradients])

        return compiled(run, hidden, projection)

    slices = {f"in slices of {length}": in_slices(length) for length in (128, 256)}
    return {"all tokens at once": in_slices(tokens), **slices}
