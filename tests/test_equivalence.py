"""However the work is spread, the same model is trained."""

import functools
import itertools

import numpy as np
import pytest
import tensorflow as tf

from nmt.config import ENCODER_TYPES, OPTIMIZERS, VARIABLE_UPDATES, OptimizerConfig
from nmt.types import Batch
from tests import small
from variable_update.strategies import STRATEGIES

SYNCHRONOUS = [name for name, strategy in STRATEGIES.items() if strategy.synchronous]
NUM_STEPS = 3
ONE_LAYER = {"num_encoder_layers": 1, "num_decoder_layers": 1}


# Plain gradient descent shows a wrong scale of the gradients; the others would hide it.
CONFIGS = {
    "sgd": OptimizerConfig(optimizer="sgd", learning_rate=0.5, max_gradient_norm=0.0),
    "sgd clipped": OptimizerConfig(optimizer="sgd", learning_rate=0.5, max_gradient_norm=0.1),
    "adam": OptimizerConfig(optimizer="adam", learning_rate=0.01),
    "adamw": OptimizerConfig(optimizer="adamw", learning_rate=0.01, weight_decay=0.1),
}


def uneven_batch(num_replicas, seed):
    rng = np.random.default_rng(seed)
    rows = 2 * num_replicas
    return small.batch(rng.integers(1, 9, rows), rng.integers(1, 9, rows), seed)


def cut(batch, num_replicas):
    parts = [tf.split(part, num_replicas) for part in batch]
    return tuple(Batch(*slices) for slices in zip(*parts))


def train(trainer, num_slices, num_batches_of):
    for seed in range(NUM_STEPS):
        trainer.train_step(cut(uneven_batch(num_batches_of, seed), num_slices))
    return small.values(trainer)


@functools.cache
def on_one_device(num_batches_of, encoder_type, name):
    options = {"encoder_type": encoder_type, "optimizer": CONFIGS[name]}
    return train(small.trainer("parameter_server", 1, **options, **ONE_LAYER), 1, num_batches_of)


def test_every_optimizer_is_compared():
    assert {config.optimizer for config in CONFIGS.values()} == set(OPTIMIZERS)


def test_the_flag_and_the_table_name_the_same_strategies():
    assert tuple(STRATEGIES) == VARIABLE_UPDATES


@pytest.mark.parametrize(
    ("num_replicas", "name"), [*itertools.product((2, 3), CONFIGS), (8, "sgd"), (8, "adam")]
)
@pytest.mark.parametrize("encoder_type", ENCODER_TYPES)
@pytest.mark.parametrize("strategy", SYNCHRONOUS)
def test_replicas_train_what_one_device_trains(strategy, num_replicas, encoder_type, name):
    options = {"encoder_type": encoder_type, "optimizer": CONFIGS[name]}
    many = small.trainer(strategy, num_replicas, **options, **ONE_LAYER)
    actual = train(many, num_replicas, num_replicas)
    for one, other in zip(on_one_device(num_replicas, encoder_type, name), actual):
        np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-5)


def test_all_copies_are_equal_to_the_bit():
    many = small.trainer("replicated", 3, optimizer=CONFIGS["adam"])
    train(many, 3, 3)
    for copy in (1, 2):
        for one, other in zip(small.values(many), small.values(many, copy)):
            np.testing.assert_array_equal(one, other)


def test_independent_replicas_each_train_on_their_own_slice():
    many = small.trainer("independent", 2)
    alone = [small.trainer("replicated", 1) for _ in range(2)]
    for seed in range(NUM_STEPS):
        slices = cut(uneven_batch(2, seed), 2)
        many.train_step(slices)
        for trainer, batch in zip(alone, slices):
            trainer.train_step((batch,))
    for copy, trainer in enumerate(alone):
        for one, other in zip(small.values(trainer), small.values(many, copy)):
            np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-6)
    assert np.any(small.values(many, 0)[0] != small.values(many, 1)[0])


@pytest.mark.parametrize("strategy", VARIABLE_UPDATES)
def test_with_one_replica_all_strategies_are_the_same(strategy):
    expected = train(small.trainer("parameter_server"), 1, 2)
    for one, other in zip(expected, train(small.trainer(strategy), 1, 2)):
        np.testing.assert_array_equal(one, other)


def test_the_parameter_server_holds_one_copy():
    assert len(small.trainer("parameter_server", 3).strategy.copies) == 1
    assert len(small.trainer("replicated", 3).strategy.copies) == 3
