import pytest

from nmt.measuring.throughput import Meter
from tests import small


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Slow(float):
    """A value that takes its reader one second, as a device that lags behind does."""

    clock: Clock

    def __float__(self):
        self.clock.now += 1.0
        return super().__float__()


def run(meter, clock, steps):
    for seconds, words in steps:
        clock.now += seconds
        meter.count(small.step_result(6.0, 3.0, words, 4 * words))


def test_warm_up_is_left_out_of_the_speed():
    clock = Clock()
    meter = Meter(num_warmup=2, clock=clock)
    run(meter, clock, [(50.0, 5), (10.0, 5), (2.0, 30), (3.0, 20)])
    meter.read()
    assert meter.timed_seconds == [2.0, 3.0]
    assert meter.words_per_s == pytest.approx(50 / 5)
    assert meter.ids_per_s == pytest.approx(4 * 50 / 5)
    assert list(meter.losses) == [2.0] * 4


@pytest.mark.parametrize("reads", [{0}, {1}, {0, 2}, {1, 2}, set()])
def test_warm_up_is_left_out_whenever_it_is_read(reads):
    clock = Clock()
    meter = Meter(num_warmup=2, clock=clock)
    for number, words in enumerate((5, 7, 30, 20)):
        run(meter, clock, [(1.0, words)])
        if number in reads:
            meter.read()
    meter.read()
    assert meter.timed == (50, 4 * 50, 2 * 3)


def test_a_window_averages_since_the_last_look():
    clock = Clock()
    meter = Meter(0, clock)
    run(meter, clock, [(1.0, 10)])
    meter.read()
    run(meter, clock, [(2.0, 30), (2.0, 50)])
    assert meter.read()[:4] == (20.0, 2.0, 2.0, 1.0)


def test_waiting_for_the_device_counts_as_the_last_steps_time():
    clock = Clock()
    Slow.clock = clock
    meter = Meter(0, clock)
    clock.now = 1.0
    meter.count(small.step_result(Slow(6.0), 3.0, 10, 10))
    meter.read()
    assert list(meter.step_seconds) == [2.0]


def test_counting_reads_nothing():
    class Unreadable(float):
        def __float__(self):
            raise AssertionError("the step was waited for")

    meter = Meter(0)
    for _ in range(3):
        meter.count(small.step_result(*[Unreadable(1.0)] * 6))
    with pytest.raises(AssertionError, match="waited for"):
        meter.read()


def test_time_between_start_and_the_last_lap_belongs_to_no_step():
    clock = Clock()
    meter = Meter(0, clock)
    run(meter, clock, [(1.0, 10)])
    clock.now += 100.0
    meter.start()
    run(meter, clock, [(1.0, 10)])
    meter.read()
    assert meter.words_per_s == pytest.approx(10.0)


def test_waiting_for_batches_is_counted_for_timed_steps():
    clock = Clock()
    meter = Meter(1, clock)

    def slow_batches():
        for seconds in (100.0, 2.0, 3.0, 50.0):
            clock.now += seconds
            yield seconds

    # The fourth batch is drawn, but its step is not made.
    for _, seconds in zip(range(4), meter.waiting_for(slow_batches())):
        if seconds != 50.0:
            run(meter, clock, [(10.0, 10)])
    assert meter.input_wait_s == 2.0 + 3.0
    assert meter.timed_seconds == [12.0, 13.0]


def test_no_timed_batches_mean_no_speed():
    clock = Clock()
    meter = Meter(3, clock)
    run(meter, clock, [(1.0, 10)])
    meter.read()
    assert meter.words_per_s == 0.0
