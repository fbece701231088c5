"""Beam search in one graph; sentences that are settled leave the batch before it ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import tensorflow as tf

from input_pipeline.vocabulary import EOS
from nmt.network.model import Model
from nmt.search.beam import Beam, Hypotheses, Search, covered, first_beam, penalized, select
from nmt.search.decoding import Decoder, make_decoder
from nmt.types import Batch

MANY: Final = 4
"""One of so many sentences has to be settled before the others go on without it."""
CUT_OFF: Final = 1e6
"""More than any score: what separates ended hypotheses from others."""


class Running(NamedTuple):
    """Sentences that are being translated, and what is needed for them."""

    beam: Beam
    memory: Any  # Memory; () for none
    inside: tf.Tensor  # [batch, 1, source_time], where there are words
    numbers: tf.Tensor  # [batch], which sentences they are

    @property
    def settled(self) -> tf.Tensor:
        """Which of them have nothing to add."""
        return tf.reduce_all(self.beam.ended, axis=1)

    def take(self, places: tf.Tensor) -> Running:
        """Some of them, without states."""
        stateless = self._replace(beam=self.beam._replace(states=[]))
        taken: Running = tf.nest.map_structure(lambda part: tf.gather(part, places), stateless)
        return taken


def put(done: Hypotheses, running: Running, search: Search) -> Hypotheses:
    """Writes what is being translated to where it belongs."""
    beam = running.beam
    missing = tf.shape(done.ids)[2] - (tf.shape(beam.ids)[2] - 1)
    ids = tf.pad(beam.ids[:, :, 1:], [[0, 0], [0, 0], [0, missing]], constant_values=EOS)
    looked_at = covered(beam.coverage, running.inside)
    scores = penalized(search, beam.log_probabilities, beam.lengths, looked_at)
    # What was cut off has not paid for its </s>: it comes after all that have ended.
    ranks = tf.where(beam.words == EOS, scores, scores - CUT_OFF)
    order = tf.argsort(ranks, direction="DESCENDING", stable=True)
    sorted_parts = (
        tf.gather(part, order, batch_dims=1) for part in (ids, beam.log_probabilities, scores)
    )
    places = running.numbers[:, tf.newaxis]
    return Hypotheses(
        *(tf.tensor_scatter_nd_update(a, places, b) for a, b in zip(done, sorted_parts))
    )


def release(running: Running, done: Hypotheses, search: Search) -> tuple[Running, Hypotheses]:
    """Takes settled sentences out once they are many, so that others do not wait for them."""

    def part() -> tuple[Running, Hypotheses]:
        out, on = (tf.cast(tf.where(which)[:, 0], tf.int32) for which in (settled, ~settled))
        finished = put(done, running.take(out), search)
        # All states are theirs: who is settled has none.
        left = running.take(on)
        return left._replace(beam=left.beam._replace(states=running.beam.states)), finished

    settled = running.settled
    count = tf.math.count_nonzero(settled, dtype=tf.int32)
    many = MANY * count >= tf.size(settled)
    return tf.cond(many & (count > 0), part, lambda: (running, done))


def begin(decoder: Decoder, batch: Batch, search: Search) -> tuple[Running, Hypotheses]:
    """Reads the batch's sources; nothing is translated yet."""
    states, memory = decoder.start(batch)
    batch_size, source_time = tf.unstack(tf.shape(batch.source))
    limits = search.limits(batch.source_lengths)
    running = Running(
        first_beam(states, batch.source, limits, search.width),
        memory or (),
        tf.sequence_mask(batch.source_lengths, source_time)[:, tf.newaxis],
        tf.range(batch_size),
    )
    done = Hypotheses(
        tf.fill([batch_size, search.width, search.limits(source_time)], EOS),
        tf.zeros([batch_size, search.width]),
        tf.zeros([batch_size, search.width]),
    )
    return running, done


def going(running: Running) -> tf.Tensor:
    """Whether there is something to add."""
    return ~tf.reduce_all(running.settled)


def advance(
    decoder: Decoder, running: Running, done: Hypotheses, search: Search
) -> tuple[Running, Hypotheses]:
    """Adds a word to every hypothesis that has not ended."""
    beam = running.beam
    prediction = decoder.predict(beam.words, beam.rows, beam.states, running.memory or None)
    beam = select(search, beam, prediction, running.inside)
    return release(running._replace(beam=beam), done, search)


def end(running: Running, done: Hypotheses, search: Search) -> Hypotheses:
    """All translations, as long as the longest of them."""
    found = put(done, running, search)
    return found._replace(ids=found.ids[:, :, : tf.shape(running.beam.ids)[2] - 1])


def beam_search(
    model: Model, flat: Sequence[tf.Tensor], batch: Batch, search: Search
) -> Hypotheses:
    """Translates the batch's sources."""
    decoder = make_decoder(model, flat)
    first = begin(decoder, batch, search)
    running, done = tf.while_loop(
        lambda running, _: going(running),
        lambda running, done: advance(decoder, running, done, search),
        first,
        any_batch(first, search.width),
    )
    return end(running, done, search)


def any_batch(parts: tuple[Running, Hypotheses], width: int) -> Any:
    """Shapes of what a step begins with: sentences leave, translations grow."""
    shapes: Any = tf.nest.map_structure(lambda part: tf.TensorShape([None, *part.shape[1:]]), parts)
    running, done = shapes
    beam = running.beam._replace(ids=tf.TensorShape([None, width, None]))
    return running._replace(beam=beam), done
