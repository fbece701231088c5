"""Characters written as a vocabulary knows them: ligatures taken apart, accents put on."""

from __future__ import annotations

from collections.abc import Mapping

import tensorflow as tf

from nmt.serving.graphs.lookup import Table, characters, spans


class Rewriter(tf.Module):
    """Reads from left to right and always takes the longest sequence there is a rule for."""

    def __init__(self, rules: Mapping[str, str]) -> None:
        super().__init__()
        self.known = Table(dict.fromkeys(rules, True), tf.bool, default=False)
        self.written = Table(rules, tf.string, "")
        self.longest = max(map(len, rules), default=1)

    def __call__(self, sentences: tf.Tensor) -> tf.Tensor:
        """The same sentences, rewritten."""
        chars, _ = characters(sentences)
        found = spans(chars, self.longest, ahead=True)
        lengths = tf.where(self.known(found), tf.range(self.longest, 0, -1), 0)
        best = tf.reduce_max(lengths, axis=2)  # 0: there is no rule
        taken = tf.gather(found, self.longest - tf.maximum(best, 1), batch_dims=2)
        written = tf.where(best > 0, self.written(taken), chars)
        return tf.strings.reduce_join(tf.where(starts(best), written, ""), axis=1)


def starts(lengths: tf.Tensor) -> tf.Tensor:
    """Where something begins, if what begins at a place takes `lengths` places (0: one).

    [2, 1, 0, 1] -> [True, False, True, True]
    """

    def move(left: tf.Tensor, length: tf.Tensor) -> tf.Tensor:
        return tf.where(left > 0, left, tf.maximum(length, 1)) - 1

    left = tf.scan(move, tf.transpose(lengths), tf.zeros_like(lengths[:, 0]))
    before = tf.pad(left, [[1, 0], [0, 0]])[:-1]
    return tf.transpose(before) == 0
