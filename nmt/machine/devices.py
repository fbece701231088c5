"""The devices replicas run on: visible GPUs, or logical CPU devices where there is none."""

from __future__ import annotations

import os
from pathlib import Path

import tensorflow as tf

from nmt.config import ParallelConfig
from nmt.machine import cpu

BFLOAT16_COMPUTE_CAPABILITY = (8, 0)
BFLOAT16_CPU_FLAGS = {"avx512_bf16", "amx_bf16"}


def num_gpus() -> int:
    """GPUs that TensorFlow can use; CUDA_VISIBLE_DEVICES narrows them down."""
    return len(tf.config.list_physical_devices("GPU"))


def resolved_num_replicas(config: ParallelConfig) -> int:
    """What --num_replicas=0 means here."""
    return config.num_replicas or max(1, num_gpus())


def has_bfloat16() -> bool:
    """Whether bfloat16 arithmetic is done by the hardware of every device."""
    gpus = tf.config.list_physical_devices("GPU")
    details = [tf.config.experimental.get_device_details(gpu) for gpu in gpus]
    if details:
        least = min(d.get("compute_capability", (0, 0)) for d in details)
        return bool(least >= BFLOAT16_COMPUTE_CAPABILITY)
    return bool(BFLOAT16_CPU_FLAGS & cpu.features())


def threads(num_replicas: int, cores: int, *, gpu: bool) -> tuple[int, int]:
    """How many within an operation, and how many operations at once."""
    if num_replicas == 1:
        return cores, cores
    if gpu:
        # Fewer than replicas, and one that waits for another's gradients can keep it from running.
        return cores, max(cores, num_replicas + 1)
    # Replicas share the cores: what each computes by itself needs no other thread to wait for.
    return max(1, cores // num_replicas), cores


def few_threads(config: ParallelConfig) -> bool:
    """Whether flags leave cores of this machine unused."""
    cores = cpu.num_cores()
    within, at_once = threads(resolved_num_replicas(config), cores, gpu=num_gpus() > 0)
    together = (config.num_intra_threads or within) * (config.num_inter_threads or at_once)
    return num_gpus() == 0 and together < cores


def configure(config: ParallelConfig) -> tuple[str, ...]:
    """Sets threads and logical devices before TensorFlow's first operation; a device a replica."""
    replicas = resolved_num_replicas(config)
    within, at_once = threads(replicas, cpu.num_cores(), gpu=num_gpus() > 0)
    tf.config.threading.set_intra_op_parallelism_threads(config.num_intra_threads or within)
    tf.config.threading.set_inter_op_parallelism_threads(config.num_inter_threads or at_once)
    if num_gpus():
        return tuple(f"GPU:{index}" for index in range(replicas))
    (host,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(
        host, [tf.config.LogicalDeviceConfiguration() for _ in range(replicas)]
    )
    return tuple(f"CPU:{index}" for index in range(replicas))


def read_where_it_is(variable: tf.Variable) -> tf.Tensor:
    """A variable's value on its own device; by itself TensorFlow copies it to the first one."""
    with tf.device(variable.device):
        return variable.read_value()


def call_attributes(device: str) -> dict[str, bool]:
    """How functions that replicas share are called.

    A call that is not inlined hands out all its results together, when it ends. On GPUs they are
    inlined, so that gradients travel while the rest is being computed; on a host nothing is gained
    by that, and TensorFlow prepares the graph in less time if they are not.
    """
    return {} if is_gpu(device) else {"_noinline": True}


def unused_gpus() -> int:
    """GPUs of this machine that nobody hid and TensorFlow cannot use all the same."""
    if num_gpus() or "CUDA_VISIBLE_DEVICES" in os.environ:
        return 0
    return len(list(Path("/dev").glob("nvidia[0-9]*")))


def is_gpu(device: str) -> bool:
    """Whether a device name means a GPU."""
    return "GPU" in device.upper()
