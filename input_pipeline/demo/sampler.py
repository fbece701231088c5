"""Draws whole clauses: a verb, its subject and objects, tense, negation and adverbials."""

from __future__ import annotations

from typing import Final

from input_pipeline.demo.clause import Clause, english_statement, german_verb_last
from input_pipeline.demo.draw import Draw
from input_pipeline.demo.lexicon import DEGREES
from input_pipeline.demo.noun_phrase import Modifier, Phrase, join, relative_pronoun
from input_pipeline.demo.nouns import (
    ANIMALS,
    CLOSABLE,
    CLOTHING,
    DEVICES,
    FOOD,
    PEOPLE,
    READING,
    THINGS,
)
from input_pipeline.demo.phrases import (
    COUNTED,
    DEFINITE,
    NEGATED,
    OPEN,
    draw_location,
    draw_modifiers,
    draw_noun,
    draw_object_pronoun,
    draw_subject,
    draw_time,
)
from input_pipeline.demo.verbs import (
    ACTIVITY,
    ARRIVAL,
    BE,
    DITRANSITIVE,
    JOURNEY,
    REST,
    TRANSITIVE,
    WALK,
    Frame,
)
from input_pipeline.demo.words import Tense, Verb

# Repetition is weight.
FRAMES: Final = (
    *(ACTIVITY,) * 2,
    *(REST,) * 2,
    ARRIVAL,
    *(WALK,) * 2,
    JOURNEY,
    *TRANSITIVE,
    *(DITRANSITIVE,) * 3,
)
ANIMAL_FRAMES: Final = tuple(frame for frame in FRAMES if ANIMALS in frame.subjects)
FRAMES_WITH_PERSON: Final = tuple(frame for frame in TRANSITIVE if PEOPLE in frame.objects)
THINGS_THAT_ARE: Final = (FOOD, READING, THINGS, DEVICES, CLOTHING, CLOSABLE)
TENSES: Final = (*(Tense.PRESENT,) * 4, *(Tense.PAST,) * 3, *(Tense.FUTURE,) * 2, *tuple(Tense)[3:])
FACTUAL: Final = (Tense.PRESENT, Tense.PAST, Tense.FUTURE)


def draw_clause(draw: Draw, tense: Tense, *, richness: float, affirmative: bool = False) -> Clause:
    """A clause in the given tense; `richness` is how likely it has each optional part."""
    # "must not" is "darf nicht": another verb, so it is left out.
    negatable = not affirmative and tense is not Tense.MUST
    negated = negatable and draw.chance(0.15)
    if tense in FACTUAL and draw.chance(0.12):
        return _draw_copula(draw, tense, negated, richness)
    return _draw_action(draw, draw.one(FRAMES), tense, negated, richness)


def _draw_copula(draw: Draw, tense: Tense, negated: bool, richness: float) -> Clause:
    alive = draw.chance(0.6)
    nouns = draw.one((PEOPLE, ANIMALS) if alive else THINGS_THAT_ARE)
    subject = draw_subject(draw, (nouns,), COUNTED, adjective=0)
    clause = Clause(subject=subject, verb=BE, tense=tense, negated=negated)
    if alive and draw.chance(0.3):
        clause = clause._replace(predicate=draw_location(draw))
    else:
        degree, adjective = draw.one(DEGREES), draw.one(nouns.adjectives)
        english, german = join(degree[0], adjective.english), join(degree[1], adjective.german)
        clause = clause._replace(predicate=Modifier(english, german))
    return _add_time(draw, clause, richness) if alive else clause


def _draw_action(draw: Draw, frame: Frame, tense: Tense, negated: bool, richness: float) -> Clause:
    determiners = COUNTED if negated else OPEN
    clause = Clause(
        subject=draw_subject(draw, frame.subjects, determiners, adjective=richness * 0.6),
        verb=_draw_verb(draw, frame, tense, negated),
        tense=tense,
        negated=negated,
    )
    clause = _add_objects(draw, clause, frame, richness)
    if not (negated and clause.obj):
        clause = clause._replace(modifiers=draw_modifiers(draw, frame, richness))
    return _add_time(draw, clause, richness)


def _draw_verb(draw: Draw, frame: Frame, tense: Tense, negated: bool) -> Verb:
    while True:
        verb = draw.one(frame.verbs)
        # "they read" would not say whether it is now or was then.
        if negated or tense is not Tense.PAST or verb.english != verb.english_past:
            return verb


def _add_objects(draw: Draw, clause: Clause, frame: Frame, richness: float) -> Clause:
    if not frame.objects:
        return clause
    nouns = draw.one(frame.objects)
    negated_object = clause.negated and draw.chance(0.5)
    if nouns is PEOPLE and draw.chance(0.2) and not negated_object:
        obj = draw_object_pronoun(draw, clause.subject)
    else:
        sets = NEGATED if negated_object else DEFINITE if clause.negated else COUNTED
        obj = draw_noun(draw, nouns, sets, adjective=richness * 0.8)
    clause = clause._replace(obj=obj, object_case=frame.object_case, negated_object=negated_object)
    return _add_recipient(draw, clause) if frame.recipient else clause


def _add_recipient(draw: Draw, clause: Clause) -> Clause:
    if draw.chance(0.3):
        return clause._replace(recipient=draw_object_pronoun(draw, clause.subject))
    sets = DEFINITE if clause.negated else COUNTED
    return clause._replace(recipient=draw_noun(draw, PEOPLE, sets, adjective=0.15))


def _add_time(draw: Draw, clause: Clause, richness: float) -> Clause:
    if not draw.chance(richness):
        return clause
    time = draw_time(draw, clause.tense, clause.negated)
    # "no dog never sleeps" and "every dog never sleeps" say what nobody means.
    certain = clause.subject.definite or clause.subject.pronoun
    if time is None or (time.before_verb and not certain):
        return clause
    return clause._replace(time=time, fronted=not time.before_verb and draw.chance(0.5))


def draw_described_subject(draw: Draw, tense: Tense) -> Clause:
    """A clause whose subject has a relative clause: "the man who sings sleeps"."""
    nouns = draw.one((PEOPLE, PEOPLE, ANIMALS))
    frames = FRAMES if nouns is PEOPLE else ANIMAL_FRAMES
    head = draw_noun(draw, nouns, COUNTED, adjective=0.2)
    subject = describe(draw, head, nouns is PEOPLE)
    clause = _draw_action(draw, draw.one(frames), tense, False, 0.2)
    return clause._replace(subject=subject, fronted=False)


def draw_described_object(draw: Draw, tense: Tense) -> Clause:
    """A clause that ends in an object with a relative clause: "I see the man who sings"."""
    frame = draw.one(FRAMES_WITH_PERSON)
    nouns = draw.one(frame.objects[:2])
    head = draw_noun(draw, nouns, COUNTED, adjective=0.2)
    return Clause(
        subject=draw_subject(draw, frame.subjects, COUNTED, adjective=0.2),
        verb=_draw_verb(draw, frame, tense, False),
        tense=tense,
        obj=describe(draw, head, nouns is PEOPLE),
        object_case=frame.object_case,
    )


def describe(draw: Draw, head: Phrase, person: bool) -> Phrase:
    """The noun phrase with a relative clause, set off by commas in German."""
    frame = draw.one(FRAMES if person else ANIMAL_FRAMES)
    tense = draw.one((Tense.PRESENT, Tense.PRESENT, Tense.PAST))
    clause = Clause(
        subject=relative_pronoun(head, person), verb=_draw_verb(draw, frame, tense, False)
    )
    clause = _add_objects(draw, clause._replace(tense=tense), frame, 0.2)
    if not frame.objects:
        clause = clause._replace(modifiers=draw_modifiers(draw, frame, 0.5))
    english = f"{head.english} {english_statement(clause)}"
    german = tuple(f"{form} , {german_verb_last(clause)} ," for form in head.german)
    return head._replace(english=english, english_object=english, german=german)
