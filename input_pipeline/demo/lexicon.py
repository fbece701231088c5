"""Function words: determiners, pronouns, numerals, adverbials of time and conjunctions."""

from __future__ import annotations

from typing import Final

from input_pipeline.demo.words import Conjunction, Determiner, Endings, Tense, Time

WEAK: Final[Endings] = (
    ("e", "e", "e", "en"),
    ("en", "e", "e", "en"),
    ("en", "en", "en", "en"),
)
MIXED: Final[Endings] = (
    ("er", "e", "es", "en"),
    ("en", "e", "es", "en"),
    ("en", "en", "en", "en"),
)
STRONG: Final[Endings] = (
    ("er", "e", "es", "e"),
    ("en", "e", "es", "e"),
    ("em", "er", "em", "en"),
)
EIN_ENDINGS: Final[Endings] = (
    ("", "e", "", "e"),
    ("en", "e", "", "e"),
    ("em", "er", "em", "en"),
)
ARTICLE: Final[Endings] = (
    ("der", "die", "das", "die"),
    ("den", "die", "das", "die"),
    ("dem", "der", "dem", "den"),
)
NOTHING: Final[Endings] = (("", "", "", ""),) * 3


def _with_stem(stem: str, endings: Endings) -> Endings:
    return tuple((stem + m, stem + f, stem + n, stem + p) for m, f, n, p in endings)


THE: Final = Determiner("the", "the", ARTICLE, WEAK)
THIS: Final = Determiner("this", "these", _with_stem("dies", STRONG), WEAK)
EVERY: Final = Determiner("every", "", _with_stem("jed", STRONG), WEAK)
ALL: Final = Determiner("", "all", _with_stem("all", STRONG), WEAK)
A: Final = Determiner("a", "", _with_stem("ein", EIN_ENDINGS), MIXED)
NO: Final = Determiner("no", "no", _with_stem("kein", EIN_ENDINGS), MIXED)
# "does not see a dog" and "does not see dogs": German negates the noun, English the verb.
NOT_A: Final = Determiner("a", "", _with_stem("kein", EIN_ENDINGS), MIXED)
BARE: Final = Determiner("", "", NOTHING, STRONG)
MANY: Final = Determiner("", "many", _with_stem("viel", STRONG), STRONG)
SOME: Final = Determiner("", "some", _with_stem("einig", STRONG), STRONG)
POSSESSIVES: Final = tuple(
    Determiner(english, english, _with_stem(german, EIN_ENDINGS), MIXED)
    for english, german in (("my", "mein"), ("his", "sein"), ("her", "ihr"), ("our", "unser"))
)

NUMERALS: Final = (
    ("two", "zwei"),
    ("three", "drei"),
    ("four", "vier"),
    ("five", "fünf"),
    ("six", "sechs"),
    ("seven", "sieben"),
    ("eight", "acht"),
    ("nine", "neun"),
    ("ten", "zehn"),
    ("eleven", "elf"),
    ("twelve", "zwölf"),
    ("twenty", "zwanzig"),
    ("thirty", "dreißig"),
    ("fifty", "fünfzig"),
    ("a hundred", "hundert"),
)

_NOT_PAST: Final = (Tense.FUTURE, Tense.CAN, Tense.MUST, Tense.SHOULD, Tense.WANT)
_FACTS: Final = (Tense.PRESENT, Tense.PAST)

TIMES: Final = (
    Time("today", "heute", tuple(Tense)),
    Time("now", "jetzt", (Tense.PRESENT, *_NOT_PAST[1:])),
    Time("tomorrow", "morgen", _NOT_PAST),
    Time("soon", "bald", (Tense.FUTURE,), negatable=False),
    Time("yesterday", "gestern", (Tense.PAST,)),
    Time("last week", "letzte Woche", (Tense.PAST,)),
    Time("last year", "letztes Jahr", (Tense.PAST,)),
    Time("next week", "nächste Woche", _NOT_PAST),
    Time("in the morning", "am Morgen", tuple(Tense)),
    Time("in the evening", "am Abend", tuple(Tense)),
    Time("at night", "in der Nacht", tuple(Tense)),
    Time("in summer", "im Sommer", (Tense.PRESENT, Tense.FUTURE)),
    Time("on monday", "am Montag", (Tense.PAST, *_NOT_PAST)),
    Time("on friday", "am Freitag", (Tense.PAST, *_NOT_PAST)),
    Time("on sunday", "am Sonntag", (Tense.PAST, *_NOT_PAST)),
    Time("every day", "jeden Tag", (Tense.PRESENT, Tense.PAST), negatable=False),
    Time("often", "oft", _FACTS, before_verb=True, negatable=False),
    Time("always", "immer", _FACTS, before_verb=True, negatable=False),
    Time("sometimes", "manchmal", _FACTS, before_verb=True, negatable=False),
    Time("rarely", "selten", _FACTS, before_verb=True, negatable=False),
    Time("never", "nie", _FACTS, before_verb=True, negatable=False),
)

_REASONS: Final = (
    (Tense.PRESENT, Tense.PRESENT),
    (Tense.PRESENT, Tense.PAST),
    (Tense.PRESENT, Tense.CAN),
    (Tense.PRESENT, Tense.MUST),
    (Tense.PAST, Tense.PAST),
    (Tense.PAST, Tense.PAST),
    (Tense.FUTURE, Tense.PRESENT),
    (Tense.CAN, Tense.PRESENT),
    (Tense.MUST, Tense.WANT),
)
_CONDITIONS: Final = (
    (Tense.PRESENT, Tense.PRESENT),
    (Tense.FUTURE, Tense.PRESENT),
    (Tense.FUTURE, Tense.CAN),
    (Tense.CAN, Tense.PRESENT),
    (Tense.MUST, Tense.PRESENT),
    (Tense.SHOULD, Tense.PRESENT),
)
_MEANWHILES: Final = ((Tense.PRESENT, Tense.PRESENT), (Tense.PAST, Tense.PAST))

CONJUNCTIONS: Final = (
    Conjunction("because", "weil", _REASONS),
    Conjunction("although", "obwohl", _REASONS),
    Conjunction("if", "wenn", _CONDITIONS),
    Conjunction("while", "während", _MEANWHILES),
)
COORDINATIONS: Final = (("and", "und"), ("but", ", aber"))
DEGREES: Final = (("", ""), ("", ""), ("very", "sehr"), ("too", "zu"))
