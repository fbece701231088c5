"""The model's weights: their shapes, names and starting values, and how they hang together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import tensorflow as tf

from nmt.config import NO_ATTENTION, ModelConfig
from nmt.network.attention import AttentionWeights
from nmt.network.lstm.layers import LayerWeights
from nmt.types import Place

# Uniform values within this bound have variance 1: words differ enough for the first gates to see.
UNIT_VARIANCE: Final = 3**0.5
ADDITIVE: Final = ("bahdanau", "normed_bahdanau")
FIRST_GAIN: Final[dict[str, Callable[[int], float]]] = {
    "scaled_luong": lambda units: 1.0,
    "normed_bahdanau": lambda units: units**-0.5,
}


@dataclass(frozen=True)
class WeightSpec:
    """One variable of the model; starting values are uniform within `scale` around `center`."""

    name: str
    shape: tuple[int, ...]
    scale: float
    center: tuple[float, ...] = (0.0,)

    @property
    def num_bytes(self) -> int:
        """Size of the variable."""
        return 4 * math.prod(self.shape)


class ModelWeights(NamedTuple):
    """All weights in one structure; its leaves are specs, variables or tensors, or () for none."""

    source_embedding: Any  # [source_vocabulary, embedding_dim]
    target_embedding: Any  # [target_vocabulary, embedding_dim]
    encoder: list[list[LayerWeights]]  # layers of directions
    decoder: list[list[LayerWeights]]
    projection: Any  # [units, target_vocabulary]
    attention: Any = ()  # AttentionWeights


class VocabularySizes(NamedTuple):
    """How many different ids each side has."""

    source: int
    target: int


def lstm_specs(name: str, depth: int, units: int) -> LayerWeights:
    """One direction of one layer; forget gates start open, so that a fresh model remembers."""
    scale = units**-0.5
    return LayerWeights(
        WeightSpec(f"{name}/kernel", (depth, 4 * units), scale),
        WeightSpec(f"{name}/recurrent", (units, 4 * units), scale),
        WeightSpec(f"{name}/bias", (4 * units,), 0.0, (0.0, 1.0, 0.0, 0.0)),
    )


def stack_specs(name: str, config: ModelConfig, num_layers: int, ways: Sequence[str]) -> list[Any]:
    """A stack of layers that run the given ways; each layer reads all ways of the one below."""
    depths = [config.embedding_dim] + [len(ways) * config.num_units] * (num_layers - 1)
    return [
        [lstm_specs(f"{name}/layer_{index}/{way}", depth, config.num_units) for way in ways]
        for index, depth in enumerate(depths)
    ]


def attention_specs(kind: str, depth: int, units: int) -> AttentionWeights:
    """What a kind of attention over a memory of some depth learns."""
    query: dict[str, WeightSpec] = {}
    if kind in ADDITIVE:
        query["query"] = WeightSpec("attention/query", (units, units), units**-0.5)
        query["vector"] = WeightSpec("attention/vector", (units,), units**-0.5)
    if kind in FIRST_GAIN:
        first = FIRST_GAIN[kind](units)
        query["gain"] = WeightSpec("attention/gain", (1,), 0.0, (first,))
    if kind == "normed_bahdanau":
        query["bias"] = WeightSpec("attention/bias", (units,), 0.0)
    return AttentionWeights(
        WeightSpec("attention/memory", (depth, units), depth**-0.5),
        WeightSpec("attention/combine", (depth + units, units), (depth + units) ** -0.5),
        **query,
    )


def weight_specs(config: ModelConfig, sizes: VocabularySizes) -> ModelWeights:
    """The specs of a model; with `bi`, half of the encoder's layers run each way."""
    ways = ("forward", "backward") if config.direction == "bi" else ("forward",)
    embedding, units = config.embedding_dim, config.num_units
    projection = WeightSpec("projection", (units, sizes.target), units**-0.5)
    attention = attention_specs(config.attention, len(ways) * units, units)
    return ModelWeights(
        WeightSpec("source_embedding", (sizes.source, embedding), UNIT_VARIANCE),
        WeightSpec("target_embedding", (sizes.target, embedding), UNIT_VARIANCE),
        stack_specs("encoder", config, config.num_encoder_layers // len(ways), ways),
        stack_specs("decoder", config, config.num_decoder_layers, ("forward",)),
        () if config.tied_embeddings else projection,
        () if config.attention == NO_ATTENTION else attention,
    )


def backward_order(specs: ModelWeights) -> list[int]:
    """Numbers of the variables in the order in which the backward pass comes to them."""
    count = len(tf.nest.flatten(specs))
    numbers: ModelWeights = tf.nest.pack_sequence_as(specs, range(count))
    encoder = (numbers.source_embedding, numbers.encoder)
    decoder = (numbers.target_embedding, numbers.decoder, numbers.attention, numbers.projection)
    return list(reversed(tf.nest.flatten((encoder, decoder))))


def initial_value(spec: WeightSpec, seed: int, index: int) -> tf.Tensor:
    """A weight's starting value, the same on every device and for every replica count."""
    noise = tf.random.stateless_uniform(spec.shape, [seed, index], -spec.scale, spec.scale)
    center = tf.repeat(tf.constant(spec.center), spec.shape[-1] // len(spec.center))
    return noise + center


def create_variables(specs: Sequence[WeightSpec], seed: int, place: Place) -> list[tf.Variable]:
    """Makes the variables, each on its device."""
    variables = []
    for index, spec in enumerate(specs):
        with tf.device(place(index)):
            variables.append(tf.Variable(initial_value(spec, seed, index), name=spec.name))
    return variables
