"""Translating a test set and judging the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import sacrebleu

from input_pipeline.corpus import Pair
from nmt.interrupt import SafePoint, go_on
from nmt.search.translation import Translator


class Evaluation(NamedTuple):
    """Translations in the order of the pairs, and their scores with sacreBLEU's signatures."""

    pairs: list[Pair]
    translations: list[str]
    search: str  # how they were looked for
    bleu: float
    signature: str
    chrf: float
    chrf_signature: str


def evaluate(
    translator: Translator,
    pairs: Sequence[Pair],
    *,
    tokenized: bool,
    safe_point: SafePoint = go_on,
) -> Evaluation:
    """BLEU and chrF of the corpus; plain text is tokenised as sacreBLEU does by default."""
    translations = translator([pair.source for pair in pairs], safe_point)
    # force: keeps sacreBLEU from warning of text that is tokenised on purpose
    tokenizer = {"tokenize": "none", "force": True} if tokenized else {}
    references = [[pair.target for pair in pairs]]
    scored: list[Any] = []
    for metric in (sacrebleu.metrics.BLEU(**tokenizer), sacrebleu.metrics.CHRF()):
        scored.append(metric.corpus_score(translations, references).score)
        scored.append(str(metric.get_signature()))
    width = translator.search.width
    search = "greedy" if width == 1 else f"beam of {width}"
    return Evaluation(list(pairs), translations, search, *scored)


def summary(evaluation: Evaluation, what: str, num_samples: int = 5) -> str:
    """The score and some translations; `what` says which sentences they are."""
    lines = [
        f"BLEU {evaluation.bleu:.2f} on {len(evaluation.pairs):,} {what}"
        f" ({evaluation.search}, sacreBLEU {evaluation.signature})",
        f"chrF {evaluation.chrf:.2f} ({evaluation.chrf_signature})",
    ]
    for pair, translation in list(zip(evaluation.pairs, evaluation.translations))[:num_samples]:
        lines += [
            "",
            f"  source      {pair.source}",
            f"  translation {translation}",
            f"  reference   {pair.target}",
        ]
    return "\n".join(lines)
