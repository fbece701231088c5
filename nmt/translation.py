"""Sentences in, sentences out: batches of like length, the order kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from input_pipeline.vocabulary import EOS, UNK, Vocabulary
from nmt.beam import Hypotheses, Search
from nmt.beam_search import beam_search
from nmt.interrupt import SafePoint, go_on
from nmt.model import Model
from nmt.types import BATCH_SPEC, Batch

BATCH_SIZE = 64
GREEDY = Search()


class Translation(NamedTuple):
    """One way to say a sentence."""

    text: str
    score: float
    log_probability: float


@dataclass(frozen=True)
class Translator:
    """A trained model with the vocabularies of its two languages."""

    model: Model
    weights: Sequence[tf.Tensor]
    source: Vocabulary
    target: Vocabulary
    search: Search = GREEDY
    batch_size: int = BATCH_SIZE

    def __call__(self, sentences: Sequence[str], safe_point: SafePoint = go_on) -> list[str]:
        """The best translation of every sentence; of an empty one, nothing."""
        return [found[0].text for found in self.n_best(sentences, safe_point)]

    def n_best(
        self, sentences: Sequence[str], safe_point: SafePoint = go_on
    ) -> list[list[Translation]]:
        """Several translations of every sentence, the best first."""
        nothing = [Translation("", 0.0, 0.0)]
        results: list[list[Translation]] = [nothing] * len(sentences)
        filled = [number for number, text in enumerate(sentences) if text.strip()]
        ids = self.source.encode([sentences[number] for number in filled])
        for rows in self.batches([len(row) for row in ids]):
            safe_point()
            batch = padded([ids[row] or [UNK] for row in rows])
            for row, found in zip(rows, self.translations(self.translate(batch))):
                results[filled[row]] = found
        return results

    def batches(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        """Numbers of sentences of like length, the longest first: if memory is short, at once."""
        order = sorted(range(len(lengths)), key=lambda number: -lengths[number])
        for begin in range(0, len(order), self.batch_size):
            yield order[begin : begin + self.batch_size]

    @cached_property
    def translate(self) -> Any:
        """The search as one graph for batches of all sizes."""

        @tf.function(input_signature=(BATCH_SPEC,), autograph=False)
        def run(batch: Batch) -> Hypotheses:
            return beam_search(self.model, self.weights, batch, self.search)

        return run

    def translations(self, found: Hypotheses) -> Iterator[list[Translation]]:
        """The text of each hypothesis of each sentence."""
        for of_one in zip(*(part.numpy() for part in found)):
            yield [
                Translation(self.target.decode(ids), float(score), float(log_probability))
                for ids, log_probability, score in zip(*of_one)
            ]


def padded(sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]] = ()) -> Batch:
    """A batch of ids; what is only to be translated has no targets."""
    sides = sources, targets or [[EOS]] * len(sources)
    return Batch(*(part for rows in sides for part in padded_side(rows)))


def padded_side(rows: Sequence[Sequence[int]]) -> tuple[tf.Tensor, tf.Tensor]:
    """Ids, `[rows, longest]`, and lengths."""
    lengths = np.array([len(row) for row in rows], np.int32)
    ids = np.zeros([len(rows), lengths.max()], np.int32)
    for place, row in zip(ids, rows):
        place[: len(row)] = row
    return tf.constant(ids), tf.constant(lengths)
