"""The record of a run: one JSON object, and the closing table made from it."""

from __future__ import annotations

import math
import os
import platform
import resource
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from input_pipeline.choice import dataset_of
from input_pipeline.training_data import TrainingData
from nmt import strict_json
from nmt.config import TrainConfig
from nmt.machine import cpu
from nmt.machine.devices import is_gpu
from nmt.machine.environment import STARTED
from nmt.measuring.flops import model_flops
from nmt.measuring.throughput import Meter
from nmt.reporting.reporter import speed_table
from nmt.trainer import Trainer


def make_record(
    config: TrainConfig,
    data: TrainingData,
    trainer: Trainer,
    meter: Meter,
    machine_flops_per_s: float,
) -> dict[str, Any]:
    """Everything measured in a run and what is needed to repeat it."""
    timed = meter.timed_seconds
    spelled = None not in data.spaces
    return {
        "words_per_second": meter.words_per_s,
        **({"characters_per_second": meter.ids_per_s} if spelled else {}),
        "num_replicas": len(trainer.strategy.devices),
        "variable_update": trainer.strategy.name,
        "encoder_type": config.model.encoder_type,
        "direction": config.model.direction,
        "dataset": dataset_of(config.data),
        "batch_size_per_replica": None if config.data.batch_words else config.data.batch_size,
        "batch_words_per_replica": config.data.batch_words or None,
        "timed_batches": len(timed),
        "timed_seconds": sum(timed),
        "timed_words": meter.timed.words,
        "step_seconds": timed,
        "input_wait_seconds": meter.input_wait_s,
        "padding_share": data.padding_share,
        "first_step_seconds": meter.step_seconds[0] if meter.step_seconds else None,
        "seconds_to_first_step": meter.first_end and meter.first_end - STARTED,
        "losses": list(meter.losses),
        "skipped_steps": meter.num_skipped,
        "exchange_bytes_per_step": trainer.strategy.exchange_bytes(),
        "exchange_bytes_are_at_most": bool(trainer.strategy.rows),  # rows differ from step to step
        "exchange": trainer.strategy.describe(),
        "compute_type": trainer.model.compute_dtype.name,
        "model_flops_per_second": flops_per_s(trainer, meter),
        "matmul_flops_per_second": machine_flops_per_s,
        "flops_utilization": flops_per_s(trainer, meter) / machine_flops_per_s,
        "parameters": trainer.model.num_parameters,
        "device": device_name(trainer.strategy.devices[0]),
        "versions": versions(),
    }


def flops_per_s(trainer: Trainer, meter: Meter) -> float:
    """The model's arithmetic on real words per second; 0 where nothing was timed."""
    seconds, timed = sum(meter.timed_seconds), meter.timed
    flops = model_flops(trainer.model.specs, timed.ids - timed.target_ids, timed.target_ids)
    return flops / seconds if seconds else 0.0


def memory(devices: Sequence[str]) -> dict[str, Any]:
    """The most memory this process has held until now."""
    return {"peak_memory_bytes": peak_memory_bytes(), **gpu_memory(devices)}


def peak_memory_bytes() -> int:
    """The most memory of the host this process has held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def gpu_memory(devices: Sequence[str]) -> dict[str, list[int]]:
    """The most memory of each GPU that TensorFlow has used; nothing where there is none."""
    if not is_gpu(devices[0]):
        return {}
    peaks = [int(tf.config.experimental.get_memory_info(name)["peak"]) for name in devices]
    return {"peak_gpu_memory_bytes": peaks}


def device_name(device: str) -> str:
    """The kind of device and the model's name, as far as the system tells it."""
    if is_gpu(device):
        details = tf.config.experimental.get_device_details(
            tf.config.list_physical_devices("GPU")[0]
        )
        return f"GPU {details.get('device_name', '')}".strip()
    return f"CPU {cpu.name()}"


def versions() -> dict[str, str]:
    """Versions of what the speed depends on."""
    return {
        "python": platform.python_version(),
        "tensorflow": tf.__version__,
        "numpy": np.__version__,
        "platform": sys.platform,
    }


def table(record: dict[str, Any]) -> str:
    """A run's closing table; a single run has nothing to compute a speedup from."""
    if not record["losses"]:
        return "no batch was trained: there was nothing left"
    if not record["timed_batches"]:
        return "no batch was timed: the run ended within --num_warmup_batches"
    heading = "GPU number" if record["device"].startswith("GPU") else "Replicas"
    row = (
        record["num_replicas"],
        record["batch_size_per_replica"] or f"{record['batch_words_per_replica']} words",
        f"{record['timed_seconds']:.3f}",
        f"{record['words_per_second']:.3f}",
        "",
    )
    table = speed_table(heading, record["timed_batches"], [row])
    if "characters_per_second" in record:
        table += f"\n{record['characters_per_second']:.3f} characters/s"
    return f"{table}\n{arithmetic(record)}"


def arithmetic(record: dict[str, Any]) -> str:
    """One line: how much of the machine the model's arithmetic uses."""
    reached, possible = record["model_flops_per_second"], record["matmul_flops_per_second"]
    said = f"arithmetic of real words: {reached / 1e9:,.1f} GFLOP/s"
    if math.isnan(possible):
        return said
    share = f"{reached / possible:.2f} of the {possible / 1e9:,.1f}"
    return f"{said}, {share} that large matmuls reach here"


def append(record: dict[str, Any], path: Path) -> None:
    """Adds the record to a file as one line: all of it, or none where the disk is full.

    A line that was broken off before it, by a kill, stays by itself.
    """
    line = strict_json.dumps(record).encode() + b"\n"
    before = path.read_bytes() if path.is_file() else b""  # a pipe has no end to look at
    try:
        with path.open("ab") as file:
            file.write((b"" if before[-1:] in (b"", b"\n") else b"\n") + line)
    except OSError:
        if path.is_file():
            os.truncate(path, len(before))
        raise
