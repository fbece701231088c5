"""The sequence-to-sequence model: functions of weights and a batch, without variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import tensorflow as tf

from input_pipeline.vocabulary import BOS
from nmt.config import ModelConfig
from nmt.loss import token_loss_sum
from nmt.lstm.layers import (
    NO_DROPOUT,
    Dropout,
    RunStack,
    StackInputs,
    State,
    Words,
    zero_states,
)
from nmt.lstm.stacks import STACKS
from nmt.types import Batch
from nmt.weights import ModelWeights, VocabularySizes, WeightSpec, weight_specs


@dataclass(frozen=True)
class Model:
    """A model's shape and the implementations that compute it."""

    specs: ModelWeights
    run_encoder: RunStack
    run_decoder: RunStack
    dropout: float
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
        return packed

    def encode(
        self, weights: ModelWeights, batch: Batch, dropout: Dropout = NO_DROPOUT
    ) -> list[State]:
        """Reads the source; gives one state per layer and direction."""
        words = Words(weights.source_embedding, tf.transpose(batch.source))
        start = zero_states(weights.encoder, tf.shape(batch.source)[0])
        inputs = StackInputs(words, batch.source_lengths, start)
        return self.run_encoder(inputs, weights.encoder, dropout).final

    def loss_sum(self, flat: Sequence[tf.Tensor], batch: Batch, seed: tf.Tensor) -> tf.Tensor:
        """The summed loss of a batch's target tokens; `seed` decides what dropout drops."""
        weights = self.pack(flat)
        fold = tf.random.experimental.stateless_fold_in
        reading, writing = (Dropout(self.dropout, fold(seed, side)) for side in (0, 1))
        states = hand_over(self.encode(weights, batch, reading), weights)
        labels = tf.transpose(batch.target)  # [time, batch]
        words = Words(weights.target_embedding, shift_right(labels))
        # Nobody looks at outputs after a sentence's end, so the decoder needs no lengths.
        outputs = self.run_decoder(StackInputs(words, None, states), weights.decoder, writing)
        return token_loss_sum(outputs.sequence, weights.projection, labels, batch.target_lengths)


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
        dropout=config.dropout,
        compute_dtype=tf.bfloat16 if config.mixed_precision else tf.float32,
    )
