"""Words and their ids."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

SPECIAL_WORDS: Final = ("<unk>", "<s>", "</s>")
UNK, BOS, EOS = range(3)


@dataclass(frozen=True)
class WordVocabulary:
    """Ids are places in the list of words; the special words come first."""

    words: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def ids(self) -> dict[str, int]:
        """Each word's id."""
        return {word: index for index, word in enumerate(self.words)}

    def encode(self, sentence: str) -> list[int]:
        """Ids of a sentence's words: "a b" -> [3, 4]."""
        return [self.ids.get(word, UNK) for word in sentence.split()]

    def decode(self, ids: Iterable[int]) -> str:
        """The words up to </s>: [3, 4, 2, 2] -> "a b"."""
        words = []
        for index in ids:
            if index == EOS:
                break
            words.append(self.words[index])
        return " ".join(words)


def build_vocabulary(sentences: Iterable[str]) -> WordVocabulary:
    """All words that occur, in alphabetical order."""
    found = {word for sentence in sentences for word in sentence.split()}
    return WordVocabulary((*SPECIAL_WORDS, *sorted(found)))
