import itertools
import subprocess
import sys
import threading
import time

import pytest

from input_pipeline.delivery import read_ahead


def test_items_come_in_order_and_end():
    assert list(read_ahead(iter(range(100)), 2)) == list(range(100))
    assert list(read_ahead(iter([]), 2)) == []


def test_items_are_drawn_while_the_reader_works_and_no_more_than_said():
    drawn = []

    def items():
        for number in itertools.count():
            drawn.append(number)
            yield number

    reader = read_ahead(items(), 2)
    assert next(reader) == 0
    deadline = time.monotonic() + 10
    while len(drawn) < 4 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.1)
    assert drawn == [0, 1, 2, 3]  # one read, two waiting, one in hand
    reader.close()


def test_an_error_reaches_the_reader_in_its_place():
    def items():
        yield 1
        raise ValueError("bad batch")

    reader = read_ahead(items(), 2)
    assert next(reader) == 1
    with pytest.raises(ValueError, match="bad batch"):
        next(reader)


def test_a_reader_that_stops_ends_the_thread():
    before = threading.active_count()
    for _ in zip(range(3), read_ahead(itertools.count(), 2)):
        pass
    deadline = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == before


ABANDONED = """
from nmt.machine import environment
environment.prepare(0)
from input_pipeline.sources import from_splits
from input_pipeline.training_data import Request
from nmt.config import DataConfig
from tests.corpora import make_pairs
from input_pipeline.corpus import Splits
config = DataConfig(batch_size=4, prefetch_data_to_device={prefetch})
data = from_splits("toy", Splits(make_pairs(), [], []), Request(config, ["CPU:0"], 0, 1))
batches = iter(data.batches_from(0))
print(len(next(batches)))
"""


@pytest.mark.parametrize("prefetch", [True, False])
def test_a_program_ends_while_batches_are_being_drawn(prefetch):
    command = [sys.executable, "-c", ABANDONED.format(prefetch=prefetch)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")
