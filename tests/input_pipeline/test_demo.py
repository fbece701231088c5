"""The demo corpus is deterministic, free of repeats, and correct German."""

import hashlib
from itertools import islice, repeat

import pytest

from input_pipeline.corpus import Pair
from input_pipeline.demo import lexicon, nouns, sentences, verbs
from input_pipeline.demo import noun_phrase as np
from input_pipeline.demo.clause import (
    Clause,
    english_question,
    english_statement,
    german_statement,
    german_verb_first,
    german_verb_last,
)
from input_pipeline.demo.corpus import generate
from input_pipeline.demo.draw import Draw
from input_pipeline.demo.words import Adjective, Case, Tense, Time

CLASSES = (
    nouns.PEOPLE,
    nouns.ANIMALS,
    nouns.FOOD,
    nouns.READING,
    nouns.THINGS,
    nouns.DEVICES,
    nouns.CLOTHING,
    nouns.CLOSABLE,
)
FRAMES = (
    verbs.ACTIVITY,
    verbs.REST,
    verbs.ARRIVAL,
    verbs.WALK,
    verbs.JOURNEY,
    *verbs.TRANSITIVE,
    verbs.DITRANSITIVE,
)
NOUNS = {n.english: n for c in CLASSES for n in c.nouns}
NOUNS |= {p.noun.english: p.noun for p in nouns.PLACES}
VERBS = {v.english: v for f in FRAMES for v in f.verbs} | {v.english: v for v in verbs.REPORTING}
TIMES = {t.english: t for t in lexicon.TIMES}
GOLDEN_SHA256 = "8b38e1bd0b2fb15573acdfaad85ac964153bbc5198f68293529170bc020fb745"
OLD = Adjective("old", "alt")


def the(noun, plural=False):
    return np.noun_phrase(lexicon.THE, NOUNS[noun], plural=plural)


def cases(determiner, noun, plural=False, numeral=("", "")):
    phrase = np.noun_phrase(determiner, NOUNS[noun], plural=plural, adjective=OLD, numeral=numeral)
    return " / ".join(phrase.german)


def clause(verb, subject=None, **parts):
    return Clause(subject=subject or the("man"), verb=VERBS[verb], **parts)


@pytest.fixture(scope="module")
def corpus():
    return generate(num_train=8_000, num_dev=500, num_test=500)


def test_same_seed_gives_same_corpus(corpus):
    assert generate(num_train=8_000, num_dev=500, num_test=500) == corpus
    assert generate(seed=2, num_train=50).train != generate(seed=1, num_train=50).train


def test_corpus_is_the_same_in_every_python_version():
    pairs = generate(seed=1, num_train=1_000, num_dev=0, num_test=0).train
    text = "".join(f"{source}\t{target}\n" for source, target in pairs)
    assert hashlib.sha256(text.encode()).hexdigest() == GOLDEN_SHA256


def test_no_sentence_occurs_twice(corpus):
    pairs = [pair for split in corpus for pair in split]
    assert [len(split) for split in corpus] == [8_000, 500, 500]
    assert len({pair.source for pair in pairs}) == len(pairs)
    assert len({pair.target for pair in pairs}) == len(pairs)


def test_splits_have_the_same_sentence_lengths(corpus):
    means = [sum(len(p.target.split()) for p in split) / len(split) for split in corpus]
    assert max(means) - min(means) < 0.5


def test_english_determines_german():
    german = {}
    for source, target in islice(sentences.sentences(Draw(3)), 20_000):
        assert german.setdefault(source, target) == target


def test_too_large_a_corpus_is_refused(monkeypatch):
    same = repeat(Pair("I sleep .", "ich schlafe ."))
    monkeypatch.setattr("input_pipeline.demo.corpus.sentences", lambda draw: same)
    with pytest.raises(ValueError, match=r"gave 1 distinct pairs in 30 tries, fewer than the 3 "):
        generate(num_train=1, num_dev=1, num_test=1)


def test_vocabularies_are_in_the_hundreds(corpus):
    sources = {token for split in corpus for pair in split for token in pair.source.split()}
    targets = {token for split in corpus for pair in split for token in pair.target.split()}
    assert 400 < len(sources) < 700
    assert 700 < len(targets) < 1_000


def test_tokens_are_separated_by_single_spaces(corpus):
    for pair in corpus.train:
        for text in pair:
            assert sentences.MIN_TOKENS <= len(text.split(" ")) <= sentences.MAX_TOKENS
            assert text == " ".join(text.split())
            assert text[-1] in ".?"


def test_an_english_word_is_one_entry_only():
    names = [n.english for c in CLASSES for n in c.nouns]
    names += [p.noun.english for p in nouns.PLACES]
    verb_names = [v.english for f in FRAMES for v in f.verbs]
    assert len(names) == len(set(names))
    assert len(verb_names) == len(set(verb_names))
    assert all(n.english != n.english_plural for n in NOUNS.values())


@pytest.mark.parametrize(
    ("determiner", "noun", "expected"),
    [
        (lexicon.THE, "dog", "der alte Hund / den alten Hund / dem alten Hund"),
        (lexicon.THE, "cat", "die alte Katze / die alte Katze / der alten Katze"),
        (lexicon.THE, "horse", "das alte Pferd / das alte Pferd / dem alten Pferd"),
        (lexicon.EVERY, "horse", "jedes alte Pferd / jedes alte Pferd / jedem alten Pferd"),
        (lexicon.A, "dog", "ein alter Hund / einen alten Hund / einem alten Hund"),
        (lexicon.A, "cat", "eine alte Katze / eine alte Katze / einer alten Katze"),
        (lexicon.A, "horse", "ein altes Pferd / ein altes Pferd / einem alten Pferd"),
        (lexicon.NOT_A, "horse", "kein altes Pferd / kein altes Pferd / keinem alten Pferd"),
        (lexicon.A, "boy", "ein alter Junge / einen alten Jungen / einem alten Jungen"),
    ],
)
def test_singular_declension(determiner, noun, expected):
    assert cases(determiner, noun) == expected


@pytest.mark.parametrize(
    ("determiner", "noun", "expected"),
    [
        (lexicon.THE, "dog", "die alten Hunde / die alten Hunde / den alten Hunden"),
        (lexicon.ALL, "cat", "alle alten Katzen / alle alten Katzen / allen alten Katzen"),
        (lexicon.NOT_A, "dog", "keine alten Hunde / keine alten Hunde / keinen alten Hunden"),
        (lexicon.MANY, "child", "viele alte Kinder / viele alte Kinder / vielen alten Kindern"),
        (lexicon.BARE, "car", "alte Autos / alte Autos / alten Autos"),
        (lexicon.BARE, "girl", "alte Mädchen / alte Mädchen / alten Mädchen"),
    ],
)
def test_plural_declension(determiner, noun, expected):
    assert cases(determiner, noun, plural=True) == expected


def test_adjective_is_strong_after_a_bare_numeral():
    three = ("three", "drei")
    expected = "drei alte Hunde / drei alte Hunde / drei alten Hunden"
    assert cases(lexicon.BARE, "dog", plural=True, numeral=three) == expected


def test_irregular_adjective_stems_decline():
    dark = Adjective("dark", "dunkel", "dunkl")
    forest = np.noun_phrase(lexicon.THE, NOUNS["forest"], adjective=dark)
    where = np.prepositional("in", "in", forest, Case.DATIVE)
    assert where == ("in the dark forest", "im dunklen Wald")


def test_english_article_is_an_before_a_vowel():
    assert np.noun_phrase(lexicon.A, NOUNS["dog"], adjective=OLD).english == "an old dog"
    assert np.noun_phrase(lexicon.A, NOUNS["uncle"]).english == "an uncle"


def test_into_takes_the_accusative():
    into = np.prepositional("into", "in", the("house"), Case.ACCUSATIVE)
    assert into.german == "ins Haus"
    assert np.prepositional("to", "zu", the("church"), Case.DATIVE).german == "zur Kirche"


def test_fronted_adverbial_inverts_subject_and_verb():
    seen = clause("see", obj=the("dog"), time=TIMES["today"], fronted=True)
    assert english_statement(seen) == "today the man sees the dog"
    assert german_statement(seen) == "heute sieht der Mann den Hund"


def test_adverbial_of_time_stands_before_noun_objects_and_after_pronouns():
    yesterday: Time = TIMES["yesterday"]
    dog = clause("see", obj=the("dog"), tense=Tense.PAST, time=yesterday)
    him = clause("see", obj=np.HE, tense=Tense.PAST, time=yesterday)
    assert german_statement(dog) == "der Mann hat gestern den Hund gesehen"
    assert german_statement(him) == "der Mann hat ihn gestern gesehen"


def test_motion_forms_its_past_with_sein():
    goal = np.prepositional("to", "zu", the("park"), Case.DATIVE)
    went = clause("go", subject=np.WE, tense=Tense.PAST, modifiers=(goal,))
    assert english_statement(went) == "we went to the park"
    assert german_statement(went) == "wir sind zum Park gegangen"


@pytest.mark.parametrize(
    ("tense", "main", "subordinate"),
    [
        (Tense.PRESENT, "ich mache die Tür auf", "ich die Tür aufmache"),
        (Tense.PAST, "ich habe die Tür aufgemacht", "ich die Tür aufgemacht habe"),
        (Tense.FUTURE, "ich werde die Tür aufmachen", "ich die Tür aufmachen werde"),
        (Tense.MUST, "ich muss die Tür aufmachen", "ich die Tür aufmachen muss"),
    ],
)
def test_separable_verb(tense, main, subordinate):
    opened = clause("open", subject=np.I, obj=the("door"), tense=tense)
    assert german_statement(opened) == main
    assert german_verb_last(opened) == subordinate


def test_question_puts_the_verb_first():
    asked = clause("help", obj=the("child", plural=True), object_case=Case.DATIVE)
    assert english_question(asked) == "does the man help the children"
    assert german_verb_first(asked) == "hilft der Mann den Kindern"


def test_dative_stands_before_accusative():
    book = np.noun_phrase(lexicon.A, NOUNS["book"])
    given = clause("give", tense=Tense.PAST, recipient=the("boy"), obj=book)
    assert english_statement(given) == "the man gave the boy a book"
    assert german_statement(given) == "der Mann hat dem Jungen ein Buch gegeben"


def test_nicht_follows_objects_and_precedes_adverbials():
    where = np.prepositional("in", "in", the("garden"), Case.DATIVE)
    sleeps = clause("sleep", subject=np.SHE, negated=True, modifiers=(where,))
    sees = clause("see", obj=the("cow"), tense=Tense.CAN, negated=True)
    assert english_statement(sleeps) == "she does not sleep in the garden"
    assert german_statement(sleeps) == "sie schläft nicht im Garten"
    assert german_statement(sees) == "der Mann kann die Kuh nicht sehen"


def test_negated_indefinite_object_is_kein():
    obj = np.noun_phrase(lexicon.NOT_A, NOUNS["apple"])
    eats = clause("eat", obj=obj, negated=True, negated_object=True)
    assert english_statement(eats) == "the man does not eat an apple"
    assert german_statement(eats) == "der Mann isst keinen Apfel"


def test_copula_has_a_simple_past():
    tired = Clause(
        subject=np.THEY, verb=verbs.BE, predicate=np.Modifier("tired", "müde"), tense=Tense.PAST
    )
    assert english_statement(tired) == "they were tired"
    assert german_statement(tired) == "sie waren müde"


def test_commas_do_not_meet():
    pair = sentences.finish("x", "ich sehe den Mann , der singt , , weil er singt ,", "?")
    assert pair.target == "ich sehe den Mann , der singt , weil er singt ?"
