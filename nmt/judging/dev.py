"""A look at the dev set during training."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import tensorflow as tf

from input_pipeline.corpus import Pair
from input_pipeline.encoded import Vocabularies
from input_pipeline.vocabulary import EOS, UNK
from nmt.interrupt import SafePoint, go_on
from nmt.judging.evaluation import Evaluation, evaluate
from nmt.search.beam import Search
from nmt.search.translation import BATCH_SIZE, Translator, of_like_length, padded
from nmt.trainer import Trainer
from nmt.types import BATCH_SPEC, Batch

MOST_LOSS: Final = 80.0
"""Of what float32 has exponentials."""


class Look(NamedTuple):
    """What was found."""

    loss: float  # per target token
    evaluation: Evaluation

    @property
    def perplexity(self) -> float:
        """How many words the model wavers between."""
        return math.exp(self.loss) if self.loss < MOST_LOSS else math.inf


class DevSet:
    """Pairs that are not trained on, with the graphs that judge by them."""

    def __init__(
        self,
        trainer: Trainer,
        vocabularies: Vocabularies,
        pairs: Sequence[Pair],
        *,
        search: Search,
        tokenized: bool,
    ) -> None:
        self.pairs, self.tokenized = list(pairs), tokenized
        self.batches = make_batches(pairs, vocabularies)
        self.translator = Translator(trainer.model, trainer.weights, *vocabularies, search)
        plain = dataclasses.replace(trainer.model, dropout=0.0, label_smoothing=0.0)

        @tf.function(input_signature=(BATCH_SPEC,), autograph=False)
        def loss_sum(batch: Batch) -> tf.Tensor:
            weights = [tf.identity(weight) for weight in trainer.weights]
            return plain.loss_sum(weights, batch, tf.zeros([2], tf.int32))

        self.loss_sum, self.device = loss_sum, trainer.strategy.devices[0]

    def look(self, safe_point: SafePoint = go_on) -> Look:
        """Judges the weights as they are now."""
        total, tokens = 0.0, 0
        with tf.device(self.device):
            for batch in self.batches:
                safe_point()
                total += float(self.loss_sum(batch))
                tokens += int(np.sum(batch.target_lengths))
            found = evaluate(
                self.translator, self.pairs, tokenized=self.tokenized, safe_point=safe_point
            )
        return Look(total / max(1, tokens), found)


def name_of(pairs: Sequence[Pair]) -> str:
    """A short name for a dev set; another one, another name."""
    text = "\0".join(side for pair in pairs for side in pair)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def make_batches(pairs: Sequence[Pair], vocabularies: Vocabularies) -> list[Batch]:
    """All pairs with two sides, of like length side by side."""
    pairs = [pair for pair in pairs if pair.source.strip() and pair.target.strip()]
    sides = (
        vocabulary.encode([pair[side] for pair in pairs])
        for side, vocabulary in enumerate(vocabularies)
    )
    rows = list(zip(*sides))
    cuts = of_like_length([max(map(len, row)) for row in rows], BATCH_SIZE)
    return [make_batch([rows[number] for number in numbers]) for numbers in cuts]


def make_batch(rows: Sequence[tuple[list[int], list[int]]]) -> Batch:
    """Some pairs of ids, padded."""
    sources = [source or [UNK] for source, _ in rows]
    return padded(sources, [[*target, EOS] for _, target in rows])
