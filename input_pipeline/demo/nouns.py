"""Nouns in classes that share adjectives and the verbs they go with."""

from __future__ import annotations

from typing import Final

from input_pipeline.demo import adjectives
from input_pipeline.demo.words import Column, Noun, NounClass, Place

M, F, N = Column.MASCULINE, Column.FEMININE, Column.NEUTER

PEOPLE: Final = NounClass(
    (
        Noun("man", "men", "Mann", "Männer", M),
        Noun("woman", "women", "Frau", "Frauen", F),
        Noun("child", "children", "Kind", "Kinder", N),
        Noun("boy", "boys", "Junge", "Jungen", M, weak=True),
        Noun("girl", "girls", "Mädchen", "Mädchen", N),
        Noun("teacher", "teachers", "Lehrer", "Lehrer", M),
        Noun("doctor", "doctors", "Arzt", "Ärzte", M),
        Noun("student", "students", "Student", "Studenten", M, weak=True),
        Noun("friend", "friends", "Freund", "Freunde", M),
        Noun("neighbour", "neighbours", "Nachbar", "Nachbarn", M, weak=True),
        Noun("colleague", "colleagues", "Kollege", "Kollegen", M, weak=True),
        Noun("customer", "customers", "Kunde", "Kunden", M, weak=True),
        Noun("mother", "mothers", "Mutter", "Mütter", F),
        Noun("father", "fathers", "Vater", "Väter", M),
        Noun("brother", "brothers", "Bruder", "Brüder", M),
        Noun("sister", "sisters", "Schwester", "Schwestern", F),
        Noun("grandmother", "grandmothers", "Großmutter", "Großmütter", F),
        Noun("aunt", "aunts", "Tante", "Tanten", F),
        Noun("uncle", "uncles", "Onkel", "Onkel", M),
        Noun("daughter", "daughters", "Tochter", "Töchter", F),
        Noun("son", "sons", "Sohn", "Söhne", M),
        Noun("baker", "bakers", "Bäcker", "Bäcker", M),
        Noun("farmer", "farmers", "Bauer", "Bauern", M, weak=True),
        Noun("soldier", "soldiers", "Soldat", "Soldaten", M, weak=True),
        Noun("nurse", "nurses", "Krankenschwester", "Krankenschwestern", F),
        Noun("queen", "queens", "Königin", "Königinnen", F),
        Noun("king", "kings", "König", "Könige", M),
        Noun("guest", "guests", "Gast", "Gäste", M),
    ),
    adjectives.PERSON,
)
ANIMALS: Final = NounClass(
    (
        Noun("dog", "dogs", "Hund", "Hunde", M),
        Noun("cat", "cats", "Katze", "Katzen", F),
        Noun("horse", "horses", "Pferd", "Pferde", N),
        Noun("bird", "birds", "Vogel", "Vögel", M),
        Noun("cow", "cows", "Kuh", "Kühe", F),
        Noun("pig", "pigs", "Schwein", "Schweine", N),
        Noun("mouse", "mice", "Maus", "Mäuse", F),
        Noun("bear", "bears", "Bär", "Bären", M, weak=True),
        Noun("lion", "lions", "Löwe", "Löwen", M, weak=True),
        Noun("monkey", "monkeys", "Affe", "Affen", M, weak=True),
        Noun("duck", "ducks", "Ente", "Enten", F),
        Noun("rabbit", "rabbits", "Kaninchen", "Kaninchen", N),
        Noun("wolf", "wolves", "Wolf", "Wölfe", M),
        Noun("fox", "foxes", "Fuchs", "Füchse", M),
    ),
    adjectives.ANIMAL,
)
FOOD: Final = NounClass(
    (
        Noun("apple", "apples", "Apfel", "Äpfel", M),
        Noun("cake", "cakes", "Kuchen", "Kuchen", M),
        Noun("egg", "eggs", "Ei", "Eier", N),
        Noun("banana", "bananas", "Banane", "Bananen", F),
        Noun("pear", "pears", "Birne", "Birnen", F),
        Noun("potato", "potatoes", "Kartoffel", "Kartoffeln", F),
        Noun("tomato", "tomatoes", "Tomate", "Tomaten", F),
        Noun("sausage", "sausages", "Wurst", "Würste", F),
        Noun("biscuit", "biscuits", "Keks", "Kekse", M),
        Noun("pizza", "pizzas", "Pizza", "Pizzas", F),
    ),
    adjectives.FOOD,
)
READING: Final = NounClass(
    (
        Noun("book", "books", "Buch", "Bücher", N),
        Noun("letter", "letters", "Brief", "Briefe", M),
        Noun("newspaper", "newspapers", "Zeitung", "Zeitungen", F),
        Noun("story", "stories", "Geschichte", "Geschichten", F),
        Noun("poem", "poems", "Gedicht", "Gedichte", N),
        Noun("message", "messages", "Nachricht", "Nachrichten", F),
        Noun("novel", "novels", "Roman", "Romane", M),
    ),
    adjectives.READING,
)
THINGS: Final = NounClass(
    (
        Noun("ball", "balls", "Ball", "Bälle", M),
        Noun("key", "keys", "Schlüssel", "Schlüssel", M),
        Noun("knife", "knives", "Messer", "Messer", N),
        Noun("plate", "plates", "Teller", "Teller", M),
        Noun("cup", "cups", "Tasse", "Tassen", F),
        Noun("bottle", "bottles", "Flasche", "Flaschen", F),
        Noun("bag", "bags", "Tasche", "Taschen", F),
        Noun("suitcase", "suitcases", "Koffer", "Koffer", M),
        Noun("picture", "pictures", "Bild", "Bilder", N),
        Noun("flower", "flowers", "Blume", "Blumen", F),
        Noun("gift", "gifts", "Geschenk", "Geschenke", N),
        Noun("chair", "chairs", "Stuhl", "Stühle", M),
    ),
    adjectives.THING,
)
DEVICES: Final = NounClass(
    (
        Noun("lamp", "lamps", "Lampe", "Lampen", F),
        Noun("clock", "clocks", "Uhr", "Uhren", F),
        Noun("camera", "cameras", "Kamera", "Kameras", F),
        Noun("phone", "phones", "Telefon", "Telefone", N),
        Noun("computer", "computers", "Computer", "Computer", M),
        Noun("car", "cars", "Auto", "Autos", N),
        Noun("bicycle", "bicycles", "Fahrrad", "Fahrräder", N),
        Noun("boat", "boats", "Boot", "Boote", N),
    ),
    adjectives.THING,
)
CLOTHING: Final = NounClass(
    (
        Noun("coat", "coats", "Mantel", "Mäntel", M),
        Noun("hat", "hats", "Hut", "Hüte", M),
        Noun("shirt", "shirts", "Hemd", "Hemden", N),
        Noun("dress", "dresses", "Kleid", "Kleider", N),
        Noun("jacket", "jackets", "Jacke", "Jacken", F),
        Noun("shoe", "shoes", "Schuh", "Schuhe", M),
    ),
    adjectives.CLOTHING,
)
CLOSABLE: Final = NounClass(
    (
        Noun("door", "doors", "Tür", "Türen", F),
        Noun("window", "windows", "Fenster", "Fenster", N),
        Noun("box", "boxes", "Kiste", "Kisten", F),
        Noun("cupboard", "cupboards", "Schrank", "Schränke", M),
        Noun("gate", "gates", "Tor", "Tore", N),
    ),
    adjectives.THING,
)
BUILDINGS: Final = (
    Place(Noun("school", "schools", "Schule", "Schulen", F)),
    Place(Noun("house", "houses", "Haus", "Häuser", N)),
    Place(Noun("hotel", "hotels", "Hotel", "Hotels", N)),
    Place(Noun("museum", "museums", "Museum", "Museen", N)),
    Place(Noun("church", "churches", "Kirche", "Kirchen", F)),
    Place(Noun("library", "libraries", "Bibliothek", "Bibliotheken", F)),
    Place(Noun("hospital", "hospitals", "Krankenhaus", "Krankenhäuser", N)),
    Place(Noun("restaurant", "restaurants", "Restaurant", "Restaurants", N)),
    Place(Noun("theatre", "theatres", "Theater", "Theater", N)),
    Place(Noun("castle", "castles", "Schloss", "Schlösser", N)),
)
INSIDES: Final = (
    *BUILDINGS,
    Place(Noun("garden", "gardens", "Garten", "Gärten", M)),
    Place(Noun("park", "parks", "Park", "Parks", M)),
    Place(Noun("kitchen", "kitchens", "Küche", "Küchen", F)),
    Place(Noun("village", "villages", "Dorf", "Dörfer", N)),
    Place(Noun("forest", "forests", "Wald", "Wälder", M)),
    Place(Noun("office", "offices", "Büro", "Büros", N)),
)
PLACES: Final = (
    *INSIDES,
    Place(Noun("bridge", "bridges", "Brücke", "Brücken", F), "on", "auf"),
    Place(Noun("mountain", "mountains", "Berg", "Berge", M), "on", "auf"),
    Place(Noun("island", "islands", "Insel", "Inseln", F), "on", "auf"),
    Place(Noun("street", "streets", "Straße", "Straßen", F), "on", "auf"),
    Place(Noun("station", "stations", "Bahnhof", "Bahnhöfe", M), "at", "an"),
    Place(Noun("river", "rivers", "Fluss", "Flüsse", M), "by", "an"),
    Place(Noun("lake", "lakes", "See", "Seen", M), "by", "an"),
)
