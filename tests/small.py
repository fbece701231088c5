"""Small real objects for tests."""

import dataclasses
import functools

import numpy as np
import tensorflow as tf

from nmt.config import ModelConfig, OptimizerConfig
from nmt.network.model import make_model
from nmt.network.weights import VocabularySizes, create_variables
from nmt.optimizers import make_optimizer
from nmt.trainer import Trainer
from nmt.types import Batch, ReplicaResult, StepResult, UpdateResult
from variable_update.base import Ingredients
from variable_update.exchange import make_exchange
from variable_update.rows import Embedding
from variable_update.strategies import STRATEGIES

SIZES = VocabularySizes(17, 19)
MODEL = ModelConfig(num_units=8, embedding_dim=6, num_encoder_layers=2, num_decoder_layers=2)
EXCHANGE = make_exchange("", gpu=False)
ROWS = {number: Embedding(size, MODEL.embedding_dim, size) for number, size in enumerate(SIZES)}
SGD = OptimizerConfig(optimizer="sgd", learning_rate=0.5, max_gradient_norm=0.0)


def model_config(**changes):
    return dataclasses.replace(MODEL, **changes)


def model(**changes):
    return make_model(model_config(**changes), SIZES, "CPU")


def weights(a_model, seed=3):
    return [
        tf.convert_to_tensor(v)
        for v in create_variables(a_model.flat_specs, seed, lambda _: "CPU:0")
    ]


def batch(source_lengths, target_lengths, seed=0, extra_columns=0):
    """Random ids everywhere, after the sentences' ends too, so that a leak shows."""
    rng = np.random.default_rng(seed)
    rows = len(source_lengths)
    source = rng.integers(3, SIZES.source, [rows, max(source_lengths) + extra_columns])
    target = rng.integers(3, SIZES.target, [rows, max(target_lengths) + extra_columns])
    parts = (source, source_lengths, target, target_lengths)
    return Batch(*(tf.constant(part, tf.int32) for part in parts))


def trainer(strategy="replicated", num_replicas=1, optimizer=SGD, kind="CPU", **changes):
    """A trainer; what its strategy is made from goes there, the rest of `changes` to the model."""
    devices = [f"CPU:{index}" for index in range(num_replicas)]
    how = {"servers": devices, "exchange": EXCHANGE}
    names = (*how, "relaxed", "rows", "skips")
    how |= {name: changes.pop(name) for name in names if name in changes}
    ema_decay = changes.pop("ema_decay", 0.0)
    a_model = make_model(model_config(**changes), SIZES, kind)
    made_from = Ingredients(
        devices=devices,
        create=functools.partial(create_variables, a_model.flat_specs, 3),
        sizes=[spec.num_bytes for spec in a_model.flat_specs],
        make_optimizer=functools.partial(make_optimizer, optimizer),
        **how,
    )
    return Trainer(a_model, STRATEGIES[strategy](made_from), seed=1, ema_decay=ema_decay)


def step_result(loss_sum, num_tokens, num_words, num_ids, gradient_norm=1.0, num_skipped=0):
    replicas = ReplicaResult(loss_sum, num_tokens, num_words, num_ids)
    return StepResult(replicas, UpdateResult(gradient_norm, num_skipped))


def values(a_trainer, copy=0):
    return [v.numpy() for v in a_trainer.strategy.copies[copy].variables]
