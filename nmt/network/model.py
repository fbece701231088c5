"""The sequence-to-sequence model: functions of weights and a batch, without variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import tensorflow as tf

from input_pipeline.vocabulary import BOS
from nmt.config import ModelConfig
from nmt.network.attention import SCORES, Memory, Score, attend, remember
from nmt.network.loss import token_loss_sum
from nmt.network.lstm.layers import (
    NO_DROPOUT,
    Dropout,
    RunStack,
    StackInputs,
    State,
    Words,
    zero_states,
)
from nmt.network.lstm.stacks import STACKS
from nmt.network.weights import ModelWeights, VocabularySizes, WeightSpec, weight_specs
from nmt.types import Batch


class Encoded(NamedTuple):
    """What the decoder gets of a source."""

    states: list[State]  # one per layer and direction
    memory: Memory | None  # None where nobody looks back


@dataclass(frozen=True)
class Model:
    """A model's shape and the implementations that compute it."""

    specs: ModelWeights
    run_encoder: RunStack
    run_decoder: RunStack
    score: Score | None  # of attention, if there is any
    residual: bool
    dropout: float
    label_smoothing: float
    compute_dtype: tf.DType

    @property
    def flat_specs(self) -> list[WeightSpec]:
        """The specs in the order of the variables."""
        return list(tf.nest.flatten(self.specs))

    @property
    def num_parameters(self) -> int:
        """How many numbers are learned."""
        return sum(tf.TensorShape(spec.shape).num_elements() for spec in self.flat_specs)

    def pack(self, flat: Sequence[tf.Tensor]) -> ModelWeights:
        """Gives a flat list of weights its structure, in the type that is computed in."""
        cast = [tf.cast(weight, self.compute_dtype) for weight in flat]
        packed: ModelWeights = tf.nest.pack_sequence_as(self.specs, cast)
        if isinstance(packed.projection, tuple):
            packed = packed._replace(projection=tied(packed.target_embedding))
        return packed

    def encode(self, weights: ModelWeights, batch: Batch, dropout: Dropout = NO_DROPOUT) -> Encoded:
        """Reads the source."""
        words = Words(weights.source_embedding, tf.transpose(batch.source))
        start = zero_states(weights.encoder, tf.shape(batch.source)[0])
        inputs = StackInputs(words, batch.source_lengths, start, self.residual, from_zero=True)
        outputs, states = self.run_encoder(inputs, weights.encoder, dropout)
        if self.score is None:
            return Encoded(states, None)
        return Encoded(states, remember(outputs, batch.source_lengths, weights.attention))

    def decode(
        self, weights: ModelWeights, labels: tf.Tensor, encoded: Encoded, dropout: Dropout
    ) -> tf.Tensor:
        """What each of the labels, `[time, batch]`, is predicted from: `[time, batch, units]`."""
        words = Words(weights.target_embedding, shift_right(labels))
        states = hand_over(encoded.states, weights)
        # Nobody looks at outputs after a sentence's end, so the decoder needs no lengths.
        inputs = StackInputs(words, None, states, self.residual)
        outputs = self.run_decoder(inputs, weights.decoder, dropout).sequence
        if self.score is None or encoded.memory is None:
            return outputs
        queries = tf.transpose(outputs, [1, 0, 2])
        found = attend(self.score, queries, encoded.memory, weights.attention)
        return tf.transpose(found.outputs, [1, 0, 2])

    def loss_sum(self, flat: Sequence[tf.Tensor], batch: Batch, seed: tf.Tensor) -> tf.Tensor:
        """The summed loss of a batch's target tokens; `seed` decides what dropout drops."""
        weights = self.pack(flat)
        fold = tf.random.experimental.stateless_fold_in
        reading, writing = (Dropout(self.dropout, fold(seed, side)) for side in (0, 1))
        encoded = self.encode(weights, batch, reading)
        labels = tf.transpose(batch.target)  # [time, batch]
        outputs = self.decode(weights, labels, encoded, writing)
        lengths, smoothing = batch.target_lengths, self.label_smoothing
        return token_loss_sum(outputs, weights.projection, labels, lengths, smoothing)


def tied(embedding: tf.Tensor) -> tf.Tensor:
    """An embedding, `[vocabulary, units]`, as projection: rows are long, so they are scaled."""
    return tf.transpose(embedding) * embedding.shape[1] ** -0.5


def shift_right(labels: tf.Tensor) -> tf.Tensor:
    """What the decoder reads to predict time-major labels: [a, b, </s>] -> [<s>, a, b]."""
    return tf.concat([tf.fill([1, tf.shape(labels)[1]], BOS), labels[:-1]], axis=0)


def hand_over(encoder_states: Sequence[State], weights: ModelWeights) -> list[State]:
    """The decoder's initial states: encoder state i for layer i.

    With fewer decoder layers the encoder's topmost states are taken; with more, the layers that are
    left start from zero.
    """
    num_layers = len(weights.decoder)
    states = list(encoder_states)[-num_layers:]
    zero = State(*(tf.zeros_like(value) for value in states[0]))
    return states + [zero] * (num_layers - len(states))


def make_model(config: ModelConfig, sizes: VocabularySizes, kind: str) -> Model:
    """Builds the model for one kind of device, `CPU` or `GPU`.

    The encoder is computed as --encoder_type says; the decoder always takes the fast way.
    """
    return Model(
        specs=weight_specs(config, sizes),
        run_encoder=STACKS[config.encoder_type, kind],
        run_decoder=STACKS["cudnn_lstm", kind],
        score=SCORES.get(config.attention),
        residual=config.residual,
        dropout=config.dropout,
        label_smoothing=config.label_smoothing,
        compute_dtype=tf.bfloat16 if config.mixed_precision else tf.float32,
    )
