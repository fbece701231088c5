"""Sentences in, sentences out: batches of like length, the order kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from input_pipeline.vocabulary import EOS, UNK, Vocabulary
from nmt.errors import MemoryShort
from nmt.interrupt import SafePoint, go_on
from nmt.network.model import Model
from nmt.search.beam import IMPOSSIBLE, Hypotheses, Search
from nmt.search.beam_search import beam_search
from nmt.types import BATCH_SPEC, Batch

BATCH_SIZE = 64
MOST_PLACES = BATCH_SIZE * 128
"""Words of a batch, padding included: a long line does not make short ones as long."""
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
    origin: str = ""  # the checkpoint it came from

    def __call__(self, sentences: Sequence[str], safe_point: SafePoint = go_on) -> list[str]:
        """The best translation of every sentence; of an empty one, nothing."""
        return [found[0].text for found in self.n_best(sentences, safe_point)]

    def n_best(
        self,
        sentences: Sequence[str],
        safe_point: SafePoint = go_on,
        progress: Callable[[int], object] = lambda _: None,
    ) -> list[list[Translation]]:
        """Several translations of every sentence, the best first.

        `progress` is told of each batch how many sentences it had, empty ones first.
        """
        nothing = [Translation("", 0.0, 0.0)]
        results: list[list[Translation]] = [nothing] * len(sentences)
        filled = [number for number, text in enumerate(sentences) if text.strip()]
        progress(len(sentences) - len(filled))
        ids = self.source.encode([sentences[number] for number in filled])
        for rows in of_like_length([len(row) for row in ids], self.batch_size):
            safe_point()
            batch = padded([ids[row] or [UNK] for row in rows])
            for row, found in zip(rows, self.translations(self.search_for(batch))):
                results[filled[row]] = found
            progress(len(rows))
        return results

    def search_for(self, batch: Batch) -> Hypotheses:
        """Runs the search; what does not fit into memory is one line."""
        try:
            found: Hypotheses = self.translate(batch)
        except tf.errors.ResourceExhaustedError as error:
            rows, words = batch.source.shape
            raise MemoryShort(
                f"not enough memory for {rows:,} sentences of up to {words:,} words; give a "
                "smaller --batch_size or --beam_width, or shorter sentences"
            ) from error
        return found

    @cached_property
    def translate(self) -> Any:
        """The search as one graph for batches of all sizes."""

        @tf.function(input_signature=(BATCH_SPEC,), autograph=False)
        def run(batch: Batch) -> Hypotheses:
            return beam_search(self.model, self.weights, batch, self.search)

        return run

    def translations(self, found: Hypotheses) -> Iterator[list[Translation]]:
        """The text of each hypothesis of each sentence, but for places that none has come to."""
        for of_one in zip(*(part.numpy() for part in found)):
            yield [
                Translation(self.target.decode(ids), float(score), float(log_probability))
                for number, (ids, log_probability, score) in enumerate(zip(*of_one))
                if log_probability > IMPOSSIBLE or not number
            ]


def of_like_length(lengths: Sequence[int], batch_size: int) -> Iterator[list[int]]:
    """Numbers of sentences of like length, the longest first: if memory is short, at once."""
    order = sorted(range(len(lengths)), key=lambda number: -lengths[number])
    while order:
        size = max(1, min(batch_size, MOST_PLACES // max(1, lengths[order[0]])))
        yield order[:size]
        order = order[size:]


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
