"""Strategies against gradients worked out by hand."""

import functools

import numpy as np
import pytest
import tensorflow as tf

from nmt.config import OptimizerConfig
from nmt.optimizers import make_optimizer
from nmt.types import ReplicaGradients
from variable_update.strategies import STRATEGIES

SGD = OptimizerConfig(optimizer="sgd", learning_rate=1.0, max_gradient_norm=0.0)


def make(name, num_replicas):
    devices = [f"CPU:{index}" for index in range(num_replicas)]
    create = lambda: [tf.Variable(10.0), tf.Variable([1.0, 2.0])]  # noqa: E731
    return STRATEGIES[name](devices, create, functools.partial(make_optimizer, SGD))


def gradients(scalar, vector, num_tokens):
    return ReplicaGradients([tf.constant(scalar), tf.constant(vector)], tf.constant(num_tokens))


UNEVEN = [gradients(2.0, [1.0, 0.0], 1.0), gradients(6.0, [0.0, 4.0], 3.0)]


@pytest.mark.parametrize("name", [n for n, s in STRATEGIES.items() if s.synchronous])
def test_sums_are_divided_once_by_all_tokens(name):
    strategy = make(name, 2)
    strategy.apply(UNEVEN, tf.constant(0))
    for replica in (0, 1):
        scalar, vector = strategy.read(replica)
        assert float(scalar) == 10.0 - (2.0 + 6.0) / 4.0
        np.testing.assert_array_equal(vector, [1.0 - 1.0 / 4.0, 2.0 - 4.0 / 4.0])


def test_independent_replicas_divide_by_their_own_tokens():
    strategy = make("independent", 2)
    strategy.apply(UNEVEN, tf.constant(0))
    assert [float(strategy.read(replica)[0]) for replica in (0, 1)] == [8.0, 8.0]
    np.testing.assert_allclose(strategy.read(1)[1], [1.0, 2.0 - 4.0 / 3.0])


@pytest.mark.parametrize(("name", "homes"), [("parameter_server", 1), ("replicated", 3)])
def test_variables_live_where_the_strategy_says(name, homes):
    strategy = make(name, 3)
    found = [copy.variables[0].device for copy in strategy.copies]
    assert [device[-5:] for device in found] == [f"CPU:{index}" for index in range(homes)]
    assert f"CPU:{homes - 1}" in strategy.describe()


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_replica_reads_on_its_own_device(name):
    strategy = make(name, 3)
    for replica in range(3):
        assert strategy.read(replica)[0].device.endswith(f"CPU:{replica}")


def test_every_copy_follows_the_first_after_a_restore():
    strategy = make("replicated", 2)
    strategy.copies[0].variables[0].assign(5.0)
    strategy.after_restore()
    assert float(strategy.read(1)[0]) == 5.0
