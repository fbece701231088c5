"""WMT14 English-German as tensorflow-datasets prepares it.

Looking for it needs neither TensorFlow nor tensorflow-datasets; reading it does.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from input_pipeline import cache
from input_pipeline.corpus import BLOCK_LINES, Block
from nmt.errors import UserError

CONFIG: Final = "wmt14_translate/de-en"
SCRIPT: Final = Path(__file__).resolve().parents[1] / "scripts" / "prepare_wmt14.sh"
FEATURES: Final = "features.json"
TRANSLATIONS: Final = "tensorflow_datasets.core.features.translation_feature.Translation"
SPLITS: Final = {"train": "train", "dev": "validation", "test": "test"}


def data_directory(data_dir: str) -> Path:
    """--data_dir, or where tensorflow-datasets keeps its data."""
    named = data_dir or os.environ.get("TFDS_DATA_DIR")
    return Path(named) if named else cache.home("--data_dir") / "tensorflow_datasets"


def version_directory(data_dir: str) -> Path | None:
    """The newest prepared version, or None."""
    found = sorted((data_directory(data_dir) / CONFIG).glob("[0-9]*.[0-9]*.[0-9]*"))
    complete = [path for path in found if path.is_dir() and "incomplete" not in path.name]
    return complete[-1] if complete else None


def is_there(data_dir: str) -> bool:
    """Whether somebody has prepared it, or begun to; not where nobody may look."""
    try:
        return (data_directory(data_dir) / CONFIG).is_dir()
    except (OSError, UserError):
        if data_dir:
            raise
        return False


def find_problem(data_dir: str) -> str | None:
    """Why it cannot be read and what to do, or None."""
    place = data_directory(data_dir)
    advice = f"prepare it with: {prepare_command(data_dir)}"
    directory = version_directory(data_dir)
    if directory is None:
        state = "only half prepared" if is_there(data_dir) else "not"
        return f"{CONFIG} is {state} in {place}; {advice}"
    missing = missing_files(directory)
    if missing:
        return f"{directory} lacks {missing[0]}, it is only half prepared; remove it and {advice}"
    if not describes_translations(directory / FEATURES):
        return f"{directory / FEATURES} does not describe translations; remove it all and {advice}"
    return None


def describes_translations(path: Path) -> bool:
    """Whether it names the class for them: any other that is named there would be imported."""
    try:
        features = json.loads(path.read_text())
        return (features.get("pythonClassName") or features.get("type")) == TRANSLATIONS
    except (OSError, ValueError, AttributeError):
        return False


def missing_files(directory: Path) -> list[str]:
    """Files that the directory should have and has not."""
    try:
        splits = json.loads((directory / "dataset_info.json").read_text())["splits"]
        lengths = {split["name"]: len(split["shardLengths"]) for split in splits}
    except (OSError, ValueError, KeyError, TypeError):
        return ["a readable dataset_info.json"]
    wanted = [file for split in SPLITS.values() for file in shards(split, lengths.get(split, 1))]
    wanted.append(FEATURES)
    return [name for name in wanted if not (directory / name).is_file()]


def shards(split: str, count: int) -> list[str]:
    """Names of a split's files."""
    return [f"wmt14_translate-{split}.tfrecord-{i:05d}-of-{count:05d}" for i in range(count)]


def files(data_dir: str, split: str) -> list[Path]:
    """The files that hold a split."""
    directory = version_directory(data_dir)
    assert directory is not None, "find_problem was asked before"
    return sorted(directory.glob(f"*-{SPLITS[split]}.tfrecord-*"))


def read(data_dir: str, split: str) -> Iterator[Block]:
    """All pairs of a split, English first, in the order of the files."""
    import tensorflow as tf  # imported where they are used: looking needs neither
    import tensorflow_datasets as tfds

    directory = version_directory(data_dir)
    in_order = tfds.ReadConfig(interleave_cycle_length=1, try_autocache=False)
    try:
        builder = tfds.builder_from_directory(str(directory))
        dataset = builder.as_dataset(split=SPLITS[split], read_config=in_order)
        for block in dataset.batch(BLOCK_LINES).as_numpy_iterator():
            yield Block(*([text.decode().strip() for text in block[side]] for side in ("en", "de")))
    except (tf.errors.OpError, ValueError, KeyError, OSError) as error:
        raise UserError(
            f"{directory} is damaged in its {SPLITS[split]} split: {first_line(error)}; remove it "
            f"and prepare it anew with: {prepare_command(data_dir)}"
        ) from error


def first_line(error: Exception) -> str:
    """What went wrong, short."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def prepare_command(data_dir: str) -> str:
    """What prepares it, from wherever the user is."""
    return f"sh {shlex.quote(str(SCRIPT))} {shlex.quote(str(data_directory(data_dir).resolve()))}"
