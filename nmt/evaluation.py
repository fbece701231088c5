"""Translating a test set and judging the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import sacrebleu
import tensorflow as tf

from input_pipeline.batching import source_batches
from input_pipeline.corpus import Pair
from input_pipeline.vocabulary import Vocabulary
from nmt.decoding import greedy
from nmt.model import Model
from nmt.types import BATCH_SPEC, Batch


@dataclass(frozen=True)
class Translator:
    """A trained model with the vocabularies of its two languages."""

    model: Model
    weights: Sequence[tf.Tensor]
    source: Vocabulary
    target: Vocabulary
    max_length: int  # words of the longest translation

    def __call__(self, sentences: Sequence[str]) -> list[str]:
        """Translates every sentence, greedily, in batches."""

        @tf.function(input_signature=(BATCH_SPEC,), autograph=False)
        def translate_batch(batch: Batch) -> tf.Tensor:
            return greedy(self.model, self.weights, batch, self.max_length)

        return [
            self.target.decode(ids)
            for batch in source_batches(sentences, self.source, batch_size=128)
            for ids in translate_batch(batch).numpy()
        ]


class Evaluation(NamedTuple):
    """Translations in the order of the pairs, and their score."""

    pairs: list[Pair]
    translations: list[str]
    bleu: float
    signature: str


def evaluate(translator: Translator, pairs: Sequence[Pair], *, tokenized: bool) -> Evaluation:
    """Corpus BLEU of greedy translations; plain text is tokenised as sacreBLEU does by default."""
    translations = translator([pair.source for pair in pairs])
    # force: keeps sacreBLEU from warning of text that is tokenised on purpose
    tokenizer = {"tokenize": "none", "force": True} if tokenized else {}
    metric = sacrebleu.metrics.BLEU(**tokenizer)
    score = metric.corpus_score(translations, [[pair.target for pair in pairs]])
    return Evaluation(list(pairs), translations, score.score, str(metric.get_signature()))


def summary(evaluation: Evaluation, num_samples: int = 5) -> str:
    """The score and some translations of sentences the model has not seen."""
    lines = [
        f"BLEU {evaluation.bleu:.2f} on {len(evaluation.pairs):,} unseen test sentences"
        f" (greedy, sacreBLEU {evaluation.signature})"
    ]
    for pair, translation in list(zip(evaluation.pairs, evaluation.translations))[:num_samples]:
        lines += [
            "",
            f"  source      {pair.source}",
            f"  translation {translation}",
            f"  reference   {pair.target}",
        ]
    return "\n".join(lines)
