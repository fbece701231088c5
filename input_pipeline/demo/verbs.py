"""Verbs, grouped by who does them to what and by the adverbials they take."""

from __future__ import annotations

from typing import Final, NamedTuple

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
from input_pipeline.demo.words import Adverb, Case, NounClass, Verb

BE: Final = Verb("be", "was", "sein", "ist", "gewesen", sein=True, first="bin")

SLOWLY: Final = Adverb("slowly", "langsam")
QUICKLY: Final = Adverb("quickly", "schnell")
LOUDLY: Final = Adverb("loudly", "laut")
QUIETLY: Final = Adverb("quietly", "leise")
CHEERFULLY: Final = Adverb("cheerfully", "fröhlich")
ALONE: Final = Adverb("alone", "allein")
CAREFULLY: Final = Adverb("carefully", "vorsichtig")


class Frame(NamedTuple):
    """Verbs with the same subjects, objects and adverbials; `entry` allows "into" as a goal."""

    subjects: tuple[NounClass, ...]
    verbs: tuple[Verb, ...]
    objects: tuple[NounClass, ...] = ()
    object_case: Case = Case.ACCUSATIVE
    manners: tuple[Adverb, ...] = ()
    place: bool = True
    goal: bool = False
    entry: bool = False
    company: bool = False
    benefit: bool = False
    recipient: bool = False


ACTIVITY: Final = Frame(
    (PEOPLE,),
    (
        Verb("work", "worked", "arbeiten", "arbeitet", "gearbeitet"),
        Verb("laugh", "laughed", "lachen", "lacht", "gelacht"),
        Verb("cry", "cried", "weinen", "weint", "geweint"),
        Verb("sing", "sang", "singen", "singt", "gesungen"),
        Verb("dance", "danced", "tanzen", "tanzt", "getanzt"),
        Verb("cook", "cooked", "kochen", "kocht", "gekocht"),
    ),
    manners=(LOUDLY, QUIETLY, ALONE),
    company=True,
)
REST: Final = Frame(
    (PEOPLE, ANIMALS),
    (
        Verb("sleep", "slept", "schlafen", "schläft", "geschlafen"),
        Verb("wait", "waited", "warten", "wartet", "gewartet"),
        Verb("sit", "sat", "sitzen", "sitzt", "gesessen"),
        Verb("play", "played", "spielen", "spielt", "gespielt"),
        Verb("wake up", "woke up", "wachen", "wacht", "aufgewacht", "auf", sein=True),
        Verb("fall asleep", "fell asleep", "schlafen", "schläft", "eingeschlafen", "ein", True),
    ),
    manners=(QUIETLY, ALONE),
)
ARRIVAL: Final = Frame(
    (PEOPLE,),
    (
        Verb("get up", "got up", "stehen", "steht", "aufgestanden", "auf", sein=True),
        Verb("arrive", "arrived", "kommen", "kommt", "angekommen", "an", sein=True),
        Verb("stay", "stayed", "bleiben", "bleibt", "geblieben", sein=True),
    ),
)
WALK: Final = Frame(
    (PEOPLE,),
    (
        Verb("go", "went", "gehen", "geht", "gegangen", sein=True),
        Verb("run", "ran", "laufen", "läuft", "gelaufen", sein=True),
        Verb("come", "came", "kommen", "kommt", "gekommen", sein=True),
    ),
    manners=(SLOWLY, QUICKLY, CHEERFULLY, ALONE),
    place=False,
    goal=True,
    entry=True,
    company=True,
)
JOURNEY: Final = Frame(
    (PEOPLE,),
    (
        Verb("drive", "drove", "fahren", "fährt", "gefahren", sein=True),
        Verb("ride", "rode", "reiten", "reitet", "geritten", sein=True),
        Verb("travel", "travelled", "reisen", "reist", "gereist", sein=True),
    ),
    manners=(SLOWLY, QUICKLY, CHEERFULLY, ALONE),
    place=False,
    goal=True,
    company=True,
)
TRANSITIVE: Final = (
    Frame(
        (PEOPLE,),
        (
            Verb("see", "saw", "sehen", "sieht", "gesehen"),
            Verb("find", "found", "finden", "findet", "gefunden"),
            Verb("look for", "looked for", "suchen", "sucht", "gesucht"),
            Verb("draw", "drew", "zeichnen", "zeichnet", "gezeichnet"),
        ),
        (PEOPLE, ANIMALS, THINGS, DEVICES, CLOTHING),
    ),
    Frame(
        (PEOPLE, ANIMALS),
        (
            Verb("hear", "heard", "hören", "hört", "gehört"),
            Verb("watch", "watched", "beobachten", "beobachtet", "beobachtet"),
        ),
        (PEOPLE, ANIMALS),
    ),
    Frame(
        (PEOPLE,),
        (
            Verb("love", "loved", "lieben", "liebt", "geliebt"),
            Verb("miss", "missed", "vermissen", "vermisst", "vermisst"),
            Verb("forget", "forgot", "vergessen", "vergisst", "vergessen"),
        ),
        (PEOPLE, ANIMALS),
        place=False,
    ),
    Frame(
        (PEOPLE,),
        (
            Verb("meet", "met", "treffen", "trifft", "getroffen"),
            Verb("visit", "visited", "besuchen", "besucht", "besucht"),
            Verb("greet", "greeted", "begrüßen", "begrüßt", "begrüßt"),
            Verb("invite", "invited", "laden", "lädt", "eingeladen", "ein"),
            Verb("call", "called", "rufen", "ruft", "angerufen", "an"),
            Verb("ask", "asked", "fragen", "fragt", "gefragt"),
            Verb("understand", "understood", "verstehen", "versteht", "verstanden"),
        ),
        (PEOPLE,),
        place=False,
    ),
    Frame(
        (PEOPLE,),
        (
            Verb("help", "helped", "helfen", "hilft", "geholfen"),
            Verb("thank", "thanked", "danken", "dankt", "gedankt"),
            Verb("trust", "trusted", "vertrauen", "vertraut", "vertraut"),
            Verb("answer", "answered", "antworten", "antwortet", "geantwortet"),
            Verb("listen to", "listened to", "hören", "hört", "zugehört", "zu"),
        ),
        (PEOPLE,),
        object_case=Case.DATIVE,
        place=False,
    ),
    Frame(
        (PEOPLE, ANIMALS),
        (Verb("follow", "followed", "folgen", "folgt", "gefolgt", sein=True),),
        (PEOPLE, ANIMALS),
        object_case=Case.DATIVE,
        manners=(SLOWLY, QUIETLY),
        place=False,
    ),
    Frame(
        (PEOPLE,),
        (
            Verb("feed", "fed", "füttern", "füttert", "gefüttert"),
            Verb("catch", "caught", "fangen", "fängt", "gefangen"),
        ),
        (ANIMALS,),
    ),
    Frame(
        (PEOPLE, ANIMALS),
        (Verb("eat", "ate", "essen", "isst", "gegessen"),),
        (FOOD,),
        manners=(SLOWLY, QUICKLY),
    ),
    Frame(
        (PEOPLE,),
        (
            Verb("read", "read", "lesen", "liest", "gelesen"),
            Verb("write", "wrote", "schreiben", "schreibt", "geschrieben"),
            Verb("translate", "translated", "übersetzen", "übersetzt", "übersetzt"),
        ),
        (READING,),
        manners=(SLOWLY, CAREFULLY),
    ),
    Frame(
        (PEOPLE,),
        (
            Verb("buy", "bought", "kaufen", "kauft", "gekauft"),
            Verb("order", "ordered", "bestellen", "bestellt", "bestellt"),
            Verb("choose", "chose", "wählen", "wählt", "gewählt"),
        ),
        (FOOD, READING, THINGS, DEVICES, CLOTHING),
        place=False,
        benefit=True,
    ),
    Frame(
        (PEOPLE,),
        (
            Verb("sell", "sold", "verkaufen", "verkauft", "verkauft"),
            Verb("keep", "kept", "behalten", "behält", "behalten"),
            Verb("steal", "stole", "stehlen", "stiehlt", "gestohlen"),
            Verb("take", "took", "nehmen", "nimmt", "genommen"),
            Verb("hide", "hid", "verstecken", "versteckt", "versteckt"),
            Verb("lose", "lost", "verlieren", "verliert", "verloren"),
            Verb("throw away", "threw away", "werfen", "wirft", "weggeworfen", "weg"),
        ),
        (FOOD, READING, THINGS, CLOTHING),
        place=False,
    ),
    Frame(
        (PEOPLE,),
        (
            Verb("repair", "repaired", "reparieren", "repariert", "repariert"),
            Verb("use", "used", "benutzen", "benutzt", "benutzt"),
        ),
        (DEVICES,),
        manners=(SLOWLY, CAREFULLY),
    ),
    Frame(
        (PEOPLE,),
        (
            Verb("wash", "washed", "waschen", "wäscht", "gewaschen"),
            Verb("try on", "tried on", "probieren", "probiert", "anprobiert", "an"),
        ),
        (CLOTHING,),
    ),
    Frame(
        (PEOPLE,),
        (
            Verb("open", "opened", "machen", "macht", "aufgemacht", "auf"),
            Verb("close", "closed", "machen", "macht", "zugemacht", "zu"),
        ),
        (CLOSABLE,),
        manners=(SLOWLY, QUIETLY, CAREFULLY),
        place=False,
    ),
)
DITRANSITIVE: Final = Frame(
    (PEOPLE,),
    (
        Verb("give", "gave", "geben", "gibt", "gegeben"),
        Verb("show", "showed", "zeigen", "zeigt", "gezeigt"),
        Verb("send", "sent", "schicken", "schickt", "geschickt"),
        Verb("bring", "brought", "bringen", "bringt", "gebracht"),
        Verb("lend", "lent", "leihen", "leiht", "geliehen"),
        Verb("offer", "offered", "bieten", "bietet", "angeboten", "an"),
    ),
    (READING, THINGS, DEVICES, CLOTHING),
    place=False,
    recipient=True,
)
REPORTING: Final = (
    Verb("know", "knew", "wissen", "weiß", "gewusst", first="weiß"),
    Verb("say", "said", "sagen", "sagt", "gesagt"),
    Verb("believe", "believed", "glauben", "glaubt", "geglaubt"),
    Verb("think", "thought", "denken", "denkt", "gedacht"),
    Verb("hope", "hoped", "hoffen", "hofft", "gehofft"),
)
