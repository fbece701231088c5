"""A parallel corpus as text: sentence pairs, read in blocks so that any size fits in memory."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

BLOCK_LINES = 16_384

Item = TypeVar("Item")


class Pair(NamedTuple):
    """One sentence and its translation."""

    source: str
    target: str


class Block(NamedTuple):
    """Some consecutive pairs, side by side; both lists are equally long."""

    sources: list[str]
    targets: list[str]


class Splits(NamedTuple):
    """Pairs to learn from, to steer by, and to be judged on; no sentence is in two of them."""

    train: list[Pair]
    dev: list[Pair]
    test: list[Pair]


class Corpus(NamedTuple):
    """Training text that can be read again and again, and pairs to judge by."""

    name: str
    blocks: Callable[[], Iterator[Block]]
    identity: tuple[str, ...] | None  # changes when the text does; None: not worth a cache
    dev: list[Pair]
    test: list[Pair]
    tokenized: bool = False  # words and punctuation are separated by spaces already


def blocks_of(items: Iterable[Item], size: int = BLOCK_LINES) -> Iterator[list[Item]]:
    """[a, b, c], 2 -> [a, b], [c]."""
    iterator = iter(items)
    while block := list(itertools.islice(iterator, size)):
        yield block


def blocks_of_pairs(pairs: Iterable[Pair]) -> Iterator[Block]:
    """Pairs at hand, as blocks."""
    for block in blocks_of(pairs):
        yield Block([pair.source for pair in block], [pair.target for pair in block])


def pairs_of_blocks(blocks: Iterable[Block]) -> list[Pair]:
    """All pairs at once, for what is known to be small."""
    return [Pair(*sides) for block in blocks for sides in zip(*block)]


def reversed_blocks(blocks: Iterable[Block]) -> Iterator[Block]:
    """The same pairs for the other direction."""
    for block in blocks:
        yield Block(block.targets, block.sources)
