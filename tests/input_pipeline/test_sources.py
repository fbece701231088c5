import dataclasses
import itertools

import numpy as np
import pytest

from input_pipeline.corpus import Pair, Splits
from input_pipeline.sources import Request, from_text
from nmt.config import DataConfig
from nmt.errors import UserError

PAIRS = [Pair(f"n{i} " + "x " * (i % 5), "y " * (1 + i % 4)) for i in range(40)]
SPLITS = Splits(PAIRS, PAIRS[:1], PAIRS[:2])
CONFIG = DataConfig(batch_size=4, num_buckets=2)


def make(config=CONFIG, num_epochs=0):
    return from_text("toy", SPLITS, Request(config, ["CPU:0"], num_epochs, seed=1))


def test_a_resumed_run_goes_on_where_the_data_was():
    whole = list(itertools.islice(make().batches_from(0), 8))
    rest = list(itertools.islice(make().batches_from(5), 3))
    assert len(rest) == 3
    for (one,), (other,) in zip(whole[5:], rest):
        np.testing.assert_array_equal(one.source, other.source)


def test_the_description_counts_what_is_left_out():
    data = make(dataclasses.replace(CONFIG, src_max_len=3))
    assert "24 training pairs (16 left out" in data.description
    assert data.vocabulary_sizes == (3 + 41, 3 + 1)


def test_epochs_have_an_end_and_none_have_not():
    assert make().num_batches is None
    assert len(list(make(num_epochs=2).batches_from(0))) == make(num_epochs=2).num_batches


def test_sentences_that_are_all_too_long_are_refused():
    with pytest.raises(UserError, match=r"none of 40 .*--tgt_max_len=1; give larger"):
        make(dataclasses.replace(CONFIG, tgt_max_len=1))
