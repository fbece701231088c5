"""The table of datasets: each makes what a run trains on."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from input_pipeline import text_files, wmt14
from input_pipeline.corpus import (
    Block,
    Corpus,
    Pair,
    Splits,
    blocks_of_pairs,
    pairs_of_blocks,
    reversed_blocks,
)
from input_pipeline.demo.corpus import generate
from input_pipeline.synthetic import synthetic_batches
from input_pipeline.training_data import Request, TrainingData, from_text
from nmt.errors import UserError


def synthetic_data(request: Request) -> TrainingData:
    """The same random batch again and again, already on its device."""
    config = request.config
    batches = synthetic_batches(config, request.devices, request.seed)
    return TrainingData(
        description={"data": f"synthetic: random ids, {config.src_max_len} words each side"},
        batches_from=lambda _: itertools.repeat(batches),
        num_batches=None,
        vocabulary_sizes=config.synthetic_vocab_sizes,
        vocabularies=None,
        dev=[],
        test=[],
        tokenized=False,
        padding_share=0.0,
    )


def demo_data(request: Request) -> TrainingData:
    """The built-in English-German corpus; the same one for every --seed."""
    return from_splits("demo: built-in English-German corpus", generate(), request)


def from_splits(name: str, splits: Splits, request: Request) -> TrainingData:
    """A tokenised corpus at hand."""

    def turn(pairs: Sequence[Pair]) -> list[Pair]:
        return [Pair(p.target, p.source) for p in pairs] if request.config.reverse else list(pairs)

    train, dev, test = map(turn, splits)
    corpus = Corpus(name, lambda: blocks_of_pairs(train), None, dev, test, tokenized=True)
    return from_text(corpus, request)


def file_data(request: Request) -> TrainingData:
    """The user's own files."""
    config = request.config
    sources, targets = map(text_files.expand, (config.src_file_name, config.tgt_file_name))
    dev = pairs_in(config.dev_src_file_name, config.dev_tgt_file_name)
    test = pairs_in(config.test_src_file_name, config.test_tgt_file_name)
    corpus = Corpus(
        f"files: {config.src_file_name} and {config.tgt_file_name}",
        lambda: text_files.read_pairs(sources, targets),
        text_files.identity([*sources, *targets]),
        dev,
        test or dev,
    )
    return from_text(corpus, request)


def pairs_in(sources: str, targets: str) -> list[Pair]:
    """All pairs of some files; none where none are named."""
    found = pairs_of_blocks(text_files.read_pairs(*map(text_files.expand, (sources, targets))))
    if found and not any(source.strip() and target.strip() for source, target in found):
        raise UserError(
            f"every pair of {sources} and {targets} has an empty side; name files with sentences"
        )
    return found


def wmt14_data(request: Request) -> TrainingData:
    """WMT14 as tensorflow-datasets prepared it."""
    config = request.config
    place = config.data_dir

    def read(split: str) -> Iterable[Block]:
        blocks = wmt14.read(place, split)
        return reversed_blocks(blocks) if config.reverse else blocks

    corpus = Corpus(
        f"wmt14: {wmt14.version_directory(place)}, "
        + ("German to English" if config.reverse else "English to German"),
        lambda: iter(read("train")),
        ("reverse" if config.reverse else "", *text_files.identity(wmt14.files(place, "train"))),
        pairs_of_blocks(read("dev")) if request.dev else [],
        pairs_of_blocks(read("test")) if request.test else [],
    )
    return from_text(corpus, request)


Source = Callable[[Request], TrainingData]

SOURCES: Final[dict[str, Source]] = {
    "wmt14": wmt14_data,
    "files": file_data,
    "demo": demo_data,
    "synthetic": synthetic_data,
}
