import numpy as np
import pytest

from nmt.config import VARIABLE_UPDATES
from nmt.measuring import phases
from tests import small

BATCHES = (small.batch([5, 1, 3, 2], [2, 6, 4, 1]), small.batch([2, 2], [1, 3], seed=1))


def test_phases_are_of_steps_in_the_middle_for_each_replica_and_overlap_in_all():
    # start, transfer, read, wait, forward, backward, exchange, update
    first = [0.0, 1.0, 2.0, 2.0, 4.0, 8.0, 10.0, 11.0]
    second = [0.0, 1.0, 1.0, 4.0, 6.0, 9.0, 10.0, 12.0]
    times = np.array([[first, second]] * 3)
    times[2] *= 10  # one step that was disturbed does not count
    found = phases.summarize(times)
    assert found.step == 12.0
    assert found.replicas["wait"] == [0.0, 3.0]
    assert found.replicas["forward"] == [2.0, 2.0]
    assert found.replicas["others"] == [1.0, 0.0]
    assert found.replicas["exchange"] == [1.0, 1.0]
    assert found.total["forward"] == 4.0
    assert found.total["update"] == 2.0


def test_what_is_waited_for_in_turn_is_lost_in_no_phase():
    """A median of each phase by itself would be 0 for the three that wait."""
    waits = [(9.0, 0.0, 0.0), (0.0, 9.0, 0.0), (0.0, 0.0, 9.0)]
    step = [0.0, 1.0, 1.0, *(np.cumsum([2.0, 2.0, 2.0, 2.0, 2.0]) + 1.0)]
    times = np.array([[step]] * 3)
    for marks, (forward, backward, exchange) in zip(times[:, 0], waits):
        marks[4:] += forward
        marks[5:] += backward
        marks[6:] += exchange
    found = phases.summarize(np.concatenate([times] * 2))
    own = sum(found.replicas[phase][0] for phase in phases.SINCE if phase != "transfer")
    assert own == pytest.approx(found.step) == 20.0


def test_who_shares_nothing_waits_for_nobody():
    first = [0.0, 1.0, 1.0, 2.0, 3.0, 4.0, 4.5, 5.0]
    second = [0.0, 1.0, 1.0, 5.0, 6.0, 7.0, 7.5, 8.0]  # begins when the first one has ended
    found = phases.summarize(np.array([[first, second]]))
    assert found.replicas["others"] == [0.5, 0.0]
    assert found.replicas["exchange"] == [0.0, 0.5]


def test_averages_follow_the_measured_step():
    real, measured = (small.trainer("replicated", 2, ema_decay=0.5) for _ in range(2))
    for _ in range(3):
        real.train_step(BATCHES)
    phases.measure(measured, [BATCHES] * 9, num_steps=2)
    for one, other in zip(real.averages.variables, measured.averages.variables):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("strategy", VARIABLE_UPDATES)
def test_the_measured_step_trains_as_the_real_one_does(strategy):
    real, measured = (small.trainer(strategy, 2) for _ in range(2))
    for _ in range(3):
        real.train_step(BATCHES)
    found = phases.measure(measured, [BATCHES] * 9, num_steps=2)
    for copy in range(len(real.strategy.copies)):
        for one, other in zip(small.values(real, copy), small.values(measured, copy)):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7)
    assert int(measured.step) == 3
    for phase in phases.SINCE:
        assert len(found.replicas[phase]) == 2
        assert 0.0 <= min(found.replicas[phase]) <= found.total[phase] <= found.step
    assert found.replicas["forward"][0] > 0.0


@pytest.mark.parametrize("strategy", VARIABLE_UPDATES)
def test_every_phase_waits_for_the_one_before(strategy):
    step = phases.phased_step(small.trainer(strategy, 2))
    for _ in range(200):  # TensorFlow runs a graph in another order when it knows it
        found = phases.summarize(step(BATCHES).numpy()[np.newaxis])
        assert min(map(min, found.replicas.values())) >= 0.0


@pytest.mark.parametrize("strategy", VARIABLE_UPDATES)
def test_nothing_travels_only_to_be_measured(strategy):
    trainer = small.trainer(strategy, 2)
    graph = phases.phased_step(trainer).get_concrete_function().graph
    looks = [op for op in graph.get_operations() if op.type in ("Identity", "Reshape", "Cast")]
    assert {op.device[-5:] for op in looks} >= {"CPU:0", "CPU:1"}
    for op in looks:
        given = op.inputs[0].device
        assert op.device == given or given == "" or op.type == "Identity", op
    assert not [op for op in looks if op.inputs[0].device and not op.device]


def test_an_exchange_that_is_late_waits_for_nothing_and_is_never_negative():
    trainer = small.trainer("replicated", 2, relaxed=True)
    found = phases.measure(trainer, [BATCHES] * 9, num_steps=3)
    for phase, seconds in found.replicas.items():
        assert 0.0 <= min(seconds) <= found.total[phase] <= found.step
    first = [0.0, 1.0, 2.0, 2.0, 4.0, 8.0, 3.0, 4.0]  # updated before the backward pass ends
    late = phases.summarize(np.array([[first]]), phases.SINCE_LATE)
    assert (late.step, late.total["exchange"], late.total["update"]) == (8.0, 3.0, 1.0)
