"""Reasons why data cannot be read as the flags say, found without reading it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from input_pipeline import text_files, wmt14
from input_pipeline.choice import dataset_of
from input_pipeline.vocabulary import SPECIAL_WORDS
from nmt.config import DEFAULT_BATCH_SIZE, DataConfig

Problems = Iterator[str]

FILE_FLAGS: Final = (
    ("src_file_name", "tgt_file_name"),
    ("dev_src_file_name", "dev_tgt_file_name"),
    ("test_src_file_name", "test_tgt_file_name"),
)


def one_dataset(config: DataConfig) -> Problems:
    """--use_synthetic_data names a dataset."""
    if config.use_synthetic_data and config.dataset not in ("auto", "synthetic"):
        yield (
            f"--use_synthetic_data=true and --dataset={config.dataset} name two datasets; "
            "leave one of them out"
        )


def flags_belong_to_the_dataset(config: DataConfig) -> Problems:
    """A flag that would do nothing is refused."""
    dataset = dataset_of(config)
    for field in dataclasses.fields(config):
        only = field.metadata["option"].only
        value = getattr(config, field.name)
        if only and dataset not in only and value != field.default:
            yield (
                f"--{field.name}={value} does nothing with --dataset={dataset}; leave it out or "
                f"use --dataset={' or '.join(only)}"
            )


def synthetic_sides_are_as_long(config: DataConfig) -> Problems:
    """Both sides of synthetic pairs have --src_max_len ids."""
    longest = config.tgt_max_len
    unusual = longest not in (config.src_max_len, DataConfig().tgt_max_len)
    if dataset_of(config) == "synthetic" and unusual:
        yield (
            f"--tgt_max_len={longest} does nothing with --dataset=synthetic, whose sides are both "
            f"--src_max_len={config.src_max_len} words long; leave it out"
        )


def wmt14_is_prepared(config: DataConfig) -> Problems:
    """tensorflow-datasets has done its work."""
    if dataset_of(config) == "wmt14":
        problem = wmt14.find_problem(config.data_dir)
        if problem and config.dataset == "auto":
            problem += ", or use --dataset=demo"
        if problem:
            yield problem


def training_files_are_named(config: DataConfig) -> Problems:
    """--dataset=files needs some."""
    if dataset_of(config) == "files" and not (config.src_file_name or config.tgt_file_name):
        yield "--dataset=files needs --src_file_name and --tgt_file_name; name your files"


def sides_match(config: DataConfig) -> Problems:
    """Where there is a source there is a target, with equally many files."""
    for names in FILE_FLAGS:
        values = [getattr(config, name) for name in names]
        if any(values) and not all(values):
            missing, given = sorted(names, key=lambda name: bool(getattr(config, name)))
            yield f"--{given} is given without --{missing}; name both sides"
        counts = [len(text_files.expand(value)) for value in values]
        if all(counts) and counts[0] != counts[1]:
            yield (
                f"--{names[0]} means {counts[0]} files and --{names[1]} means {counts[1]}; give "
                "equally many, in the same order"
            )


def files_can_be_read(config: DataConfig) -> Problems:
    """Every name means files that are there."""
    for name in (name for names in FILE_FLAGS for name in names):
        value = getattr(config, name)
        if value and not text_files.names_in(value):
            yield f"--{name}={value} names no file; name one, or leave it out"
        for part in text_files.names_in(value):
            found = text_files.matches(part)
            if not found:
                yield f"--{name}={part} matches no file; check the name"
            for path in found:
                yield from unreadable(f"--{name}", path)


def vocabulary_files_can_be_read(config: DataConfig) -> Problems:
    """A vocabulary that is named is there."""
    for name in ("src_vocab_file", "tgt_vocab_file"):
        if value := getattr(config, name):
            yield from unreadable(f"--{name}", Path(value))


def unreadable(flag: str, path: Path) -> Problems:
    """Says why a file cannot be opened."""
    if not path.exists():
        yield f"{flag}={path} does not exist; check the name"
    elif not path.is_file():
        yield f"{flag}={path} is not a file; name a file"
    elif not os.access(path, os.R_OK):
        yield f"{flag}={path} is not readable; change its permissions"


def vocabulary_flags_agree(config: DataConfig) -> Problems:
    """A given vocabulary is what it is; a joint one has one file and one size."""
    files = [file for file in (config.src_vocab_file, config.tgt_vocab_file) if file]
    words = all(not file.endswith(".model") for file in files)
    if files and config.vocab_type != "auto" and not (words and config.vocab_type == "word"):
        yield (
            f"--vocab_type={config.vocab_type} and a vocabulary file exclude each other; leave one "
            "out"
        )
    for flag, values in {
        "vocab_file": (config.src_vocab_file, config.tgt_vocab_file),
        "vocab_size": (config.src_vocab_size, config.tgt_vocab_size),
    }.items():
        if config.joint_vocab and all(values) and values[0] != values[1]:
            yield f"--joint_vocab with two --*_{flag}, {values[0]} and {values[1]}; give one"


def vocabularies_have_words(config: DataConfig) -> Problems:
    """There is at least one word beside the special ones."""
    for name in ("src_vocab_size", "tgt_vocab_size"):
        value = getattr(config, name)
        if 0 < value <= len(SPECIAL_WORDS):
            yield f"--{name}={value} cannot be used; give at least {len(SPECIAL_WORDS) + 1}"


def batch_holds_the_longest_pair(config: DataConfig) -> Problems:
    """--batch_words has room for any sentence, and is not said in sentences too."""
    longest = config.src_max_len + config.tgt_max_len
    if config.batch_words and config.batch_words < longest:
        yield (
            f"--batch_words={config.batch_words} is less than --src_max_len={config.src_max_len} "
            f"and --tgt_max_len={config.tgt_max_len} together; give at least {longest}"
        )
    if config.batch_words and config.batch_size != DEFAULT_BATCH_SIZE:
        yield (
            f"--batch_words={config.batch_words} and --batch_size={config.batch_size} both say how "
            "large a batch is; leave one of them out"
        )


Rule = Callable[[DataConfig], Problems]

RULES: Final[tuple[Rule, ...]] = (
    one_dataset,
    flags_belong_to_the_dataset,
    synthetic_sides_are_as_long,
    wmt14_is_prepared,
    training_files_are_named,
    sides_match,
    files_can_be_read,
    vocabulary_files_can_be_read,
    vocabulary_flags_agree,
    vocabularies_have_words,
    batch_holds_the_longest_pair,
)
