"""Runs that are broken on purpose, as processes; benchmarks/faults.py does it many times."""

import random
import signal

import pytest

from benchmarks import faults


@pytest.mark.parametrize("strategy", list(faults.STRATEGIES))
def test_after_kill_9_training_goes_on_as_if_nothing_had_been(strategy):
    draw = random.Random(strategy)
    assert list(faults.kills(faults.STRATEGIES[strategy], 1, draw)) == [""]


def test_a_bit_that_was_changed_costs_one_checkpoint():
    assert list(faults.damages(faults.flip_a_bit, 1, random.Random(1))) == [""]


def test_a_full_disk_costs_nothing_that_was_saved():
    assert list(faults.full_disks(1)) == [""]


def test_a_second_run_in_the_same_directory_is_refused():
    assert list(faults.second_runs(1)) == [""]


def test_sigterm_saves_and_ends_well():
    assert list(faults.signals(signal.SIGTERM, 1, random.Random(2))) == [""]


def test_who_does_not_wait_for_the_last_save_goes_on_from_the_one_before():
    assert list(faults.second_signals(1, random.Random(3))) == [""]


def test_a_loss_that_is_no_number_costs_nothing_that_was_saved():
    assert list(faults.divergences(1)) == [""]
