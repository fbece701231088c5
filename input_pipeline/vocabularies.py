"""A run's two vocabularies: given in files, kept beside the output, or learned from the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from input_pipeline import cache
from input_pipeline.corpus import Corpus
from input_pipeline.encoded import Vocabularies
from input_pipeline.kept_vocabularies import (
    has_checkpoint,
    keep_with_output,
    kept_path,
    read_vocabulary,
    refuse_other_flags,
)
from input_pipeline.subwords import SubwordVocabulary, Wish, train_subwords
from input_pipeline.vocabulary import (
    Vocabulary,
    WordVocabulary,
    build_vocabulary,
    fingerprint,
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
    """Finds or learns both vocabularies, and keeps them with the output.

    The vocabularies a model was trained with are the only ones it understands: where the output
    has a checkpoint, its vocabularies are taken, and flags that want others are refused.
    """
    sides = side_requests(config)
    if output_dir and has_checkpoint(Path(output_dir)):
        refuse_other_flags(config, Path(output_dir))
        source, target = (kept_with_output(side, output_dir) for side in sides)
        return source, target
    source, target = (make_one(config, corpus, side) for side in sides)
    if output_dir:
        keep_with_output(config, (source, target), Path(output_dir))
    return source, target


def make_one(config: DataConfig, corpus: Corpus, side: SideRequest) -> Vocabulary:
    """One side's vocabulary, as the flags say."""
    if not side.file:
        return learn(config, corpus, side)
    vocabulary = read_vocabulary(Path(side.file))
    if side.size and len(vocabulary) != side.size:
        raise UserError(
            f"{side.size_flag}={side.size} but {side.file} has {len(vocabulary)} entries; leave "
            f"{side.size_flag} out or give {len(vocabulary)}"
        )
    return vocabulary


def kept_with_output(side: SideRequest, output_dir: str) -> Vocabulary:
    """The vocabulary of the model in the directory."""
    path = kept_path(Path(output_dir), side.name)
    before = read_vocabulary(path)
    if side.file and fingerprint(read_vocabulary(Path(side.file))) != fingerprint(before):
        raise UserError(
            f"--{side.short}_vocab_file={side.file} is not {path}, which the model in "
            f"--output_dir={output_dir} was trained with; leave it out or name another --output_dir"
        )
    return before


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

    return cache.kept(path, build, read_kept, "--cache_dir")


def read_kept(path: Path) -> Vocabulary:
    """A vocabulary from the cache."""
    try:
        return read_vocabulary(path)
    except UserError as error:
        raise cache.Damaged(str(error)) from error


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
