"""Translating a test set and judging the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import sacrebleu

from input_pipeline.corpus import Pair
from nmt.translation import Translator


class Evaluation(NamedTuple):
    """Translations in the order of the pairs, and their score."""

    pairs: list[Pair]
    translations: list[str]
    bleu: float
    signature: str


def evaluate(translator: Translator, pairs: Sequence[Pair], *, tokenized: bool) -> Evaluation:
    """Corpus BLEU of translations; plain text is tokenised as sacreBLEU does by default."""
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
