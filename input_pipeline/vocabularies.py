"""A run's two vocabularies: given in files, kept beside the output, or learned from the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from input_pipeline import cache
from input_pipeline.corpus import Corpus
from input_pipeline.encoded import Vocabularies
from input_pipeline.subwords import SubwordVocabulary, Wish, read_subwords, train_subwords
from input_pipeline.vocabulary import (
    Vocabulary,
    WordVocabulary,
    build_vocabulary,
    fingerprint,
    read_words,
)
from nmt.config import DEFAULT_VOCAB_SIZE, DataConfig
from nmt.errors import UserError

AUTO, UNIGRAM, CHAR, WORD = "auto", "unigram", "char", "word"
AT_MOST: Final = (CHAR, WORD)  # kinds whose size is a limit: a text has only so many
# What a vocabulary is learned from: more sentences make it slower to learn, hardly better.
MIN_SAMPLE = 50_000
SAMPLE_PER_PIECE = 5


class SideRequest(NamedTuple):
    """What the flags say of one side's vocabulary."""

    name: str  # "source" or "target"
    short: str  # as in --src_vocab_file
    fields: tuple[int, ...]  # sides of a block that it is learned from
    file: str
    size: int  # 0: not said

    @property
    def size_flag(self) -> str:
        """The flag that sets the size."""
        return f"--{self.short}_vocab_size"


def side_requests(config: DataConfig) -> tuple[SideRequest, SideRequest]:
    """Both sides; a joint vocabulary is the source's, learned from both."""
    source = SideRequest("source", "src", (0,), config.src_vocab_file, config.src_vocab_size)
    target = SideRequest("target", "tgt", (1,), config.tgt_vocab_file, config.tgt_vocab_size)
    if not config.joint_vocab:
        return source, target
    joint = source._replace(
        fields=(0, 1), file=source.file or target.file, size=source.size or target.size
    )
    return joint, joint._replace(name="target", short="tgt")


def make_vocabularies(config: DataConfig, corpus: Corpus, output_dir: str) -> Vocabularies:
    """Finds or learns both vocabularies, and keeps them with the output."""
    source, target = side_requests(config)
    return make_one(config, corpus, source, output_dir), make_one(
        config, corpus, target, output_dir
    )


def make_one(config: DataConfig, corpus: Corpus, side: SideRequest, output_dir: str) -> Vocabulary:
    """One side's vocabulary; the one a model was trained with is the only one it understands."""
    before = kept_with_output(side, output_dir)
    if before is not None and not side.file:
        check_size(*before, side, at_most=kind_of(before[1]) in AT_MOST)
        return before[1]
    if side.file:
        vocabulary = read_vocabulary(Path(side.file))
        check_size(Path(side.file), vocabulary, side, at_most=False)
    else:
        vocabulary = learn(config, corpus, side)
    if before is not None and fingerprint(before[1]) != fingerprint(vocabulary):
        raise UserError(
            f"--{side.short}_vocab_file={side.file} is not {before[0]}, which the model in "
            f"--output_dir={output_dir} was trained with; leave it out or name another --output_dir"
        )
    keep_with_output(vocabulary, side, output_dir)
    return vocabulary


def read_vocabulary(path: Path) -> Vocabulary:
    """Loads a vocabulary: SentencePiece's where the name says .model, else words."""
    return read_subwords(path) if path.suffix == SubwordVocabulary.suffix else read_words(path)


def kind_of(vocabulary: Vocabulary) -> str:
    """What its entries are, as far as it matters for their number."""
    if vocabulary.suffix == WordVocabulary.suffix:
        return WORD
    return UNIGRAM if vocabulary.space is None else CHAR


def check_size(path: Path, vocabulary: Vocabulary, side: SideRequest, *, at_most: bool) -> None:
    """The flag, where it is given, says what the file has."""
    fits = len(vocabulary) <= side.size if at_most else len(vocabulary) == side.size
    if side.size and not fits:
        raise UserError(
            f"{side.size_flag}={side.size} but {path} has {len(vocabulary)} entries; leave "
            f"{side.size_flag} out or give {len(vocabulary)}"
        )


def output_path(side: SideRequest, output_dir: str, suffix: str) -> Path:
    """Where a vocabulary is kept beside checkpoints."""
    return Path(output_dir) / f"vocabulary.{side.name}{suffix}"


def kept_with_output(side: SideRequest, output_dir: str) -> tuple[Path, Vocabulary] | None:
    """The vocabulary of the model in the directory, if there is one."""
    if output_dir:
        for suffix in (SubwordVocabulary.suffix, WordVocabulary.suffix):
            path = output_path(side, output_dir, suffix)
            if path.exists():
                return path, read_vocabulary(path)
    return None


def keep_with_output(vocabulary: Vocabulary, side: SideRequest, output_dir: str) -> None:
    """Puts a vocabulary where the model's next run finds it."""
    if output_dir:
        path = output_path(side, output_dir, vocabulary.suffix)
        cache.kept(path, lambda part: part.write_bytes(vocabulary.to_bytes()))


def learn(config: DataConfig, corpus: Corpus, side: SideRequest) -> Vocabulary:
    """Learns a vocabulary, or takes the one that an earlier run learned from the same text."""
    kind = (
        (WORD if corpus.tokenized else UNIGRAM) if config.vocab_type == AUTO else config.vocab_type
    )
    exact = bool(side.size) and kind not in AT_MOST
    wish = Wish(kind, side.size or DEFAULT_VOCAB_SIZE, exact)
    if corpus.identity is None:
        return learn_words(corpus, side, wish) if kind == WORD else learn_pieces(corpus, side, wish)
    suffix = WordVocabulary.suffix if kind == WORD else SubwordVocabulary.suffix
    name = cache.key(text=corpus.identity, fields=side.fields, wish=wish) + suffix
    path = cache.directory(config.cache_dir) / "vocabularies" / name

    def build(part: Path) -> None:
        print(f"learning {side.name} vocabulary ({kind}); kept in {path}", flush=True)
        learner = learn_words if kind == WORD else learn_pieces
        part.write_bytes(learner(corpus, side, wish).to_bytes())

    return read_vocabulary(cache.kept(path, build))


def learn_words(corpus: Corpus, side: SideRequest, wish: Wish) -> WordVocabulary:
    """The most frequent words of the whole text."""
    return build_vocabulary(sentences(corpus, side), wish.size)


def learn_pieces(corpus: Corpus, side: SideRequest, wish: Wish) -> SubwordVocabulary:
    """SentencePiece's choice, from a sample."""
    sample = evenly(sentences(corpus, side), max(MIN_SAMPLE, SAMPLE_PER_PIECE * wish.size))
    return SubwordVocabulary(train_subwords(sample, wish, side.size_flag))


def sentences(corpus: Corpus, side: SideRequest) -> Iterator[str]:
    """All text a vocabulary can be learned from."""
    for block in corpus.blocks():
        for field in side.fields:
            yield from block[field]


def evenly(items: Iterable[str], count: int) -> list[str]:
    """At least `count` items, if there are so many, and fewer than twice that, evenly spaced.

    Reads once and holds no more than it gives, however long the row is.
    """
    found: list[str] = []
    stride = 1
    for number, item in enumerate(items):
        if number % stride == 0:
            found.append(item)
            if len(found) == 2 * count:
                found, stride = found[::2], 2 * stride
    return found
