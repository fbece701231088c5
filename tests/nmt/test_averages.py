import numpy as np
import pytest
import tensorflow as tf

from nmt.averages import Averages
from tests import small

BATCH = small.batch([5, 1, 3], [2, 6, 4])


def test_the_average_follows_slowly_and_sooner_at_the_beginning():
    weight = tf.Variable([1.0, 2.0])
    averages = Averages(0.9, [weight])
    expected = weight.numpy()
    for step in range(1, 200):
        weight.assign([float(step), -float(step)])
        averages.follow(tf.constant(step))
        decay = min(0.9, (1 + step) / (10 + step))
        expected = decay * expected + (1 - decay) * weight.numpy()
    np.testing.assert_allclose(averages.variables[0], expected, rtol=1e-5)


@pytest.mark.parametrize("strategy", ["parameter_server", "replicated", "independent"])
def test_every_strategy_trains_as_without_and_keeps_averages(strategy):
    plain = small.trainer(strategy, 2)
    averaged = small.trainer(strategy, 2, ema_decay=0.5)
    before = small.values(plain)
    for one in (plain, averaged):
        one.train_step((BATCH, BATCH))
    for start, now, with_average, average in zip(
        before, small.values(plain), small.values(averaged), averaged.weights
    ):
        np.testing.assert_array_equal(now, with_average)
        share = 1 - min(0.5, 2 / 11)
        np.testing.assert_allclose(average, start + share * (now - start), rtol=1e-5, atol=1e-6)
    assert plain.weights is plain.strategy.copies[0].variables
