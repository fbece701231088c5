"""A trace of some steps: for TensorBoard's profiler, for Chrome, and to count operations.

TensorFlow traces what it thinks to be expensive: everything at first, but an operation that was
short about 90 times no more. So a graph is made anew to be traced, and operations are counted in
its first step; in a loop of more steps than that the cheap ones of the last are missing.
"""

from __future__ import annotations

import gzip
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import tensorflow as tf
from tensorflow.tsl.profiler.protobuf.xplane_pb2 import XSpace

from nmt.trainer import Trainer
from nmt.types import Batch

OPERATION = re.compile(r"[^:]+:(_?[A-Z]\w+)")  # name of the node, kind of operation
PS_PER_US = 1e6


def operations_of_first_step(
    trainer: Trainer, batches: Iterable[tuple[Batch, ...]]
) -> dict[str, int]:
    """Trains on one more batch with a graph of its own and counts what runs."""
    trainer.compile()
    trainer.train_step.get_concrete_function()
    with tempfile.TemporaryDirectory() as directory:
        return count_operations(record(trainer, batches, Path(directory), 1))


def record(
    trainer: Trainer, batches: Iterable[tuple[Batch, ...]], directory: Path, num_steps: int
) -> XSpace:
    """Trains on some more batches and leaves the trace in a directory.

    `tensorboard --logdir DIRECTORY` shows it where the profiler's plugin is installed.
    """
    tf.profiler.experimental.start(str(directory))
    try:
        for _, batch in zip(range(num_steps), batches):
            trainer.train_step(batch).replicas.loss_sum.numpy()
    finally:
        tf.profiler.experimental.stop()
    newest = max(directory.rglob("*.xplane.pb"), key=lambda path: path.stat().st_mtime)
    space = XSpace()
    space.ParseFromString(newest.read_bytes())
    return space


def count_operations(space: XSpace) -> dict[str, int]:
    """How often each kind of operation ran, the most frequent first; on GPUs, each kernel."""
    counts: Counter[str] = Counter()
    for plane in space.planes:
        names = {number: metadata.name for number, metadata in plane.event_metadata.items()}
        for line in plane.lines:
            found = [names[event.metadata_id] for event in line.events]
            if plane.name.startswith("/host:CPU"):
                counts.update(kind[1] for kind in map(OPERATION.fullmatch, found) if kind)
            elif plane.name.startswith("/device:GPU") and line.name.startswith("Stream"):
                counts.update(found)
    return dict(counts.most_common())


def write_for_chrome(space: XSpace, path: Path) -> None:
    """Writes what chrome://tracing and Perfetto open; compressed where the name ends in .gz."""
    text = json.dumps({"traceEvents": list(chrome_events(space)), "displayTimeUnit": "ms"})
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def chrome_events(space: XSpace) -> Iterator[dict[str, Any]]:
    """One process for each device, one thread for each line of events."""
    for process, plane in enumerate(space.planes):
        yield {"ph": "M", "pid": process, "name": "process_name", "args": {"name": plane.name}}
        for thread, line in enumerate(plane.lines):
            where = {"pid": process, "tid": thread}
            yield {"ph": "M", **where, "name": "thread_name", "args": {"name": line.name}}
            for event in line.events:
                yield {
                    "ph": "X",
                    **where,
                    "name": plane.event_metadata[event.metadata_id].name,
                    "ts": line.timestamp_ns / 1e3 + event.offset_ps / PS_PER_US,
                    "dur": event.duration_ps / PS_PER_US,
                }
