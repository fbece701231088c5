"""A model's two vocabularies: kept beside it, and in each of its checkpoints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from input_pipeline import cache
from input_pipeline.encoded import Vocabularies
from input_pipeline.encoded_files import SIDES
from input_pipeline.subwords import SubwordVocabulary, read_subwords
from input_pipeline.vocabulary import Vocabulary, WordVocabulary, read_words
from nmt import files
from nmt.config import DataConfig
from nmt.errors import UserError
from nmt.storage import snapshots

VOCABULARY_FLAGS: Final = ("vocab_type", "joint_vocab", "src_vocab_size", "tgt_vocab_size")
KEPT_FLAGS: Final = "vocabulary.json"
SUFFIXES: Final = (SubwordVocabulary.suffix, WordVocabulary.suffix)
OUTPUT_FLAG: Final = "--output_dir"


def read_vocabulary(path: Path) -> Vocabulary:
    """Loads a vocabulary: SentencePiece's where the name says .model, else words."""
    return read_subwords(path) if path.suffix == SubwordVocabulary.suffix else read_words(path)


def has_checkpoint(directory: Path) -> bool:
    """Whether a model was saved there."""
    return bool(snapshots.newest_first(directory))


def wishes(config: DataConfig) -> dict[str, Any]:
    """The flags that decide what a vocabulary is, but for files, which are compared themselves."""
    return {name: getattr(config, name) for name in VOCABULARY_FLAGS}


def refuse_other_flags(config: DataConfig, directory: Path) -> None:
    """A model goes on with the vocabularies it has."""
    path = directory / KEPT_FLAGS
    try:
        with cache.using(directory, OUTPUT_FLAG):
            before = json.loads(path.read_text())
    except ValueError as error:
        raise UserError(f"{path} is damaged; copy it anew or name another --output_dir") from error
    for name, value in wishes(config).items():
        if value != before.get(name, value):
            raise UserError(
                f"--{name}={value} but the model in {directory} was trained with --{name}="
                f"{before[name]}; give that or name another --output_dir"
            )


def kept_path(directory: Path, name: str) -> Path:
    """The file with a model's vocabulary of one side."""
    places = (directory / f"vocabulary.{name}{suffix}" for suffix in SUFFIXES)
    paths = [path for path in places if path.is_file()]
    if len(paths) != 1:
        raise UserError(f"{directory} has a model but no vocabulary.{name} file; copy it there")
    return paths[0]


def kept_files(directory: Path) -> dict[str, bytes]:
    """All that a directory holds of vocabularies, as it goes into checkpoints."""
    sides = (f"vocabulary.{name}{suffix}" for name in SIDES for suffix in SUFFIXES)
    paths = (directory / name for name in (KEPT_FLAGS, *sides))
    return {path.name: path.read_bytes() for path in paths if path.is_file()}


def put_back(checkpoint: Path, directory: Path) -> None:
    """Gives a run the vocabularies of the checkpoint it goes on from."""
    present = kept_files(directory)
    for name, data in kept_files(checkpoint).items():
        if present.get(name) != data:
            with cache.using(directory, OUTPUT_FLAG):
                files.write_whole(directory / name, data)


def keep_with_output(config: DataConfig, both: Vocabularies, directory: Path) -> None:
    """Puts vocabularies where the model's next run finds them, in place of a failed run's."""
    with cache.using(directory, OUTPUT_FLAG):
        directory.mkdir(parents=True, exist_ok=True)
        for side, vocabulary in zip(SIDES, both):
            for suffix in SUFFIXES:
                (directory / f"vocabulary.{side}{suffix}").unlink(missing_ok=True)
            path = directory / f"vocabulary.{side}{vocabulary.suffix}"
            path.write_bytes(vocabulary.to_bytes())
        (directory / KEPT_FLAGS).write_text(json.dumps(wishes(config)))
