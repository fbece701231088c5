"""A look at some steps after the timed ones: phases, operations, a trace to open elsewhere."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import tensorflow as tf

from input_pipeline.training_data import BatchesFrom
from nmt.config import PROFILE, RunConfig
from nmt.errors import SaveFailed, reason
from nmt.interrupt import SafePoint
from nmt.measuring import phases, tracing
from nmt.trainer import Trainer
from nmt.types import Batch

NUM_STEPS: Final = 9
NUM_TRACED_STEPS: Final = 2


def without_end(batches_from: BatchesFrom, safe_point: SafePoint) -> Iterator[tuple[Batch, ...]]:
    """The data from its beginning, again and again."""
    while True:
        for batch in batches_from(0):
            safe_point()
            yield batch


def inspect(
    config: RunConfig, trainer: Trainer, batches: Iterator[tuple[Batch, ...]], input_wait_s: float
) -> dict[str, Any]:
    """What the flags ask for, as it goes into the record; what was timed has been saved before."""
    found: dict[str, Any] = {}
    if config.report_phases:
        measured = phases.measure(trainer, batches, NUM_STEPS)
        print("\n" + phases.table(measured, input_wait_s), flush=True)
        found["phase_seconds"] = {**measured._asdict(), "input_wait": input_wait_s}
    if config.report_phases or config.enable_profile or config.trace_file:
        found["operations_per_step"] = tracing.operations_of_first_step(trainer, batches)
    if config.enable_profile or config.trace_file:
        trace(config, trainer, batches)
    return found


def trace(config: RunConfig, trainer: Trainer, batches: Iterator[tuple[Batch, ...]]) -> None:
    """Writes the traces that were asked for."""
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(config.output_dir) / PROFILE
        where = directory if config.enable_profile else Path(temporary)
        try:
            space = tracing.record(trainer, batches, where, NUM_TRACED_STEPS)
        except tf.errors.OpError as error:
            raise SaveFailed(f"no trace was written to {where}: {reason(error)}") from error
    if config.enable_profile:
        print(f"profile: tensorboard --logdir {directory}", flush=True)
    if config.trace_file:
        tracing.write_for_chrome(space, Path(config.trace_file))
        print(f"trace for chrome://tracing: {config.trace_file}", flush=True)
