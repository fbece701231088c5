"""Arithmetic of the model against what the machine can do."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

import tensorflow as tf

from nmt.machine.cpu import num_cores
from nmt.machine.devices import is_gpu
from nmt.network.weights import ModelWeights, WeightSpec

PASSES: Final = 3  # forward, and backward once for inputs and once for weights
ROUNDS: Final = 5
SIZES: Final = {"CPU": (1024, 2048), "GPU": (8192,)}


def model_flops(specs: ModelWeights, num_source: float, num_target: float) -> float:
    """What training on so many real words multiplies and adds; only matmuls with weights count."""
    reading = matrix_size([specs.encoder, getattr(specs.attention, "memory", ())])
    asking = [getattr(specs.attention, name, ()) for name in ("query", "combine")]
    predicting = specs.projection or specs.target_embedding  # where that is tied
    writing = matrix_size([specs.decoder, predicting, asking])
    return 2.0 * PASSES * (num_source * reading + num_target * writing)


def matrix_size(specs: object) -> int:
    """Numbers in all matrices of a structure; each is multiplied with every word once."""
    found: list[WeightSpec] = tf.nest.flatten(specs)
    return sum(spec.num_bytes // 4 for spec in found if len(spec.shape) == 2)


def matmul_flops_per_s(devices: Sequence[str], dtype: tf.DType = tf.float32) -> float:
    """The best rate at which all devices together multiply large matrices."""
    kind = "GPU" if is_gpu(devices[0]) else "CPU"
    places = list(devices) if kind == "GPU" else [devices[0]] * num_cores()
    return max(rate_of_size(places, size, dtype) for size in SIZES[kind])


def rate_of_size(places: Sequence[str], size: int, dtype: tf.DType) -> float:
    """The same for square matrices of one size."""
    matrices = [matrix(place, size, dtype) for place in places]

    def multiply() -> list[tf.Tensor]:
        return [square(place, left) for place, left in zip(places, matrices)]

    work = tf.function(multiply, autograph=False)
    work()
    best = min(seconds(work) for _ in range(ROUNDS))
    return len(places) * 2.0 * size**3 / best


def matrix(device: str, size: int, dtype: tf.DType) -> tf.Variable:
    """Any numbers; in a variable, for TensorFlow multiplies constants beforehand."""
    with tf.device(device):
        return tf.Variable(
            tf.cast(tf.random.stateless_uniform([size, size], [1, 2]), dtype), trainable=False
        )


def square(device: str, left: tf.Variable) -> tf.Tensor:
    """A matmul, of which one number is read."""
    with tf.device(device):
        value = left.read_value()
        return (value @ value)[0, 0]


def seconds(work: tf.types.experimental.GenericFunction) -> float:
    """How long a call takes until all its numbers are there."""
    begun = time.perf_counter()
    for number in work():
        number.numpy()
    return time.perf_counter() - begun
