"""Translating a test set and judging the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import sacrebleu
import tensorflow as tf

from input_pipeline.batching import source_batches
from input_pipeline.corpus import Pair
from input_pipeline.vocabulary import WordVocabulary
from nmt.decoding import greedy
from nmt.model import Model
from nmt.types import BATCH_SPEC, Batch


class Evaluation(NamedTuple):
    """Translations in the order of the pairs, and their score."""

    pairs: list[Pair]
    translations: list[str]
    bleu: float
    signature: str


def translate(
    model: Model,
    weights: Sequence[tf.Tensor],
    pairs: Sequence[Pair],
    vocabularies: tuple[WordVocabulary, WordVocabulary],
    max_length: int,
) -> list[str]:
    """Translates every source, greedily, in batches."""

    @tf.function(input_signature=(BATCH_SPEC,), autograph=False)
    def translate_batch(batch: Batch) -> tf.Tensor:
        return greedy(model, weights, batch, max_length)

    sources = source_batches((pair.source for pair in pairs), vocabularies[0], batch_size=128)
    return [
        vocabularies[1].decode(ids) for batch in sources for ids in translate_batch(batch).numpy()
    ]


def evaluate(
    model: Model,
    weights: Sequence[tf.Tensor],
    pairs: Sequence[Pair],
    vocabularies: tuple[WordVocabulary, WordVocabulary],
    max_length: int,
) -> Evaluation:
    """Corpus BLEU of greedy translations; the text is tokenised already."""
    translations = translate(model, weights, pairs, vocabularies, max_length)
    metric = sacrebleu.metrics.BLEU(tokenize="none", force=True)  # force: tokenised on purpose
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
