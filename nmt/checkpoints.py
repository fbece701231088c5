"""Saving and restoring: one format, whatever strategy, encoder type or replica count wrote it."""

from __future__ import annotations

from pathlib import Path

import tensorflow as tf

from nmt.errors import UserError
from nmt.trainer import Trainer
from variable_update.late import Late


def named_state(trainer: Trainer) -> dict[str, tf.Variable]:
    """Everything that is saved, by name: step, place in the data, weights, and optimizer slots."""
    copy = trainer.strategy.copies[0]
    state = {"step": trainer.step, "epochs": trainer.epochs}
    for spec, variable, slots in zip(
        trainer.model.flat_specs, copy.variables, copy.optimizer.slots
    ):
        state[spec.name] = variable
        for slot_name, slot in zip(copy.optimizer.slot_names, slots):
            state[f"{spec.name}/{slot_name}"] = slot
    return state


def waiting(trainer: Trainer, late: Late) -> dict[str, tf.Variable]:
    """Gradients that wait for the next step, of all replicas together, by name."""
    sums, num_tokens = late.gather()
    names = (spec.name for spec in trainer.model.flat_specs)
    return {"num_tokens": num_tokens, **dict(zip(names, sums))}


def save(trainer: Trainer, directory: Path, num_keep: int) -> Path:
    """Writes a checkpoint named after the step; the oldest beyond `num_keep` are removed."""
    late = trainer.strategy.late
    checkpoint = tf.train.Checkpoint(
        state=named_state(trainer), **({"late": waiting(trainer, late)} if late else {})
    )
    manager = tf.train.CheckpointManager(checkpoint, str(directory), max_to_keep=num_keep)
    return Path(manager.save(checkpoint_number=trainer.step))


def restored_parts(trainer: Trainer, path: str) -> dict[str, dict[str, tf.Variable]]:
    """What is read from a checkpoint.

    Gradients that wait in it are dropped where the strategy has no use for late ones.
    """
    parts = {"state": named_state(trainer)}
    strategy = trainer.strategy
    if any(name.startswith("late/") for name, _ in tf.train.list_variables(path)):
        late = strategy.late or Late(strategy.devices[:1], strategy.copies[0].variables)
        parts["late"] = waiting(trainer, late)
    return parts


def restore(trainer: Trainer, directory: Path) -> Path | None:
    """Reads the newest checkpoint of a directory into every copy; None where there is none."""
    newest = tf.train.latest_checkpoint(str(directory))
    if newest is None:
        return None
    try:
        status = tf.train.Checkpoint(**restored_parts(trainer, newest)).restore(newest)
        # Partial is not accepted; expecting it only keeps TensorFlow from logging what is missing.
        status.expect_partial().assert_consumed()
    except (AssertionError, ValueError, tf.errors.OpError) as error:
        raise UserError(
            f"{newest} is not a checkpoint of this model; use the flags it was trained with, or "
            "another --output_dir"
        ) from error
    trainer.strategy.after_restore()
    return Path(newest)
