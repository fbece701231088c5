"""Adjectives, and which of them suit which class of nouns."""

from __future__ import annotations

from typing import Final

from input_pipeline.demo.words import Adjective

AGES: Final = (Adjective("old", "alt"), Adjective("young", "jung"))
SIZES: Final = (Adjective("big", "groß"), Adjective("small", "klein"))
COLOURS: Final = (
    Adjective("red", "rot"),
    Adjective("blue", "blau"),
    Adjective("green", "grün"),
    Adjective("yellow", "gelb"),
    Adjective("white", "weiß"),
    Adjective("black", "schwarz"),
    Adjective("brown", "braun"),
)
PRICES: Final = (Adjective("expensive", "teuer", "teur"), Adjective("cheap", "billig"))
STATES: Final = (Adjective("old", "alt"), Adjective("new", "neu"))
LOOKS: Final = (Adjective("beautiful", "schön"), Adjective("ugly", "hässlich"))
NEEDS: Final = (
    Adjective("tired", "müde", "müd"),
    Adjective("hungry", "hungrig"),
    Adjective("nervous", "nervös"),
)

PERSON: Final = (
    *AGES,
    *NEEDS,
    Adjective("happy", "glücklich"),
    Adjective("sad", "traurig"),
    Adjective("friendly", "freundlich"),
    Adjective("clever", "klug"),
    Adjective("poor", "arm"),
    Adjective("rich", "reich"),
    Adjective("strong", "stark"),
    Adjective("lazy", "faul"),
    Adjective("famous", "berühmt"),
    Adjective("polite", "höflich"),
    Adjective("brave", "mutig"),
    Adjective("angry", "wütend"),
)
ANIMAL: Final = (
    *AGES,
    *SIZES,
    *NEEDS,
    Adjective("white", "weiß"),
    Adjective("black", "schwarz"),
    Adjective("brown", "braun"),
    Adjective("fat", "dick"),
    Adjective("dangerous", "gefährlich"),
)
THING: Final = (*STATES, *SIZES, *COLOURS, *PRICES, *LOOKS, Adjective("heavy", "schwer"))
FOOD: Final = (
    *SIZES,
    *PRICES,
    Adjective("fresh", "frisch"),
    Adjective("sweet", "süß"),
    Adjective("good", "gut"),
    Adjective("cold", "kalt"),
)
READING: Final = (
    *STATES,
    Adjective("interesting", "interessant"),
    Adjective("boring", "langweilig"),
    Adjective("long", "lang"),
    Adjective("short", "kurz"),
    Adjective("good", "gut"),
    Adjective("important", "wichtig"),
)
CLOTHING: Final = (
    *STATES,
    *COLOURS,
    *PRICES,
    *LOOKS,
    Adjective("warm", "warm"),
    Adjective("dirty", "schmutzig"),
)
PLACE: Final = (
    *STATES,
    *SIZES,
    *LOOKS,
    Adjective("quiet", "ruhig"),
    Adjective("dark", "dunkel", "dunkl"),
    Adjective("famous", "berühmt"),
)
