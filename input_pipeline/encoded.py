"""A corpus in ids."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from input_pipeline.corpus import Block
from input_pipeline.vocabulary import EOS, Vocabulary

Vocabularies = tuple[Vocabulary, Vocabulary]

Take = Callable[[np.ndarray], np.ndarray]
"""Gives the ids at some places in the row of all ids of one side."""


class Side(NamedTuple):
    """One language of a corpus."""

    take: Take
    starts: np.ndarray  # [sentences] int64, place of the first id
    lengths: np.ndarray  # [sentences] int32


class EncodedPairs(NamedTuple):
    """A corpus in ids."""

    source: Side
    target: Side  # </s> included

    def __len__(self) -> int:
        return len(self.source.lengths)


class Selection(NamedTuple):
    """The pairs to train on, and how many were left out, and why."""

    pairs: EncodedPairs
    num_empty: int
    num_too_long: int


class Ids(NamedTuple):
    """Ids of some sentences."""

    values: np.ndarray  # [words]
    lengths: np.ndarray  # [sentences] int32


def flatten(sentences: Sequence[Sequence[int]], dtype: Any = np.int32) -> Ids:
    """[[5, 6], [7]] -> values [5, 6, 7], lengths [2, 1]."""
    lengths = np.fromiter(map(len, sentences), np.int32, len(sentences))
    joined = itertools.chain.from_iterable(sentences)
    return Ids(np.fromiter(joined, dtype, int(lengths.sum())), lengths)


def encode_block(block: Block, vocabularies: Vocabularies) -> tuple[Ids, Ids]:
    """Both sides of some pairs in ids; targets end with </s>."""
    source = flatten(vocabularies[0].encode(block.sources), id_type(vocabularies[0]))
    targets = vocabularies[1].encode(block.targets)
    for ids in targets:
        ids.append(EOS)
    return source, flatten(targets, id_type(vocabularies[1]))


def id_type(vocabulary: Vocabulary) -> Any:
    """The smallest type that holds every id."""
    return np.uint16 if len(vocabulary) <= 1 << 16 else np.int32


def in_memory(blocks: Iterable[Block], vocabularies: Vocabularies) -> EncodedPairs:
    """Encodes a corpus that is small."""
    parts = [encode_block(block, vocabularies) for block in blocks]
    return EncodedPairs(*(side_in_memory(list(ids)) for ids in zip(*parts)))


def side_in_memory(parts: Sequence[Ids]) -> Side:
    """Puts the blocks of one language together."""
    values = np.concatenate([part.values for part in parts])
    lengths = np.concatenate([part.lengths for part in parts])
    return Side(values.take, starts_of(lengths), lengths)


def starts_of(lengths: np.ndarray) -> np.ndarray:
    """[2, 1, 4] -> [0, 2, 3]."""
    starts: np.ndarray = np.cumsum(lengths, dtype=np.int64) - lengths
    return starts


def select(pairs: EncodedPairs, max_lengths: tuple[int, int]) -> Selection:
    """Leaves out pairs with an empty side, and of the others those with one that is too long."""
    source, target = pairs.source.lengths, pairs.target.lengths
    empty = (source == 0) | (target <= 1)
    too_long = ~empty & ((source > max_lengths[0]) | (target > max_lengths[1]))
    fit = ~(empty | too_long)
    sides = (Side(side.take, side.starts[fit], side.lengths[fit]) for side in pairs)
    return Selection(EncodedPairs(*sides), int(empty.sum()), int(too_long.sum()))
