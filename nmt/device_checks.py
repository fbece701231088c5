"""Reasons why a configuration cannot run on this machine; imports TensorFlow to look at it."""

from __future__ import annotations

import dataclasses

from nmt.config import TrainConfig
from nmt.machine import devices
from variable_update.checks import spec_can_be_read


def find_problems(config: TrainConfig) -> list[str]:
    """What this machine lacks for the configuration."""
    problems = []
    wanted, gpus = config.parallel.num_replicas, devices.num_gpus()
    if gpus and wanted > gpus:
        problems.append(
            f"--num_replicas={wanted} is more than the {gpus} GPU(s) TensorFlow sees; give {gpus} "
            "or fewer, or set CUDA_VISIBLE_DEVICES= to use the CPU"
        )
    if not wanted and gpus > 1:
        few = spec_can_be_read(dataclasses.replace(config.parallel, num_replicas=gpus))
        problems += [few] if few else []
    server = config.parallel.param_server_device
    if devices.is_gpu(server) and int(server.split(":")[-1]) >= gpus:
        problems.append(
            f"--param_server_device={server} is not among the {gpus} GPU(s) TensorFlow sees; give "
            "cpu:0 or leave it out"
        )
    if config.model.mixed_precision and not devices.has_bfloat16():
        problems.append(
            "--mixed_precision needs a GPU of compute capability 8.0 or a CPU with bfloat16 "
            "arithmetic (avx512_bf16, amx_bf16), which is not here; leave it out"
        )
    return problems
