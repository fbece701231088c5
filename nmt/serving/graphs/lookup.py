"""Strings looked up inside a graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf


class Table(tf.Module):
    """A fixed table with an answer for what is not in it."""

    def __init__(self, entries: Mapping[str, Any], kind: tf.DType, default: Any) -> None:
        super().__init__()
        filled = dict(entries) or {"": default}  # an empty table cannot be made
        keys, values = tf.constant(list(filled)), tf.constant(list(filled.values()), kind)
        self.table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(keys, values), default
        )

    def __call__(self, keys: tf.Tensor) -> tf.Tensor:
        """What the keys stand for."""
        return self.table.lookup(keys)


def characters(text: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Single characters, `[sentences, time]`, at least one place, and how many there are."""
    split = tf.strings.unicode_split(text, "UTF-8", errors="replace")
    chars = tf.pad(split.to_tensor(""), [[0, 0], [0, 1]], constant_values="")
    return chars, tf.cast(split.row_lengths(), tf.int32)


def shifted(values: tf.Tensor, places: int) -> tf.Tensor:
    """Row by row so many places to the right (to the left, if negative), filled with ""."""
    width = tf.shape(values)[1]
    before, after = max(places, 0), max(-places, 0)
    wide = tf.pad(values, [[0, 0], [before, after]], constant_values="")
    return wide[:, after : after + width]


def spans(chars: tf.Tensor, longest: int, *, ahead: bool) -> tf.Tensor:
    """Up to `longest` characters that end at each place, or begin there: the longest first.

    Gives `[sentences, time, longest]`; what reaches over a sentence's end is "".
    """
    found = [chars]
    for length in range(1, longest):
        more = shifted(chars, -length if ahead else length)
        joined = tf.strings.join([found[-1], more] if ahead else [more, found[-1]])
        found.append(tf.where((more == "") | (found[-1] == ""), "", joined))
    return tf.stack(found[::-1], axis=2)
