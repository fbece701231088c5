"""What a layer's gates get from its input, for all time steps before the loop.

Sequences are `[time, matrix]` (`columns`), for each direction by itself. What comes out is
`[time, directions, matrix]`, or as a matmul leaves it: `[directions, features, time * batch]`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import tensorflow as tf

from nmt.machine import cpu
from nmt.network.lstm import columns
from nmt.network.lstm.layers import Layer, LayerWeights, Words, reverse

# Numbers of different words are rounded up to multiples of this: few sizes of matmuls occur then;
WORDS_AT_ONCE: Final = 64
# and where there are so many places, to this: without AVX-512 oneDNN multiplies fewer rows at half
# the speed.
FEWEST_WORDS: Final = 0 if "avx512f" in cpu.features() else 320


def side_by_side(parts: Sequence[tf.Tensor], axis: int = 0) -> tf.Tensor:
    """Directions on an axis of their own; a single one is not copied, nor is its gradient."""
    return tf.expand_dims(parts[0], axis) if len(parts) == 1 else tf.stack(parts, axis)


def taken_apart(directions: tf.Tensor, axis: int = 0) -> list[tf.Tensor]:
    """The opposite of `side_by_side`."""
    single = directions.shape[axis] == 1
    return [tf.squeeze(directions, axis)] if single else tf.unstack(directions, axis=axis)


def project(sequence: tf.Tensor, weights: LayerWeights) -> tf.Tensor:
    """Multiplies all steps by one direction's kernel, and adds its bias; leaves them flat."""

    @tf.custom_gradient
    def run(
        sequence: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor
    ) -> tuple[tf.Tensor, Callable[[tf.Tensor], tuple[Any, ...]]]:
        flat = columns.flatten(sequence)

        def backward(gates: tf.Tensor) -> tuple[Any, ...]:
            batch_size = tf.shape(sequence)[columns.BATCH]
            d_sequence = columns.unflatten(columns.project_back(gates, kernel), batch_size)
            return d_sequence, columns.outer(flat, gates), tf.reduce_sum(gates, axis=columns.BATCH)

        return columns.project(flat, kernel, bias), backward

    return run(sequence, weights.kernel, weights.bias)


def project_words(words: Words, lengths: tf.Tensor | None, layer: Layer) -> tf.Tensor:
    """Projects words of a table; each that occurs is multiplied once, however often it does.

    Gives `[time, directions, matrix]`.
    """
    ids, places = tf.unique(tf.reshape(words.ids, [-1]))
    places = tf.reshape(places, tf.shape(words.ids))
    rows = tf.gather(words.table, filled_up(ids, tf.size(places)))
    views = [places, reverse(places, lengths)][: len(layer)]
    steps = [steps_of(rows, view, way) for view, way in zip(views, layer)]
    return side_by_side([columns.turn(each) for each in steps], axis=1)


def filled_up(ids: tf.Tensor, num_places: tf.Tensor) -> tf.Tensor:
    """Some more ids, to a number of them that is multiplied fast; nobody reads what they become."""
    rounded = -(-tf.size(ids) // WORDS_AT_ONCE) * WORDS_AT_ONCE
    wanted = tf.maximum(rounded, tf.minimum(FEWEST_WORDS, num_places))
    return tf.pad(ids, [[0, wanted - tf.size(ids)]])


def steps_of(rows: tf.Tensor, places: tf.Tensor, weights: LayerWeights) -> tf.Tensor:
    """Projects rows and puts them where they are read: `[time, batch, 4 * units]`."""
    # Not by bias_add, whose gradient is a sum in 16 bits where values have 16.
    return repeat(rows @ weights.kernel + weights.bias, places)


def repeat(rows: tf.Tensor, places: tf.Tensor) -> tf.Tensor:
    """Copies rows to all their places.

    Gradients are added up in float32: in 16 bits the sum of a word that is often there, such as
    <s>, would stop growing.
    """

    @tf.custom_gradient
    def run(rows: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
        def backward(gradients: tf.Tensor) -> tf.Tensor:
            wide = tf.cast(gradients, tf.float32)
            total = tf.math.unsorted_segment_sum(wide, places, tf.shape(rows)[0])
            return tf.cast(total, rows.dtype)

        return tf.gather(rows, places), backward

    return run(rows)


def project_views(sequence: tf.Tensor, lengths: tf.Tensor | None, layer: Layer) -> tf.Tensor:
    """Projects a sequence as each direction reads it: `[directions, features, time * batch]`."""
    views = [sequence]
    if len(layer) == 2:
        views.append(reverse(sequence, lengths, columns.BATCH_OF_THREE))
    return side_by_side([project(view, way) for view, way in zip(views, layer)])
