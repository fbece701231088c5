"""Strategies against gradients worked out by hand."""

import functools

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from nmt.config import OptimizerConfig
from nmt.optimizers import make_optimizer
from nmt.types import ReplicaGradients
from tests import small
from variable_update.base import Ingredients
from variable_update.parameter_server import spread
from variable_update.strategies import STRATEGIES

SGD = OptimizerConfig(optimizer="sgd", learning_rate=1.0, max_gradient_norm=0.0)


def make(name, num_replicas, servers=(), skips=False):
    devices = [f"CPU:{index}" for index in range(num_replicas)]

    def create(place):
        variables = []
        for number, value in enumerate((10.0, [1.0, 2.0])):
            with tf.device(place(number)):
                variables.append(tf.Variable(value))
        return variables

    optimizer = functools.partial(make_optimizer, SGD)
    return STRATEGIES[name](
        Ingredients(
            devices, create, [4, 8], optimizer, servers or devices, small.EXCHANGE, skips=skips
        )
    )


def gradients(scalar, vector, num_tokens, loss_sum=1.0):
    sums = [tf.constant(scalar), tf.constant(vector)]
    return ReplicaGradients(sums, tf.constant(num_tokens), tf.constant(loss_sum))


UNEVEN = [gradients(2.0, [1.0, 0.0], 1.0), gradients(6.0, [0.0, 4.0], 3.0)]


@pytest.mark.parametrize("name", [n for n, s in STRATEGIES.items() if s.synchronous])
def test_sums_are_divided_once_by_all_tokens(name):
    strategy = make(name, 2)
    strategy.update(strategy.agree(UNEVEN), tf.constant(0))
    for replica in (0, 1):
        scalar, vector = strategy.read(replica)
        assert float(scalar) == 10.0 - (2.0 + 6.0) / 4.0
        np.testing.assert_array_equal(vector, [1.0 - 1.0 / 4.0, 2.0 - 4.0 / 4.0])


def test_independent_replicas_divide_by_their_own_tokens():
    strategy = make("independent", 2)
    strategy.update(strategy.agree(UNEVEN), tf.constant(0))
    assert [float(strategy.read(replica)[0]) for replica in (0, 1)] == [8.0, 8.0]
    np.testing.assert_allclose(strategy.read(1)[1], [1.0, 2.0 - 4.0 / 3.0])


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize(
    ("bad", "loss"), [(float("nan"), 1.0), (float("inf"), 1.0), (4.0, float("inf"))]
)
def test_steps_without_numbers_are_left_out_and_counted(name, bad, loss):
    strategy = make(name, 2, skips=True)
    update = tf.function(strategy.update, autograph=False)
    harmed = [UNEVEN[0], gradients(6.0, [0.0, bad], 3.0, loss)]
    result = update(strategy.agree(harmed), tf.constant(0))
    assert np.isfinite(result.gradient_norm) == np.isfinite(bad)
    assert float(result.num_skipped) == 1
    first = 8.0 if name == "independent" else 10.0  # the first replica's own gradients are sound
    assert [float(strategy.read(replica)[0]) for replica in (0, 1)] == [first, 10.0]
    result = update(strategy.agree(UNEVEN), tf.constant(1))
    assert float(result.num_skipped) == 0
    assert float(strategy.read(0)[0]) == first - 2.0


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_norm_is_that_of_the_mean(name):
    strategy = make(name, 2)
    result = strategy.update(strategy.agree(UNEVEN), tf.constant(0))
    norms = {"independent": np.sqrt((2**2 + 1**2 + 2**2 + (4 / 3) ** 2) / 2)}
    assert float(result.gradient_norm) == pytest.approx(norms.get(name, np.sqrt(4 + 1 / 16 + 1)))


def homes(strategy):
    return [[v.device[-5:] for v in copy.variables] for copy in strategy.copies]


def test_copies_live_on_every_device():
    strategy = make("replicated", 3)
    assert homes(strategy) == [[f"CPU:{index}"] * 2 for index in range(3)]
    assert "CPU:0, CPU:1, CPU:2" in strategy.describe()


def test_the_parameter_server_spreads_one_copy_by_size():
    strategy = make("parameter_server", 3)
    assert homes(strategy) == [["CPU:1", "CPU:0"]]
    strategy = make("parameter_server", 3, servers=["CPU:2"])
    assert homes(strategy) == [["CPU:2", "CPU:2"]]
    assert "0.0 MiB on CPU:2" in strategy.describe()


def test_slots_live_beside_their_variables():
    trainer = small.trainer("parameter_server", 3, optimizer=OptimizerConfig(optimizer="adam"))
    (copy,) = trainer.strategy.copies
    for variable, slots in zip(copy.variables, copy.optimizer.slots):
        assert {slot.device for slot in slots} == {variable.device}
    assert len({variable.device for variable in copy.variables}) == 3


@given(st.lists(st.integers(1, 1000), max_size=30), st.integers(1, 8))
def test_the_fullest_server_has_at_most_one_variable_more_than_its_share(sizes, count):
    servers = [f"CPU:{index}" for index in range(count)]
    found = spread(sizes, servers)
    held = {server: sum(s for s, home in zip(sizes, found) if home == server) for server in servers}
    assert sum(held.values()) == sum(sizes)
    assert max(held.values()) <= sum(sizes) / count + max(sizes, default=0)


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


@pytest.mark.parametrize(
    ("name", "servers", "expected"),
    [
        ("parameter_server", ["CPU:0"], 2 * 2 * 12),
        ("replicated", (), 2 * 2 * 12),
        ("independent", (), 0),
    ],
)
def test_bytes_between_devices_are_counted(name, servers, expected):
    assert make(name, 3, servers).exchange_bytes() == expected
    assert make(name, 1).exchange_bytes() == 0
