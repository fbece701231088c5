"""Draws noun phrases and adverbials whose words fit together."""

from __future__ import annotations

from typing import Final

from input_pipeline.demo import noun_phrase as np
from input_pipeline.demo.adjectives import PLACE as PLACE_ADJECTIVES
from input_pipeline.demo.draw import Draw
from input_pipeline.demo.lexicon import (
    ALL,
    BARE,
    EVERY,
    MANY,
    NO,
    NOT_A,
    NUMERALS,
    POSSESSIVES,
    SOME,
    THE,
    THIS,
    TIMES,
    A,
)
from input_pipeline.demo.noun_phrase import Modifier, Phrase, prepositional
from input_pipeline.demo.nouns import ANIMALS, BUILDINGS, INSIDES, PEOPLE, PLACES
from input_pipeline.demo.verbs import Frame
from input_pipeline.demo.words import (
    Case,
    Determiner,
    NounClass,
    Place,
    Tense,
    Time,
)

SUBJECTS: Final = (np.I, np.HE, np.SHE, np.WE, np.THEY)
OBJECTS: Final = (np.I, np.HE, np.WE, np.THEY)
NOT_FIRST_PERSON: Final = (np.HE, np.THEY)

# Singular and plural determiners; repetition is weight.
Determiners = tuple[tuple[Determiner, ...], tuple[Determiner, ...]]
DEFINITE: Final[Determiners] = (
    (*(THE,) * 5, THIS, *POSSESSIVES),
    (*(THE,) * 4, THIS, *POSSESSIVES),
)
COUNTED: Final[Determiners] = (
    (*DEFINITE[0], *(A,) * 5),
    (*DEFINITE[1], *(BARE,) * 6),
)
OPEN: Final[Determiners] = (
    (*COUNTED[0], EVERY, NO),
    (*COUNTED[1], MANY, SOME, ALL),
)
NEGATED: Final[Determiners] = ((NOT_A,), (NOT_A,))
LOCAL: Final = (*(THE,) * 8, A, THIS, *POSSESSIVES[:2])

TENSE_TIMES: Final = {tense: tuple(t for t in TIMES if tense in t.tenses) for tense in Tense}
BESIDE: Final = (("behind", "hinter"), ("next to", "neben"), ("in front of", "vor"))


def draw_noun(
    draw: Draw,
    nouns: NounClass,
    determiners: Determiners,
    *,
    plural: float = 0.3,
    adjective: float = 0.35,
) -> Phrase:
    """A noun phrase with a determiner of the given set."""
    is_plural = draw.chance(plural)
    determiner = draw.one(determiners[is_plural])
    described = draw.one(nouns.adjectives) if draw.chance(adjective) else None
    return np.noun_phrase(
        determiner,
        draw.one(nouns.nouns),
        plural=is_plural,
        adjective=described,
        numeral=_numeral(draw, determiner) if is_plural else ("", ""),
    )


def _numeral(draw: Draw, determiner: Determiner) -> tuple[str, str]:
    if determiner is BARE and draw.chance(0.6):
        return draw.one(NUMERALS)
    if determiner is THE and draw.chance(0.2):
        return draw.one(NUMERALS[:11])
    return "", ""


def draw_subject(
    draw: Draw, classes: tuple[NounClass, ...], determiners: Determiners, adjective: float
) -> Phrase:
    """A subject: a pronoun, a noun phrase, or two people."""
    nouns = draw.one(classes)
    if nouns is PEOPLE and draw.chance(0.25):
        return draw.one(SUBJECTS)
    if nouns is PEOPLE and draw.chance(0.03):
        first = draw_noun(draw, nouns, DEFINITE, plural=0, adjective=0)
        second = draw_noun(draw, nouns, DEFINITE, plural=0, adjective=0)
        return np.both(first, second) if first != second else first
    return draw_noun(draw, nouns, determiners, adjective=adjective)


def draw_object_pronoun(draw: Draw, subject: Phrase) -> Phrase:
    """A pronoun that does not mean the subject itself."""
    return draw.one(NOT_FIRST_PERSON if subject in (np.I, np.WE) else OBJECTS)


def draw_time(draw: Draw, tense: Tense, negated: bool) -> Time | None:
    """An adverbial of time that fits the tense, if there is one drawn."""
    time = draw.one(TENSE_TIMES[tense])
    return None if negated and not time.negatable else time


def draw_modifiers(draw: Draw, frame: Frame, chance: float) -> tuple[Modifier, ...]:
    """Adverbials the frame allows, in the order manner, company, beneficiary, place."""
    modifiers = []
    if frame.manners and draw.chance(chance * 0.5):
        manner = draw.one(frame.manners)
        modifiers.append(Modifier(manner.english, manner.german))
    elif frame.company and draw.chance(chance * 0.6):
        friend = draw_noun(draw, draw.one((PEOPLE, PEOPLE, ANIMALS)), COUNTED, adjective=0.2)
        modifiers.append(prepositional("with", "mit", friend, Case.DATIVE))
    if frame.benefit and draw.chance(chance):
        owner = draw_noun(draw, PEOPLE, COUNTED, adjective=0.2)
        modifiers.append(prepositional("for", "für", owner, Case.ACCUSATIVE))
    if frame.goal and draw.chance(0.9):
        modifiers.append(draw_goal(draw, frame.entry))
    if frame.place and draw.chance(chance):
        modifiers.append(draw_location(draw))
    return tuple(modifiers)


def draw_location(draw: Draw) -> Modifier:
    """Where something is: a preposition and a place in the dative."""
    if draw.chance(0.2):
        english, german = draw.one(BESIDE)
        place = draw.one(BUILDINGS)
    else:
        place = draw.one(PLACES)
        english, german = place.english, place.german
    return prepositional(english, german, _place(draw, place), Case.DATIVE)


def draw_goal(draw: Draw, entry: bool) -> Modifier:
    """Where someone goes: "to" with the dative, or "into" with the accusative."""
    if entry and draw.chance(0.4):
        return prepositional("into", "in", _place(draw, draw.one(INSIDES)), Case.ACCUSATIVE)
    return prepositional("to", "zu", _place(draw, draw.one(PLACES)), Case.DATIVE)


def _place(draw: Draw, place: Place) -> Phrase:
    adjective = draw.one(PLACE_ADJECTIVES) if draw.chance(0.2) else None
    return np.noun_phrase(draw.one(LOCAL), place.noun, adjective=adjective)
