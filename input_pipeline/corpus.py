"""A parallel corpus as text: sentence pairs in three splits."""

from __future__ import annotations

from typing import NamedTuple


class Pair(NamedTuple):
    """One sentence and its translation, tokens separated by single spaces."""

    source: str
    target: str


class Splits(NamedTuple):
    """Pairs to learn from, to steer by, and to be judged on; no sentence is in two of them."""

    train: list[Pair]
    dev: list[Pair]
    test: list[Pair]
