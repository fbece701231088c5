"""What a layer's gates get from its input, for all time steps before the loop.

Everything is features-major, `[time, directions, features, batch]`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import tensorflow as tf

from nmt import cpu
from nmt.lstm.layers import Layer, LayerWeights, Words, reverse

swap = tf.linalg.matrix_transpose

# Numbers of different words are rounded up to multiples of this: few sizes of matmuls occur then;
WORDS_AT_ONCE: Final = 64
# and where there are so many places, to this: without AVX-512 oneDNN multiplies fewer rows at half
# the speed.
FEWEST_WORDS: Final = 0 if "avx512f" in cpu.features() else 320


def flatten(values: tf.Tensor) -> tf.Tensor:
    """All steps of all sequences side by side: `[directions, depth, time * batch]`."""
    turned = tf.transpose(values, [1, 2, 0, 3])
    return tf.reshape(turned, [*values.shape[1:3], -1])


def unflatten(flat: tf.Tensor, like: tf.Tensor) -> tf.Tensor:
    """The opposite of `flatten`; time and batch are those of `like`."""
    num_steps, batch_size = tf.shape(like)[0], tf.shape(like)[3]
    steps = tf.reshape(flat, [*flat.shape[:2], num_steps, batch_size])
    return tf.transpose(steps, [2, 0, 1, 3])


def side_by_side(parts: Sequence[tf.Tensor], axis: int = 0) -> tf.Tensor:
    """Directions on an axis of their own; a single one is not copied, nor is its gradient."""
    return tf.expand_dims(parts[0], axis) if len(parts) == 1 else tf.stack(parts, axis)


def taken_apart(directions: tf.Tensor, axis: int = 0) -> list[tf.Tensor]:
    """The opposite of `side_by_side`."""
    single = directions.shape[axis] == 1
    return [tf.squeeze(directions, axis)] if single else tf.unstack(directions, axis=axis)


def outer_products(left: tf.Tensor, right: tf.Tensor) -> list[tf.Tensor]:
    """Sums those of all steps, one matmul a direction; both are flat."""
    pairs = zip(taken_apart(left), taken_apart(right))
    return [tf.matmul(one, other, transpose_b=True) for one, other in pairs]


def project(sequence: tf.Tensor, layer: Layer) -> tf.Tensor:
    """Multiplies all steps by the kernels of their directions, and adds the biases."""

    @tf.custom_gradient
    def run(
        sequence: tf.Tensor, *weights: tf.Tensor
    ) -> tuple[tf.Tensor, Callable[[tf.Tensor], tuple[Any, ...]]]:
        kernel, bias = map(side_by_side, (weights[: len(layer)], weights[len(layer) :]))
        flat = flatten(sequence)
        # Another axis keeps TensorFlow from folding the transpose into the matmul, slower then.
        projected = (swap(kernel)[tf.newaxis] @ flat)[0] + bias[..., tf.newaxis]

        def backward(d_projected: tf.Tensor) -> tuple[Any, ...]:
            gates = flatten(d_projected)
            d_bias = taken_apart(tf.reduce_sum(gates, axis=2))
            return unflatten(kernel @ gates, sequence), *outer_products(flat, gates), *d_bias

        return unflatten(projected, sequence), backward

    return run(sequence, *(w.kernel for w in layer), *(w.bias for w in layer))


def project_words(words: Words, lengths: tf.Tensor | None, layer: Layer) -> tf.Tensor:
    """The same for words of a table: each that occurs is multiplied once, however often it does."""
    ids, places = tf.unique(tf.reshape(words.ids, [-1]))
    places = tf.reshape(places, tf.shape(words.ids))
    rows = tf.gather(words.table, filled_up(ids, tf.size(places)))
    views = [places, reverse(places, lengths)][: len(layer)]
    return side_by_side([steps_of(rows, view, way) for view, way in zip(views, layer)], axis=1)


def filled_up(ids: tf.Tensor, num_places: tf.Tensor) -> tf.Tensor:
    """Some more ids, to a number of them that is multiplied fast; nobody reads what they become."""
    rounded = -(-tf.size(ids) // WORDS_AT_ONCE) * WORDS_AT_ONCE
    wanted = tf.maximum(rounded, tf.minimum(FEWEST_WORDS, num_places))
    return tf.pad(ids, [[0, wanted - tf.size(ids)]])


def steps_of(rows: tf.Tensor, places: tf.Tensor, weights: LayerWeights) -> tf.Tensor:
    """Projects rows and puts them where they are read: `[time, 4 * units, batch]`."""
    projected = tf.nn.bias_add(rows @ weights.kernel, weights.bias)
    return swap(tf.gather(projected, places))


def project_views(sequence: tf.Tensor, lengths: tf.Tensor | None, layer: Layer) -> tf.Tensor:
    """Projects a sequence, `[time, depth, batch]`, as each direction reads it."""
    views: Sequence[tf.Tensor] = [sequence, reverse(sequence, lengths, batch_axis=2)]
    return project(side_by_side(views[: len(layer)], axis=1), layer)
