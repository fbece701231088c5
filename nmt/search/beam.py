"""One step of beam search: several translations of each sentence grow side by side.

Every sentence has `width` hypotheses. One that has ended stays as it is and keeps its place while
no others score better. With one hypothesis this is greedy translation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import tensorflow as tf

from input_pipeline.vocabulary import BOS, EOS
from nmt.config import LENGTH_FACTOR, SPARE_WORDS
from nmt.network.lstm.layers import State
from nmt.search.decoding import Prediction, Rows, rows_of

CHUNKS: Final = (64, *range(48, 97))
"""Entries that are looked at together: so many that a vocabulary is not copied to be filled up."""


IMPOSSIBLE: Final = 0.5 * tf.float32.min
"""No translation is less likely: a beam has empty places where there are fewer than its width."""


class Search(NamedTuple):
    """How translations are looked for."""

    width: int = 1
    max_length: int = 50  # words, </s> included
    length_penalty: float = 0.0  # of GNMT: log-probabilities are divided by ((5 + n) / 6) ** this
    coverage_penalty: float = 0.0  # of GNMT: for source words that nobody looked at
    length_factor: int = 0  # relative to the source's words, if not 0: see `limits`

    def limits(self, source_lengths: tf.Tensor) -> tf.Tensor:
        """Words of the longest translation of each source."""
        usual = tf.fill(tf.shape(source_lengths), self.max_length)
        if not self.length_factor:
            return usual
        scaled = self.length_factor * source_lengths
        return tf.clip_by_value(usual, scaled, scaled + SPARE_WORDS)


def long_enough(trained_length: int) -> Search:
    """A greedy search that does not cut off what is longer than the sentences of training."""
    return Search(max_length=trained_length, length_factor=LENGTH_FACTOR)


class Hypotheses(NamedTuple):
    """Translations of a batch, the best of each sentence first."""

    ids: tf.Tensor  # [batch, width, time], </s> from a translation's end on
    log_probabilities: tf.Tensor  # [batch, width], of all words, </s> included
    scores: tf.Tensor  # [batch, width], with the penalties


class Beam(NamedTuple):
    """All hypotheses after some steps."""

    ids: tf.Tensor  # [batch, width, time]
    log_probabilities: tf.Tensor  # [batch, width]
    lengths: tf.Tensor  # [batch, width], float32
    coverage: tf.Tensor  # [batch, width, source_time]: how much each source word was looked at
    limits: tf.Tensor  # [batch], int32: words of the longest translation of each sentence
    states: list[State]  # [rows, units]

    @property
    def words(self) -> tf.Tensor:
        """The latest word of each."""
        return self.ids[:, :, -1]

    @property
    def ended(self) -> tf.Tensor:
        """Which of them have ended, are as long as they may be, or are places without any."""
        full = tf.shape(self.ids)[2] - 1 >= self.limits
        empty = self.log_probabilities <= IMPOSSIBLE
        return (self.words == EOS) | full[:, tf.newaxis] | empty

    @property
    def rows(self) -> Rows:
        """Where the states of all others are."""
        return rows_of(~self.ended)


class Grown(NamedTuple):
    """Candidates for the next beam: so many words for each hypothesis."""

    words: tf.Tensor  # [batch, width, candidates]
    log_probabilities: tf.Tensor  # the same


def first_beam(states: Sequence[State], source: tf.Tensor, limits: tf.Tensor, width: int) -> Beam:
    """One hypothesis for each sentence, which has only begun, and places for others."""
    batch_size, source_time = tf.unstack(tf.shape(source))
    alone = tf.where(tf.range(width) == 0, 0.0, tf.float32.min)
    return Beam(
        ids=tf.fill([batch_size, width, 1], BOS),
        log_probabilities=tf.tile(alone[tf.newaxis], [batch_size, 1]),
        lengths=tf.zeros([batch_size, width]),
        coverage=tf.zeros([batch_size, width, source_time]),
        limits=limits,
        states=list(states),
    )


def top_entries(rows: tf.Tensor, count: int) -> tuple[tf.Tensor, tf.Tensor]:
    """The largest entries of each row and their places, as `top_k` gives them.

    They are in the chunks with the largest maxima: to look there alone is faster.
    """
    size = rows.shape[1]
    chunk = max(CHUNKS, key=lambda each: (size % each == 0, -abs(each - CHUNKS[0])))
    if size <= 2 * count * chunk:
        return tuple(tf.math.top_k(rows, count))
    filled = tf.pad(rows, [[0, 0], [0, -size % chunk]], constant_values=rows.dtype.min)
    chunks = tf.reshape(filled, [-1, -(-size // chunk), chunk])
    # In their order, so that of equal entries the first is found.
    which = tf.sort(tf.math.top_k(tf.reduce_max(chunks, axis=2), count, sorted=False).indices)
    within = tf.reshape(tf.gather(chunks, which, batch_dims=1), [-1, count * chunk])
    found, places = tf.math.top_k(within, count)
    return found, tf.gather(which, places // chunk, batch_dims=1) * chunk + places % chunk


def grow(scores: tf.Tensor, beam: Beam, width: int) -> Grown:
    """The best words after each hypothesis; one that has ended goes on with </s> alone."""
    found, words = top_entries(scores, min(width, scores.shape[1]))
    # Only what is found needs a log-probability; the likeliest word's gives all others'.
    likeliest = tf.gather(tf.nn.softmax(scores), words[:, :1], batch_dims=1)
    found = beam.rows.spread(found - found[:, :1] + tf.math.log(likeliest))
    words = beam.rows.spread(words)
    ended = beam.ended[:, :, tf.newaxis]
    first = tf.range(tf.shape(words)[2]) == 0
    found = tf.where(ended, tf.where(first, 0.0, tf.float32.min), found)
    total = tf.maximum(beam.log_probabilities[:, :, tf.newaxis] + found, tf.float32.min)
    return Grown(tf.where(ended, EOS, words), total)


def penalized(
    search: Search, log_probabilities: tf.Tensor, lengths: tf.Tensor, covered: tf.Tensor
) -> tf.Tensor:
    """What hypotheses are ranked by; `covered` is what GNMT adds for coverage."""
    longer = tf.pow((5.0 + lengths) / 6.0, search.length_penalty)
    return log_probabilities / longer + search.coverage_penalty * covered


def covered(coverage: tf.Tensor, inside: tf.Tensor) -> tf.Tensor:
    """The sum of log(min(coverage, 1)) over source words, `[batch, width]`."""
    logs = tf.math.log(tf.clip_by_value(coverage, 1e-6, 1.0))
    return tf.reduce_sum(tf.where(inside, logs, 0.0), axis=2)


def select(search: Search, beam: Beam, prediction: Prediction, inside: tf.Tensor) -> Beam:
    """The best of all candidates."""
    width, ended = search.width, beam.ended
    grown = grow(prediction.scores, beam, width)
    lengths = beam.lengths + tf.where(ended, 0.0, 1.0)
    coverage = beam.coverage
    if prediction.shares is not None:
        coverage += tf.where(ended[:, :, tf.newaxis], 0.0, prediction.shares)
    ranks = penalized(
        search,
        grown.log_probabilities,
        lengths[:, :, tf.newaxis],
        covered(coverage, inside)[:, :, tf.newaxis],
    )
    batch_size, candidates = tf.shape(ranks)[0], tf.shape(ranks)[2]
    best = tf.math.top_k(tf.reshape(ranks, [batch_size, -1]), width).indices
    parents = best // candidates

    def chosen(values: tf.Tensor) -> tf.Tensor:
        return tf.gather(tf.reshape(values, [batch_size, -1]), best, batch_dims=1)

    def of_parents(values: tf.Tensor) -> tf.Tensor:
        return tf.gather(values, parents, batch_dims=1)

    ids = tf.concat([of_parents(beam.ids), chosen(grown.words)[:, :, tf.newaxis]], axis=2)
    new = Beam(
        ids,
        chosen(grown.log_probabilities),
        of_parents(lengths),
        of_parents(coverage),
        beam.limits,
        states=[],
    )
    kept = new.rows.pick(of_parents(beam.rows.of_place))
    states = [State(*(tf.gather(part, kept) for part in state)) for state in prediction.states]
    return new._replace(states=states)
