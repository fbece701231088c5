"""The kinds of words the lexicon is made of, and the grammatical categories they inflect for."""

from __future__ import annotations

import enum
from typing import NamedTuple


class Case(enum.IntEnum):
    """The German cases in use; values index the rows of ending tables."""

    NOMINATIVE = 0
    ACCUSATIVE = 1
    DATIVE = 2


class Column(enum.IntEnum):
    """A noun's gender, or plural for all genders; values index the columns of ending tables."""

    MASCULINE = 0
    FEMININE = 1
    NEUTER = 2
    PLURAL = 3


class Agreement(enum.IntEnum):
    """What a finite verb agrees with; values index tuples of finite forms."""

    FIRST = 0
    THIRD = 1
    PLURAL = 2


class Tense(enum.Enum):
    """A clause's tense or modal verb."""

    PRESENT = "present"
    PAST = "past"
    FUTURE = "will"
    CAN = "can"
    MUST = "must"
    SHOULD = "should"
    WANT = "want to"


Endings = tuple[tuple[str, str, str, str], ...]


class Adjective(NamedTuple):
    """An adjective; `stem` is given where endings do not simply follow the German word."""

    english: str
    german: str
    stem: str = ""


class Noun(NamedTuple):
    """A noun; a weak one has its plural form in the accusative and dative singular too."""

    english: str
    english_plural: str
    german: str
    german_plural: str
    gender: Column
    weak: bool = False


class NounClass(NamedTuple):
    """Nouns that do and suffer the same things, and the adjectives that suit them."""

    nouns: tuple[Noun, ...]
    adjectives: tuple[Adjective, ...]


class Place(NamedTuple):
    """A place and the prepositions that say where someone is."""

    noun: Noun
    english: str = "in"
    german: str = "in"


class Verb(NamedTuple):
    """A verb; `third`, and `infinitive` where the verb is separable, are without the prefix."""

    english: str
    english_past: str
    infinitive: str
    third: str
    participle: str
    prefix: str = ""
    sein: bool = False
    first: str = ""


class Adverb(NamedTuple):
    """An adverbial of manner: two fixed expressions."""

    english: str
    german: str


class Time(NamedTuple):
    """An adverbial of time, the tenses it fits, and whether English puts it before the verb."""

    english: str
    german: str
    tenses: tuple[Tense, ...]
    before_verb: bool = False
    negatable: bool = True


class Determiner(NamedTuple):
    """An article or its like: English by number, German by case and column, and what it governs."""

    english: str
    english_plural: str
    german: Endings
    adjective_endings: Endings


class Conjunction(NamedTuple):
    """A subordinating conjunction and the tenses its (main, subordinate) clauses may have."""

    english: str
    german: str
    tenses: tuple[tuple[Tense, Tense], ...]
