"""Saving and restoring: one format, whatever strategy, encoder type or replica count wrote it."""

from __future__ import annotations

from pathlib import Path

import tensorflow as tf

from nmt.errors import UserError
from nmt.trainer import Trainer


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


def save(trainer: Trainer, directory: Path, num_keep: int) -> Path:
    """Writes a checkpoint named after the step; the oldest beyond `num_keep` are removed."""
    directory.mkdir(parents=True, exist_ok=True)
    checkpoint = tf.train.Checkpoint(state=named_state(trainer))
    manager = tf.train.CheckpointManager(checkpoint, str(directory), max_to_keep=num_keep)
    return Path(manager.save(checkpoint_number=trainer.step))


def restore(trainer: Trainer, directory: Path) -> Path | None:
    """Reads the newest checkpoint of a directory into every copy; None where there is none."""
    newest = tf.train.latest_checkpoint(str(directory))
    if newest is None:
        return None
    try:
        status = tf.train.Checkpoint(state=named_state(trainer)).restore(newest)
        # Partial is not accepted; expecting it only keeps TensorFlow from logging what is missing.
        status.expect_partial().assert_consumed()
    except (AssertionError, ValueError, tf.errors.OpError) as error:
        raise UserError(
            f"{newest} is not a checkpoint of this model; use the flags it was trained with, or "
            "another --output_dir"
        ) from error
    trainer.strategy.after_restore()
    return Path(newest)
