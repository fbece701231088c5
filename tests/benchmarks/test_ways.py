import pytest

from benchmarks import ways
from benchmarks.parts import PARTS
from benchmarks.parts.common import Sizes
from benchmarks.parts.matmuls import LARGE

SMALL = Sizes(batch=2, time=3, units=4, vocabulary=11, layers=2)


@pytest.mark.parametrize("part", PARTS)
def test_every_way_of_every_part_runs(part):
    found = ways.measure(PARTS[part](SMALL), rounds=1)
    assert len(found) > 1
    assert all(time > 0 for time in found.values())


SAME = [
    *("two layers of one direction", "two layers of two directions"),
    *("projection, loss and their gradients", "loss and its gradient", *LARGE),
]


@pytest.mark.parametrize("part", SAME)
def test_ways_that_can_replace_each_other_compute_the_same(part):
    first, *others = (float(way()) for way in PARTS[part](SMALL).values())
    assert first != 0.0
    assert others == pytest.approx([first] * len(others), rel=1e-4, abs=1e-6)


def test_ways_are_shown_against_the_one_that_was_taken():
    rows = ways.rows_of("loss", {"taken": 2.0, "other": 5.0})
    assert rows == [["loss", "taken", "2.00", "1.00"], ["loss", "other", "5.00", "2.50"]]
