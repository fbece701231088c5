"""How SentencePiece cuts text into pieces, as graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import tensorflow as tf

from input_pipeline.vocabulary import UNK
from nmt.serving.graphs.lookup import Table, characters, shifted, spans

UNKNOWN_PENALTY: Final = 10.0  # an unknown character is so much worse than the worst piece
NOWHERE: Final = -1


class Characters(tf.Module):
    """Every character is a piece."""

    def __init__(self, pieces: Mapping[str, int], scores: Sequence[float]) -> None:
        super().__init__()
        self.find = Table(pieces, tf.int32, UNK)

    def __call__(self, text: tf.Tensor) -> tf.RaggedTensor:
        """Ids of sentences."""
        chars, _ = characters(text)
        return gathered(tf.where(chars == "", NOWHERE, self.find(chars)))


class Unigram(tf.Module):
    """The most likely pieces: Viterbi's algorithm, from left to right."""

    def __init__(self, pieces: Mapping[str, int], scores: Sequence[float]) -> None:
        super().__init__()
        self.find = Table(pieces, tf.int32, UNK)
        self.scores = tf.constant(scores, tf.float32)
        self.unknown = min(scores[i] for i in pieces.values()) - UNKNOWN_PENALTY
        self.longest = max(map(len, pieces))

    def __call__(self, text: tf.Tensor) -> tf.RaggedTensor:
        """Ids of sentences."""
        chars, lengths = characters(text)
        found = spans(chars, self.longest, ahead=False)  # [sentences, time, longest]
        ids = self.find(found)
        scores = tf.where(ids == UNK, -float("inf"), tf.gather(self.scores, ids))
        one = tf.range(self.longest) == self.longest - 1
        scores = tf.where(one & (ids == UNK), self.unknown, scores)
        scores = tf.where(found == "", -float("inf"), scores)
        places = self.best_ends(tf.transpose(scores, [1, 0, 2]))  # [time, sentences]
        taken = self.path(places, lengths)  # [sentences, time], whether a piece ends there
        chosen = tf.gather(ids, tf.transpose(places), batch_dims=2)
        return gathered(tf.where(taken, chosen, NOWHERE))

    def best_ends(self, scores: tf.Tensor) -> tf.Tensor:
        """Which piece the best way to each place ends with; of equal ones the longest."""
        # The best scores at the last places: [sentences, longest], the farthest first.
        before = tf.fill(tf.shape(scores)[1:], -float("inf"))
        before = tf.concat([before[:, 1:], tf.zeros_like(before[:, :1])], axis=1)
        nothing = tf.zeros(tf.shape(scores)[1:2], tf.int64)

        def move(state: tuple[tf.Tensor, ...], now: tf.Tensor) -> tuple[tf.Tensor, ...]:
            sums = state[0] + now
            best = tf.reduce_max(sums, axis=1, keepdims=True)
            return tf.concat([state[0][:, 1:], best], axis=1), tf.argmax(sums, axis=1)

        _, places = tf.scan(move, scores, (before, nothing))
        return tf.cast(places, tf.int32)

    def path(self, places: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
        """Goes back from each sentence's end, a piece at a time."""
        times = tf.range(1, tf.shape(places)[0] + 1)

        def move(state: tuple[tf.Tensor, ...], now: tuple[tf.Tensor, ...]) -> tuple[tf.Tensor, ...]:
            end, (time, place) = state[0], now
            taken = end == time
            return tf.where(taken, end - (self.longest - place), end), taken

        nothing = tf.zeros_like(lengths, tf.bool)
        _, taken = tf.scan(move, (times, places), (lengths, nothing), reverse=True)
        return tf.transpose(taken)


class Bpe(tf.Module):
    """Neighbours grow together, always the pair whose piece has the highest score."""

    def __init__(self, pieces: Mapping[str, int], scores: Sequence[float]) -> None:
        super().__init__()
        self.find = Table(pieces, tf.int32, UNK)
        self.scores = tf.constant(scores, tf.float32)

    def __call__(self, text: tf.Tensor) -> tf.RaggedTensor:
        """Ids of sentences."""
        symbols, _ = characters(text)
        going_on = tf.constant(True)
        shape = tf.TensorShape([None, None])
        symbols, _ = tf.while_loop(
            lambda _, going_on: going_on,
            lambda symbols, _: self.merge(symbols),
            (symbols, going_on),
            shape_invariants=(shape, going_on.shape),
        )
        return gathered(tf.where(symbols == "", NOWHERE, self.find(symbols)))

    def merge(self, symbols: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Joins the best pair of every sentence; whether there was any."""
        after = shifted(symbols, -1)
        pairs = tf.where(after == "", "", tf.strings.join([symbols, after]))
        ids = self.find(pairs)
        scores = tf.where(ids == UNK, -float("inf"), tf.gather(self.scores, ids))
        best = tf.argmax(scores, axis=1, output_type=tf.int32)[:, tf.newaxis]
        some = tf.reduce_any(ids != UNK, axis=1, keepdims=True)
        place = tf.range(tf.shape(symbols)[1])[tf.newaxis]
        merged = tf.where(place == best, pairs, tf.where(place > best, after, symbols))
        return tf.where(some, merged, symbols), tf.reduce_any(some)


def gathered(ids: tf.Tensor) -> tf.RaggedTensor:
    """Ids without empty places; unknown ones side by side are one, as SentencePiece has it."""
    some = tf.ragged.boolean_mask(ids, ids != NOWHERE)
    dense = some.to_tensor(NOWHERE)
    before = tf.pad(dense, [[0, 0], [1, 0]], constant_values=NOWHERE)[:, :-1]
    return tf.ragged.boolean_mask(dense, (dense != NOWHERE) & ~((dense == UNK) & (before == UNK)))


Segmenter = Callable[[tf.Tensor], tf.RaggedTensor]

SEGMENTERS: Final[dict[int, Callable[[Mapping[str, int], Sequence[float]], Segmenter]]] = {
    1: Unigram,
    2: Bpe,
    4: Characters,
}
"""By SentencePiece's number for the kind of model."""
