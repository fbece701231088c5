"""Draws sentences: statements, questions, and clauses in clauses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from input_pipeline.corpus import Pair
from input_pipeline.demo.clause import (
    Clause,
    english_question,
    english_statement,
    german_statement,
    german_verb_first,
    german_verb_last,
)
from input_pipeline.demo.draw import Draw
from input_pipeline.demo.lexicon import CONJUNCTIONS, COORDINATIONS
from input_pipeline.demo.nouns import PEOPLE
from input_pipeline.demo.phrases import COUNTED, draw_subject
from input_pipeline.demo.sampler import (
    TENSES,
    draw_clause,
    draw_described_object,
    draw_described_subject,
)
from input_pipeline.demo.verbs import REPORTING
from input_pipeline.demo.words import Tense

MIN_TOKENS: Final = 4
MAX_TOKENS: Final = 18


def sentences(draw: Draw) -> Iterator[Pair]:
    """An endless stream of sentences of bounded length; short ones repeat."""
    while True:
        pair = draw.one(PATTERNS)(draw)
        if all(MIN_TOKENS <= text.count(" ") + 1 <= MAX_TOKENS for text in pair):
            yield pair


def finish(english: str, german: str, mark: str = ".") -> Pair:
    """Ends both sentences; of commas that meet each other or the end, one or none remains."""
    german = f"{german} {mark}".replace(" , ,", " ,").replace(f" , {mark}", f" {mark}")
    return Pair(f"{english} {mark}", german)


def _statement(draw: Draw) -> Pair:
    clause = draw_clause(draw, draw.one(TENSES), richness=0.45)
    return finish(english_statement(clause), german_statement(clause))


def _question(draw: Draw) -> Pair:
    clause = draw_clause(draw, draw.one(TENSES), richness=0.45, affirmative=True)
    clause = clause._replace(fronted=False)
    return finish(english_question(clause), german_verb_first(clause), "?")


def _describing(draw: Draw) -> Pair:
    tense = draw.one(TENSES)
    pattern = draw_described_subject if draw.chance(0.5) else draw_described_object
    clause = pattern(draw, tense)
    return finish(english_statement(clause), german_statement(clause))


def _subordinate(draw: Draw) -> Pair:
    """A main clause before or after its subordinate clause."""
    conjunction = draw.one(CONJUNCTIONS)
    main_tense, tense = draw.one(conjunction.tenses)
    main = draw_clause(draw, main_tense, richness=0.15)._replace(fronted=False)
    inner = draw_clause(draw, tense, richness=0.15)._replace(fronted=False)
    english = f"{conjunction.english} {english_statement(inner)}"
    german = f"{conjunction.german} {german_verb_last(inner)}"
    if draw.chance(0.4):
        head = f"{english} , {english_statement(main)}"
        return finish(head, f"{german} , {german_verb_first(main)}")
    return finish(f"{english_statement(main)} {english}", f"{german_statement(main)} , {german}")


def _reporting(draw: Draw) -> Pair:
    """A statement or question about what someone says or thinks."""
    tense = draw.one((Tense.PRESENT, Tense.PRESENT, Tense.PAST))
    asked = draw.chance(0.2)
    report = Clause(
        subject=draw_subject(draw, (PEOPLE,), COUNTED, adjective=0.3),
        verb=draw.one(REPORTING),
        tense=tense,
        negated=not asked and draw.chance(0.15),
    )
    inner_tense = Tense.PAST if tense is Tense.PAST else draw.one(TENSES)
    inner = draw_clause(draw, inner_tense, richness=0.2)._replace(fronted=False)
    english = f"that {english_statement(inner)}"
    german = f", dass {german_verb_last(inner)}"
    if asked:
        head = f"{english_question(report)} {english}"
        return finish(head, f"{german_verb_first(report)} {german}", "?")
    return finish(f"{english_statement(report)} {english}", f"{german_statement(report)} {german}")


def _coordinate(draw: Draw) -> Pair:
    """Two main clauses in the same tense."""
    english, german = draw.one(COORDINATIONS)
    tense = draw.one(TENSES)
    first = draw_clause(draw, tense, richness=0.15)
    second = draw_clause(draw, tense, richness=0.15)._replace(fronted=False)
    return finish(
        f"{english_statement(first)} {english} {english_statement(second)}",
        f"{german_statement(first)} {german} {german_statement(second)}",
    )


# Repetition is weight.
PATTERNS: Final[tuple[Callable[[Draw], Pair], ...]] = (
    *(_statement,) * 10,
    *(_question,) * 3,
    _describing,
    *(_subordinate,) * 3,
    *(_reporting,) * 2,
    _coordinate,
)
