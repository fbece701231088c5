"""What a run trains on: a corpus turned into batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from input_pipeline import cache, encoded, encoded_files
from input_pipeline.batching import TrainingBatches
from input_pipeline.corpus import Corpus, Pair
from input_pipeline.delivery import Delivery
from input_pipeline.encoded import EncodedPairs, Selection, Vocabularies
from input_pipeline.epochs import BatchLimit, Epochs
from input_pipeline.vocabularies import make_vocabularies
from input_pipeline.vocabulary import fingerprint
from nmt.config import DataConfig
from nmt.errors import UserError
from nmt.types import Batch


class Request(NamedTuple):
    """What a run wants of its data."""

    config: DataConfig
    devices: Sequence[str]
    num_epochs: int  # 0: endless
    seed: int
    dev: bool = False  # whether the dev split is wanted
    test: bool = False  # whether the test split is wanted
    output_dir: str = ""  # where the vocabularies are kept with the model


BatchesFrom = Callable[[int], Iterable[tuple[Batch, ...]]]
"""Gives one slice per replica and step, without the first so many steps."""


class TrainingData(NamedTuple):
    """What a run trains on, and what it can be judged by."""

    description: dict[str, str]  # lines of the plan
    batches_from: BatchesFrom
    num_batches: int | None  # None: endless
    vocabulary_sizes: tuple[int, int]
    vocabularies: Vocabularies | None
    dev: list[Pair]
    test: list[Pair]
    tokenized: bool
    padding_share: float  # of the places in the first epoch's batches
    batches_per_epoch: int | None = None  # None: there are no epochs

    @property
    def spaces(self) -> tuple[int | None, int | None]:
        """The ids that begin words, for sides whose ids are characters."""
        if self.vocabularies is None:
            return None, None
        return self.vocabularies[0].space, self.vocabularies[1].space


def encode(corpus: Corpus, vocabularies: Vocabularies, cache_dir: str) -> EncodedPairs:
    """The corpus in ids: encoded now, or by an earlier run."""
    if corpus.identity is None:
        return encoded.in_memory(corpus.blocks(), vocabularies)
    name = cache.key(text=corpus.identity, vocabularies=[fingerprint(v) for v in vocabularies])
    path = cache.directory(cache_dir) / "pairs" / name

    def build(part: Path) -> None:
        print(f"encoding the training text; kept in {path}", flush=True)
        encoded_files.write(corpus.blocks(), vocabularies, part)

    def load(place: Path) -> EncodedPairs:
        return encoded_files.open_pairs(place, vocabularies)

    return cache.kept(path, build, load, "--cache_dir")


def from_text(corpus: Corpus, request: Request) -> TrainingData:
    """Batches of a corpus, whatever it was read from."""
    config = request.config
    vocabularies = make_vocabularies(config, corpus, request.output_dir)
    pairs = encode(corpus, vocabularies, config.cache_dir)
    selection = encoded.select(pairs, (config.src_max_len, config.tgt_max_len))
    refuse_nothing(selection, config)
    epochs = make_epochs(selection.pairs, request)
    delivery = Delivery(request.devices, config.prefetch_data_to_device)
    batches = TrainingBatches(selection.pairs, epochs, request.num_epochs, delivery)
    padding = epochs.padding_share(len(request.devices))
    sizes = len(vocabularies[0]), len(vocabularies[1])
    return TrainingData(
        description={
            "data": describe(corpus, selection),
            "vocabulary": f"{sizes[0]:,} source and {sizes[1]:,} target entries",
            "input": f"{epochs.num_batches:,} batches an epoch from {len(epochs.buckets)} length "
            f"buckets, {100 * padding:.1f} % of their places padding",
        },
        batches_from=batches.starting_at,
        num_batches=batches.num_batches,
        vocabulary_sizes=sizes,
        vocabularies=vocabularies,
        dev=corpus.dev,
        test=corpus.test,
        tokenized=corpus.tokenized,
        padding_share=padding,
        batches_per_epoch=epochs.num_batches,
    )


def make_epochs(pairs: EncodedPairs, request: Request) -> Epochs:
    """The order of batches; N replicas of B make the batches of one of N * B."""
    config = request.config
    amount = (config.batch_words or config.batch_size) * len(request.devices)
    limit = BatchLimit(amount, in_words=config.batch_words > 0)
    lengths = pairs.source.lengths, pairs.target.lengths
    return Epochs(*lengths, limit, config.num_buckets, request.seed)


def describe(corpus: Corpus, selection: Selection) -> str:
    """What is trained on and what is not."""
    left_out = f"{selection.num_empty:,} empty and {selection.num_too_long:,} too long left out"
    return f"{corpus.name}, {len(selection.pairs):,} training pairs ({left_out})"


def refuse_nothing(selection: Selection, config: DataConfig) -> None:
    """There must be something to train on."""
    dropped = selection.num_empty + selection.num_too_long
    if not len(selection.pairs):
        raise UserError(
            f"none of {dropped:,} training pairs can be used: {selection.num_empty:,} have an "
            f"empty side, {selection.num_too_long:,} are over --src_max_len={config.src_max_len} "
            f"or --tgt_max_len={config.tgt_max_len}; give other files or larger lengths"
        )
