import pytest
import tensorflow as tf

from nmt.config import DECAYS as NAMES
from nmt.config import OptimizerConfig
from nmt.schedules import DECAYS, learning_rate


def rates(steps, **changes):
    config = OptimizerConfig(learning_rate=2.0, **changes)
    return [float(learning_rate(config, tf.constant(step, tf.int64))) for step in steps]


def test_the_flag_and_the_table_name_the_same_decays():
    assert tuple(DECAYS) == NAMES


def test_warm_up_rises_in_a_straight_line_to_the_full_rate():
    assert rates([0, 1, 3, 4, 100], warmup_steps=4) == pytest.approx([0.5, 1.0, 2.0, 2.0, 2.0])


def test_exponential_decay_multiplies_once_per_decay_steps():
    options = {"learning_rate_decay": "exponential", "decay_steps": 10, "decay_rate": 0.5}
    assert rates([0, 10, 20], **options) == pytest.approx([2.0, 1.0, 0.5])


def test_inverse_sqrt_starts_after_the_warm_up():
    options = {"learning_rate_decay": "inverse_sqrt", "decay_steps": 100, "warmup_steps": 5}
    assert rates([5, 305], **options) == pytest.approx([2.0, 1.0])
