"""One clause in both languages: English word order, and German V2, verb-first and verb-last."""

from __future__ import annotations

from typing import Final, NamedTuple

from input_pipeline.demo.noun_phrase import Modifier, Phrase, join
from input_pipeline.demo.verbs import BE
from input_pipeline.demo.words import Agreement, Case, Tense, Time, Verb

HABEN: Final = ("habe", "hat", "haben")
SEIN: Final = ("bin", "ist", "sind")
WAR: Final = ("war", "war", "waren")
AUXILIARIES: Final = {
    Tense.FUTURE: ("werde", "wird", "werden"),
    Tense.CAN: ("kann", "kann", "können"),
    Tense.MUST: ("muss", "muss", "müssen"),
    Tense.SHOULD: ("sollte", "sollte", "sollten"),
    Tense.WANT: ("will", "will", "wollen"),
}


class Clause(NamedTuple):
    """A subject, a verb in a tense, and what goes with them."""

    subject: Phrase
    verb: Verb
    tense: Tense = Tense.PRESENT
    obj: Phrase | None = None
    object_case: Case = Case.ACCUSATIVE
    recipient: Phrase | None = None
    predicate: Modifier | None = None
    modifiers: tuple[Modifier, ...] = ()
    time: Time | None = None
    fronted: bool = False
    negated: bool = False
    # The object is "kein ...", so the German clause has no "nicht".
    negated_object: bool = False


def english_statement(clause: Clause) -> str:
    """The English main or subordinate clause."""
    helper, main = _english_verbs(clause, helped=clause.negated)
    front, middle, end = _english_times(clause)
    negation = "not" if clause.negated else ""
    head = join(front, clause.subject.english, helper, negation, middle, main)
    return join(head, _english_rest(clause), end)


def english_question(clause: Clause) -> str:
    """The English yes/no question."""
    helper, main = _english_verbs(clause, helped=True)
    _, middle, end = _english_times(clause)
    return join(helper, clause.subject.english, middle, main, _english_rest(clause), end)


def german_statement(clause: Clause) -> str:
    """The German main clause, finite verb second."""
    finite, tail = german_verbs(clause)
    subject = clause.subject.german[Case.NOMINATIVE]
    if clause.fronted and clause.time:
        return join(clause.time.german, finite, subject, _middle_field(clause, ""), tail)
    return join(subject, finite, _middle_field(clause, _time(clause)), tail)


def german_verb_first(clause: Clause) -> str:
    """The German clause as a question, or as what follows a leading subordinate clause."""
    finite, tail = german_verbs(clause)
    subject = clause.subject.german[Case.NOMINATIVE]
    return join(finite, subject, _middle_field(clause, _time(clause)), tail)


def german_verb_last(clause: Clause) -> str:
    """The German subordinate clause; a separated prefix rejoins its verb."""
    finite, tail = german_verbs(clause)
    separated = tail and tail == clause.verb.prefix
    verbs = tail + finite if separated else join(tail, finite)
    subject = clause.subject.german[Case.NOMINATIVE]
    return join(subject, _middle_field(clause, _time(clause)), verbs)


def german_verbs(clause: Clause) -> tuple[str, str]:
    """The finite verb and what stands at the end of a German main clause."""
    verb, tense, agreement = clause.verb, clause.tense, clause.subject.agreement
    if tense is Tense.PRESENT:
        return german_present(verb)[agreement], verb.prefix
    if tense is Tense.PAST:
        # Spoken German, too, says "war" rather than "ist gewesen".
        if verb is BE:
            return WAR[agreement], ""
        return (SEIN if verb.sein else HABEN)[agreement], verb.participle
    return AUXILIARIES[tense][agreement], verb.prefix + verb.infinitive


def german_present(verb: Verb) -> tuple[str, ...]:
    """The present without prefix: first person singular, third person singular, plural."""
    if verb is BE:
        return SEIN
    stem = verb.infinitive[:-1] if verb.infinitive.endswith("ern") else verb.infinitive[:-2]
    return verb.first or stem + "e", verb.third, verb.infinitive


def _middle_field(clause: Clause, time: str) -> str:
    objects = [(clause.recipient, Case.DATIVE), (clause.obj, clause.object_case)]
    given = [(phrase, case) for phrase, case in objects if phrase]
    pronouns = [phrase.german[case] for phrase, case in given if phrase.pronoun]
    nouns = [phrase.german[case] for phrase, case in given if not phrase.pronoun]
    negation = "nicht" if clause.negated and not clause.negated_object else ""
    rest = [m.german for m in clause.modifiers]
    predicate = clause.predicate.german if clause.predicate else ""
    return join(*pronouns, time, *nouns, negation, *rest, predicate)


def _time(clause: Clause) -> str:
    return clause.time.german if clause.time else ""


def _english_times(clause: Clause) -> tuple[str, str, str]:
    time = clause.time
    if time is None:
        return "", "", ""
    if time.before_verb:
        return "", time.english, ""
    return (time.english, "", "") if clause.fronted else ("", "", time.english)


def _english_rest(clause: Clause) -> str:
    objects = [p.english_object for p in (clause.recipient, clause.obj) if p]
    predicate = clause.predicate.english if clause.predicate else ""
    return join(*objects, predicate, *(m.english for m in clause.modifiers))


def _english_verbs(clause: Clause, helped: bool) -> tuple[str, str]:
    """The helping verb, if `helped` or the tense needs one, and the main verb."""
    verb, tense, agreement = clause.verb, clause.tense, clause.subject.agreement
    if tense in (Tense.FUTURE, Tense.CAN, Tense.MUST, Tense.SHOULD):
        return tense.value, verb.english
    if verb is BE:
        forms = ("was", "was", "were") if tense is Tense.PAST else ("am", "is", "are")
        return forms[agreement], ""
    if tense is Tense.PAST:
        return ("did", verb.english) if helped else ("", verb.english_past)
    base = f"want to {verb.english}" if tense is Tense.WANT else verb.english
    third = agreement is Agreement.THIRD
    if helped:
        return "does" if third else "do", base
    return "", english_third_person(base) if third else base


def english_third_person(base: str) -> str:
    """The present form after "he": "wash" -> "washes", "get up" -> "gets up"."""
    head, _, particle = base.partition(" ")
    if head.endswith("y") and head[-2] not in "aeou":
        head = head[:-1] + "ies"
    elif head.endswith(("ch", "sh", "ss", "o", "x")):
        head += "es"
    else:
        head += "s"
    return join(head, particle)
