"""Translating with a loop in Python: what a search in one graph is compared with."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import tensorflow as tf

from nmt.search.beam import Hypotheses
from nmt.search.beam_search import Running, advance, begin, end, going
from nmt.search.decoding import make_decoder
from nmt.search.translation import Translator
from nmt.types import BATCH_SPEC, Batch


class WordByWord(Translator):
    """Calls a graph for every word, and looks after each whether there is something to add."""

    @cached_property
    def translate(self) -> Any:
        """The search as a loop around graphs."""
        search = self.search
        decoder = make_decoder(self.model, self.weights)

        @tf.function(input_signature=(BATCH_SPEC,), autograph=False)
        def first(batch: Batch) -> tuple[Running, Hypotheses]:
            return begin(decoder, batch, search)

        @tf.function(autograph=False, reduce_retracing=True)
        def step(running: Running, done: Hypotheses) -> tuple[tf.Tensor, Running, Hypotheses]:
            running, done = advance(decoder, running, done, search)
            return going(running), running, done

        @tf.function(autograph=False, reduce_retracing=True)
        def last(running: Running, done: Hypotheses) -> Hypotheses:
            return end(running, done, search)

        def run(batch: Batch) -> Hypotheses:
            running, done = first(batch)
            more = True
            while more:
                more, running, done = step(running, done)
            return last(running, done)

        return run
