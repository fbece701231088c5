"""A trainer's state on disk: one format, whatever strategy, encoder type or replica count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import tensorflow as tf

from nmt.errors import UserError
from nmt.network.weights import WeightSpec
from nmt.storage import snapshots
from nmt.trainer import Trainer
from variable_update.base import Copy
from variable_update.late import Late

STATE: Final = "state"
AVERAGES, LATE, OTHERS = "averages", "late", "others"

Variables = dict[str, tf.Variable]


def by_name(specs: Iterable[WeightSpec], variables: Iterable[tf.Variable]) -> Variables:
    """Variables by the names of their weights."""
    return {spec.name: variable for spec, variable in zip(specs, variables)}


def copy_state(specs: Sequence[WeightSpec], copy: Copy) -> Variables:
    """Weights and optimizer slots of one copy."""
    state = by_name(specs, copy.variables)
    for spec, slots in zip(specs, copy.optimizer.slots):
        for slot_name, slot in zip(copy.optimizer.slot_names, slots):
            state[f"{spec.name}/{slot_name}"] = slot
    return state


def named_state(trainer: Trainer) -> Variables:
    """What every checkpoint has: step, place in the data, weights, and optimizer slots."""
    copy = trainer.strategy.copies[0]
    counts = {"step": trainer.step, "epochs": trainer.epochs}
    return counts | copy_state(trainer.model.flat_specs, copy)


def late_state(trainer: Trainer, late: Late) -> dict[str, Variables]:
    """Gradients that wait for the next step, by replica."""
    specs = trainer.model.flat_specs
    return {
        str(number): {
            "num_tokens": held.num_tokens,
            "loss_sum": held.loss_sum,
            **by_name(specs, held.sums),
        }
        for number, held in enumerate(late.held)
    }


def other_copies(trainer: Trainer) -> dict[str, Variables]:
    """Models that go their own way, by replica."""
    specs, copies = trainer.model.flat_specs, trainer.strategy.copies
    return {str(number): copy_state(specs, copy) for number, copy in enumerate(copies) if number}


def all_parts(trainer: Trainer) -> dict[str, Any]:
    """Everything that is saved."""
    strategy = trainer.strategy
    parts: dict[str, Any] = {STATE: named_state(trainer)}
    if trainer.averages:
        parts[AVERAGES] = by_name(trainer.model.flat_specs, trainer.averages.variables)
    if strategy.late:
        parts[LATE] = late_state(trainer, strategy.late)
    if not strategy.synchronous:
        parts[OTHERS] = other_copies(trainer)
    return parts


class NoNumbers(Exception):
    """Gradients that wait are no numbers: what goes on from them cannot get well."""


def save(trainer: Trainer, directory: Path, more: Mapping[str, bytes]) -> Path:
    """Writes a checkpoint named after the step, with some more files in it."""
    late = trainer.strategy.late
    if late and not trainer.strategy.skips and not late.finite():
        raise NoNumbers("the gradients that wait for the next step are no numbers")

    def fill(place: Path) -> None:
        tf.train.Checkpoint(**all_parts(trainer)).write(str(place / STATE))
        for name, data in more.items():
            (place / name).write_bytes(data)

    return snapshots.write(directory, int(trainer.step), fill)


def names_in(path: Path) -> list[str]:
    """Names of everything in a checkpoint, the part first."""
    return [name for name, _ in tf.train.list_variables(str(path / STATE))]


def replicas_in(names: Iterable[str], part: str) -> int:
    """How many replicas' states a part of a checkpoint holds."""
    return len({name.split("/")[1] for name in names if name.startswith(f"{part}/")})


def newest_whole(directory: Path) -> Path | None:
    """The newest checkpoint that is as it was written; damaged ones are set aside, and it says so.

    Where all are damaged nothing is begun anew over them.
    """
    damaged: dict[Path, str] = {}
    for path in snapshots.newest_first(directory):
        problem = snapshots.damage(path)
        if problem is None:
            set_aside(damaged)
            return path
        damaged[path] = problem
    if damaged:
        raise UserError(
            f"all checkpoints in {directory} are damaged; copy one there anew, or name another "
            "--output_dir to begin from the start"
        )
    if aside := sorted(directory.glob(f"{snapshots.PREFIX}*{snapshots.DAMAGED}*")):
        names = ", ".join(path.name for path in aside)
        print(f"{directory} has only what was set aside ({names}): training begins anew")
    return None


def set_aside(damaged: Mapping[Path, str]) -> None:
    """Takes damaged checkpoints out of the way of those that come."""
    for path, problem in damaged.items():
        print(f"{path} is damaged ({problem}) and set aside", flush=True)
        snapshots.set_aside(path)


def restore(trainer: Trainer, path: Path) -> None:
    """Reads a checkpoint into every copy."""
    try:
        names = names_in(path)
        parts = {STATE: named_state(trainer)}
        if len(parts[STATE]) != sum(name.startswith(f"{STATE}/") for name in names):
            raise ValueError("other variables")
        read(parts, path)
        restore_averages(trainer, path, names)
        restore_copies(trainer, path, names)
        restore_late(trainer, path, names)
    except (AssertionError, ValueError, tf.errors.OpError) as error:
        raise UserError(
            f"{path} is not a checkpoint of this model; use the flags it was trained with, or "
            "another --output_dir"
        ) from error


def read(parts: Mapping[str, Any], path: Path) -> None:
    """Reads some parts of a checkpoint."""
    status = tf.train.Checkpoint(**parts).read(str(path / STATE))
    # Expecting it only keeps TensorFlow from logging what is not read.
    status.expect_partial().assert_existing_objects_matched()


def restore_averages(trainer: Trainer, path: Path, names: Sequence[str]) -> None:
    """Averages go on from where they were; where there were none they begin here."""
    if not trainer.averages:
        return
    if any(name.startswith(f"{AVERAGES}/") for name in names):
        read({AVERAGES: by_name(trainer.model.flat_specs, trainer.averages.variables)}, path)
        return
    for average, weight in zip(trainer.averages.variables, trainer.averages.weights):
        average.assign(weight)


def restore_copies(trainer: Trainer, path: Path, names: Sequence[str]) -> None:
    """Copies of their own are as they were; where there were others, all are like the first."""
    strategy = trainer.strategy
    count = replicas_in(names, OTHERS)
    if not strategy.synchronous and count and count == len(strategy.copies) - 1:
        read({OTHERS: other_copies(trainer)}, path)
    else:
        strategy.after_restore()


def restore_late(trainer: Trainer, path: Path, names: Sequence[str]) -> None:
    """Gradients that waited go on waiting; with other replicas, all of them at the first one.

    They are dropped where the strategy has no use for late ones.
    """
    strategy = trainer.strategy
    count = replicas_in(names, LATE)
    if not (strategy.late and count):
        return
    if count == len(strategy.devices):
        read({LATE: late_state(trainer, strategy.late)}, path)
        return
    before = Late([strategy.devices[0]] * count, strategy.copies[0].variables)
    read({LATE: late_state(trainer, before)}, path)
    strategy.late.take(before)
