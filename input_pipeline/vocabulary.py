"""Words and their ids."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Final, Protocol

from nmt.errors import UserError

SPECIAL_WORDS: Final = ("<unk>", "<s>", "</s>")
UNK, BOS, EOS = range(3)


class Vocabulary(Protocol):
    """Sentences to ids and back; ids 0, 1, 2 are the special words."""

    @property
    def suffix(self) -> str:
        """How the name of its file ends."""

    @property
    def space(self) -> int | None:
        """The id that begins a word, where ids are characters."""

    def __len__(self) -> int: ...

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """Ids of every sentence, without special words."""

    def decode(self, ids: Iterable[int]) -> str:
        """The sentence up to </s>."""

    def to_bytes(self) -> bytes:
        """What its file holds."""


def fingerprint(vocabulary: Vocabulary) -> str:
    """Differs where two vocabularies do."""
    return hashlib.sha256(vocabulary.to_bytes()).hexdigest()


def up_to_end(ids: Iterable[int]) -> list[int]:
    """[3, 4, 2, 2] -> [3, 4]."""
    found = [int(index) for index in ids]
    return found[: found.index(EOS)] if EOS in found else found


@dataclass(frozen=True)
class WordVocabulary:
    """Ids are places in the list of words; the special words come first."""

    words: tuple[str, ...]
    suffix: ClassVar[str] = ".words"
    space: ClassVar[int | None] = None

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def ids(self) -> dict[str, int]:
        """Each word's id; a special word that stands in a text is unknown, it marks nothing."""
        first = len(SPECIAL_WORDS)
        return {word: index for index, word in enumerate(self.words[first:], first)}

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """["a b"] -> [[3, 4]]."""
        get = self.ids.get
        return [[get(word, UNK) for word in sentence.split()] for sentence in sentences]

    def decode(self, ids: Iterable[int]) -> str:
        """[3, 4, 2, 2] -> "a b"."""
        return " ".join(self.words[index] for index in up_to_end(ids))

    def to_bytes(self) -> bytes:
        """One word a line."""
        return "".join(f"{word}\n" for word in self.words).encode()


def build_vocabulary(sentences: Iterable[str], size: int | None = None) -> WordVocabulary:
    """The most frequent words, at most `size` with the special ones, in alphabetical order."""
    counts = Counter(word for sentence in sentences for word in sentence.split())
    for word in SPECIAL_WORDS:
        counts.pop(word, None)
    places = len(counts) if size is None else size - len(SPECIAL_WORDS)
    found = sorted(counts, key=lambda word: (-counts[word], word))[:places]
    return WordVocabulary((*SPECIAL_WORDS, *sorted(found)))


def read_words(path: Path) -> WordVocabulary:
    """Loads a list of words, one a line, that begins with the special words."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text: {error.reason}; convert it") from error
    words = [line.strip() for line in text.removesuffix("\n").split("\n")]
    if tuple(words[: len(SPECIAL_WORDS)]) != SPECIAL_WORDS:
        raise UserError(
            f"{path} begins with {' '.join(words[:3])!r}; the first three lines of a vocabulary "
            f"are {', '.join(SPECIAL_WORDS)}: add them"
        )
    refuse_repeats(path, words)
    return WordVocabulary(tuple(words))


def refuse_repeats(path: Path, words: Sequence[str]) -> None:
    """A word has one id; an empty line is no word."""
    seen: dict[str, int] = {}
    for number, word in enumerate(words, 1):
        if not word:
            raise UserError(f"{path} has no word in line {number:,}; remove the line")
        if word in seen:
            raise UserError(
                f"{path} has {word!r} in line {seen[word]:,} and again in line {number:,}; "
                "remove one of them"
            )
        seen[word] = number
