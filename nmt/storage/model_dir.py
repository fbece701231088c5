"""Trained models on disk: a run's directory, or one checkpoint of it."""

from __future__ import annotations

import dataclasses
import json
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import tensorflow as tf

from input_pipeline.choice import dataset_of
from input_pipeline.encoded import Vocabularies
from input_pipeline.kept_vocabularies import kept_path, read_vocabulary
from nmt.config import TrainConfig
from nmt.errors import UserError
from nmt.judging import history
from nmt.machine.devices import num_gpus
from nmt.network.model import Model, make_model
from nmt.network.weights import VocabularySizes
from nmt.storage import checkpoints, snapshots

CONFIG: Final = "config.json"
PROGRESS: Final = "progress.json"
SAME_WEIGHTS: Final = ("encoder_type", "dropout", "label_smoothing", "mixed_precision")
"""Flags of the model that may differ from run to run."""


class Trained(NamedTuple):
    """What is needed to translate."""

    config: TrainConfig
    model: Model
    weights: list[tf.Variable]
    vocabularies: Vocabularies
    checkpoints: list[Path]  # whose mean the weights are


def config_bytes(config: TrainConfig) -> bytes:
    """A run's whole configuration, as it is kept with its model."""
    return json.dumps(dataclasses.asdict(config), indent=1).encode()


def read_config(directory: Path) -> TrainConfig:
    """The configuration a model was trained with; fields it does not know have their defaults."""
    path = directory / CONFIG
    try:
        return from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, AttributeError) as error:
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


def changes(config: TrainConfig, path: Path) -> list[str]:
    """Flags of what a run computes that are not those of the checkpoint it goes on from."""
    before = read_config(path)
    found = []
    for part in ("data", "model", "optimizer", "parallel"):
        now, then = (getattr(one, part) for one in (config, before))
        found += differences(now, then, [field.name for field in dataclasses.fields(now)])
    return found + differences(config.run, before.run, ["seed", "num_epochs"])


def differences(now: Any, then: Any, names: Sequence[str]) -> list[str]:
    """Flags with both values."""
    pairs = ((name, getattr(now, name), getattr(then, name)) for name in names)
    return [f"--{name}={new} (was {old})" for name, new, old in pairs if new != old]


def refuse_other_model(config: TrainConfig, path: Path) -> None:
    """What goes on from a checkpoint has the same weights, for the same two languages."""
    before = read_config(path)
    pairs: list[tuple[str, Any, Any]] = [
        ("optimizer", config.optimizer.optimizer, before.optimizer.optimizer),
        ("reverse", config.data.reverse, before.data.reverse),
        ("use_synthetic_data", is_synthetic(config), is_synthetic(before)),
    ]
    for field in dataclasses.fields(config.model):
        if field.name not in SAME_WEIGHTS:
            now, then = (getattr(one.model, field.name) for one in (config, before))
            pairs.append((field.name, now, then))
    for name, now, then in pairs:
        if now != then:
            raise UserError(
                f"--{name}={now} but {path} was trained with --{name}={then}; give that or name "
                "another --output_dir"
            )


def is_synthetic(config: TrainConfig) -> bool:
    """Whether its words are random numbers."""
    return dataset_of(config.data) == "synthetic"


def read_history(path: Path) -> history.History:
    """How the model of a checkpoint has done so far."""
    try:
        return history.from_json((path / PROGRESS).read_bytes())
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path / PROGRESS} is damaged; copy it anew") from error


def best(directory: Path) -> Path | None:
    """The checkpoint that was judged best: `best` leads to it, or the newest one's history does.

    Some disks have no links, and some copies follow them.
    """
    if linked := snapshots.best(directory):
        return linked
    found = {snapshots.step_of(path): path for path in snapshots.newest_first(directory)}
    if not found:
        return None
    try:
        history = read_history(next(iter(found.values())))
    except UserError:  # damage is looked for in what is chosen
        return None
    score = history.best_of(lambda score: score.step in found)
    return found[score.step] if score else None


def not_looked_at(directory: Path, chosen: Path) -> str | None:
    """A warning where the best was chosen, but training went on after the last look."""
    newest = snapshots.newest_first(directory)[:1]
    if not newest or chosen == newest[0]:
        return None
    try:
        looks = read_history(newest[0]).scores
    except UserError:
        return None
    last = max((score.step for score in looks), default=0)
    if (snapshots.step_of(newest[0]) or 0) <= last:
        return None
    return (
        f"using {chosen.name}, the best of all evaluated ones, up to step {last:,}; "
        f"{newest[0].name} is newer but was not evaluated: to use it, give --model={newest[0]}"
    )


def choose(directory: Path, num_averaged: int) -> list[Path]:
    """The checkpoints that a model is made of: the one named, the best one, or the newest ones."""
    if (directory / snapshots.MANIFEST).is_file():
        chosen = [directory]
    else:
        found = snapshots.newest_first(directory)
        judged = best(directory) if num_averaged == 1 else None
        chosen = [judged] if judged else found[:num_averaged]
    if not chosen:
        raise UserError(
            f"{directory} has no checkpoint; name the --output_dir of a run that has saved a model"
        )
    if len(chosen) < num_averaged:
        raise UserError(
            f"{directory} has {len(chosen)} checkpoints, fewer than the {num_averaged} to average; "
            "give a smaller number"
        )
    return chosen


def load(directory: Path, num_averaged: int = 1, kind: str = "") -> Trained:
    """Reads a model to compute with on one device; of several checkpoints, their mean.

    A run that trains meanwhile removes old checkpoints, but only when there are newer ones.
    """
    while True:
        paths = choose(directory, num_averaged)
        try:
            return read(paths, kind)
        except UserError:
            if all(path.is_dir() for path in paths):
                raise


def read(paths: Sequence[Path], kind: str) -> Trained:
    """Reads the model of some checkpoints that are whole."""
    for path in paths:
        if problem := snapshots.damage(path):
            raise UserError(f"{path} is damaged ({problem}); name another checkpoint as --model")
    config = read_config(paths[0])
    source, target = (read_vocabulary(kept_path(paths[0], side)) for side in ("source", "target"))
    sizes = VocabularySizes(len(source), len(target))
    model = make_model(config.model, sizes, kind or ("GPU" if num_gpus() else "CPU"))
    return Trained(config, model, mean_weights(model, paths), (source, target), list(paths))


def mean_weights(model: Model, paths: Sequence[Path]) -> list[tf.Variable]:
    """The mean of some checkpoints' weights."""
    total = read_weights(model, paths[0])
    for path in paths[1:]:
        for one, more in zip(total, read_weights(model, path)):
            one.assign_add(more)
    for one in total:
        one.assign(one / len(paths))
    return total


def read_weights(model: Model, path: Path) -> list[tf.Variable]:
    """The model's weights from a checkpoint: their moving averages, where it has them."""
    variables = [tf.Variable(tf.zeros(spec.shape), trainable=False) for spec in model.flat_specs]
    try:
        averaged = checkpoints.replicas_in(checkpoints.names_in(path), checkpoints.AVERAGES)
        part = checkpoints.AVERAGES if averaged else checkpoints.STATE
        checkpoints.read({part: checkpoints.by_name(model.flat_specs, variables)}, path)
    except (AssertionError, ValueError, tf.errors.OpError) as error:
        raise UserError(f"{path} is damaged or of another model; copy it anew") from error
    return variables
