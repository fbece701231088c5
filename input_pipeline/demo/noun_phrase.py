"""Noun phrases, pronouns and prepositional phrases in both languages."""

from __future__ import annotations

import functools
from typing import Final, NamedTuple

from input_pipeline.demo.lexicon import ARTICLE, THE
from input_pipeline.demo.words import Adjective, Agreement, Case, Column, Determiner, Noun

CONTRACTIONS: Final = {
    "in dem": "im",
    "an dem": "am",
    "zu dem": "zum",
    "zu der": "zur",
    "in das": "ins",
}


class Phrase(NamedTuple):
    """A subject or object: English as either, German by case, and what it makes others agree to."""

    english: str
    english_object: str
    german: tuple[str, ...]
    agreement: Agreement
    column: Column
    pronoun: bool = False
    definite: bool = False


class Modifier(NamedTuple):
    """An adverbial or predicate in both languages."""

    english: str
    german: str


def _pronoun(english: str, english_object: str, german: str, agreement: Agreement) -> Phrase:
    column = Column.PLURAL if agreement is Agreement.PLURAL else Column.MASCULINE
    return Phrase(english, english_object, tuple(german.split()), agreement, column, pronoun=True)


I: Final = _pronoun("I", "me", "ich mich mir", Agreement.FIRST)  # noqa: E741
HE: Final = _pronoun("he", "him", "er ihn ihm", Agreement.THIRD)
# "her" is taken by the possessive, so "she" is never an object.
SHE: Final = _pronoun("she", "", "sie sie ihr", Agreement.THIRD)
WE: Final = _pronoun("we", "us", "wir uns uns", Agreement.PLURAL)
THEY: Final = _pronoun("they", "them", "sie sie ihnen", Agreement.PLURAL)


def join(*parts: str) -> str:
    """Joins the parts that are not empty with single spaces."""
    return " ".join(filter(None, parts))


@functools.cache
def noun_forms(noun: Noun, plural: bool) -> tuple[str, str, str]:
    """The German noun in nominative, accusative and dative."""
    if plural:
        dative = noun.german_plural + "n" * (noun.german_plural[-1] not in "ns")
        return noun.german_plural, noun.german_plural, dative
    oblique = noun.german_plural if noun.weak else noun.german
    return noun.german, oblique, oblique


def noun_phrase(
    determiner: Determiner,
    noun: Noun,
    *,
    plural: bool = False,
    adjective: Adjective | None = None,
    numeral: tuple[str, str] = ("", ""),
) -> Phrase:
    """The noun with its determiner, numeral and adjective, all agreeing."""
    column = Column.PLURAL if plural else noun.gender
    stem = (adjective.stem or adjective.german) if adjective else ""

    declined = noun_forms(noun, plural)

    def german(case: int) -> str:
        adjective_form = stem and stem + determiner.adjective_endings[case][column]
        return join(determiner.german[case][column], numeral[1], adjective_form, declined[case])

    english = _english(determiner, noun, plural, adjective, numeral[0])
    agreement = Agreement.PLURAL if plural else Agreement.THIRD
    forms = (german(0), german(1), german(2))
    return Phrase(english, english, forms, agreement, column, definite=determiner is THE)


def _english(
    determiner: Determiner, noun: Noun, plural: bool, adjective: Adjective | None, numeral: str
) -> str:
    article = determiner.english_plural if plural else determiner.english
    head = noun.english_plural if plural else noun.english
    rest = join(numeral, adjective.english if adjective else "", head)
    return join("an" if article == "a" and rest[0] in "aeiou" else article, rest)


def both(first: Phrase, second: Phrase) -> Phrase:
    """The two phrases joined by "and", a plural subject."""
    english = f"{first.english} and {second.english}"
    german = tuple(f"{a} und {b}" for a, b in zip(first.german, second.german, strict=True))
    return Phrase(english, english, german, Agreement.PLURAL, Column.PLURAL)


def relative_pronoun(head: Phrase, person: bool) -> Phrase:
    """The subject of a clause that describes `head`."""
    english = "who" if person else "which"
    german = tuple(row[head.column] for row in ARTICLE)
    return Phrase(english, english, german, head.agreement, head.column)


def prepositional(english: str, german: str, phrase: Phrase, case: Case) -> Modifier:
    """The phrase after a preposition, contracted as in "im Garten"."""
    text = f"{german} {phrase.german[case]}"
    first_two = " ".join(text.split(" ", 2)[:2])
    if phrase.definite and first_two in CONTRACTIONS:
        text = CONTRACTIONS[first_two] + text[len(first_two) :]
    return Modifier(f"{english} {phrase.english_object}", text)
