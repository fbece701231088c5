"""A trained model's directory: its configuration, vocabularies and checkpoints."""

from __future__ import annotations

import dataclasses
import json
import typing
from pathlib import Path
from typing import Any, Final, NamedTuple

import tensorflow as tf

from input_pipeline.encoded import Vocabularies
from input_pipeline.vocabularies import SUFFIXES, read_vocabulary
from input_pipeline.vocabulary import Vocabulary
from nmt import files
from nmt.config import TrainConfig
from nmt.devices import num_gpus
from nmt.errors import UserError
from nmt.model import Model, make_model
from nmt.weights import VocabularySizes

CONFIG: Final = "config.json"


class Trained(NamedTuple):
    """What is needed to translate."""

    config: TrainConfig
    model: Model
    weights: list[tf.Variable]
    vocabularies: Vocabularies
    checkpoint: str


def write_config(config: TrainConfig, directory: Path) -> None:
    """Keeps a run's whole configuration with its model."""
    text = json.dumps(dataclasses.asdict(config), indent=1)
    files.write_whole(directory / CONFIG, text.encode())


def read_config(directory: Path) -> TrainConfig:
    """The configuration a model was trained with; fields it does not know have their defaults."""
    path = directory / CONFIG
    if not path.is_file():
        raise UserError(
            f"{directory} has no {CONFIG}; name the --output_dir of a run that has saved a model"
        )
    try:
        return from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError, AttributeError) as error:
        raise UserError(f"{path} is damaged; copy it anew from where it was trained") from error


def from_dict(parts: dict[str, dict[str, Any]]) -> TrainConfig:
    """The opposite of `dataclasses.asdict`, for values the command line would take too."""
    sections = typing.get_type_hints(TrainConfig)
    built = {}
    for part, section in sections.items():
        values = {}
        for field in dataclasses.fields(section):
            value = parts.get(part, {}).get(field.name, field.default)
            option = field.metadata["option"]
            if type(value) is not type(field.default) or option.complaint(value):
                raise ValueError(f"{field.name}={value}")
            values[field.name] = value
        built[part] = section(**values)
    return TrainConfig(**built)


def read_vocabulary_of(directory: Path, side: str) -> Vocabulary:
    """The model's vocabulary of one side."""
    places = (directory / f"vocabulary.{side}{suffix}" for suffix in SUFFIXES)
    paths = [path for path in places if path.is_file()]
    if len(paths) != 1:
        raise UserError(f"{directory} has no vocabulary.{side} file; copy it there")
    return read_vocabulary(paths[0])


def load(directory: Path) -> Trained:
    """Reads the newest model of a directory, to compute with on one device."""
    config = read_config(directory)
    source, target = (read_vocabulary_of(directory, side) for side in ("source", "target"))
    sizes = VocabularySizes(len(source), len(target))
    model = make_model(config.model, sizes, "GPU" if num_gpus() else "CPU")
    newest = tf.train.latest_checkpoint(str(directory))
    if newest is None:
        raise UserError(f"{directory} has no checkpoint; train with --output_dir={directory}")
    return Trained(config, model, read_weights(model, newest), (source, target), newest)


def read_weights(model: Model, path: str) -> list[tf.Variable]:
    """The model's weights from a checkpoint."""
    variables = [tf.Variable(tf.zeros(spec.shape), trainable=False) for spec in model.flat_specs]
    state = {spec.name: value for spec, value in zip(model.flat_specs, variables)}
    try:
        status = tf.train.Checkpoint(state=state).restore(path)
        status.expect_partial().assert_existing_objects_matched()
    except (AssertionError, ValueError, tf.errors.OpError) as error:
        raise UserError(f"{path} is damaged or of another model; copy it anew") from error
    return variables
