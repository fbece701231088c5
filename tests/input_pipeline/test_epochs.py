import numpy as np
import pytest

from input_pipeline import epochs
from input_pipeline.epochs import BatchLimit, Epochs

RNG = np.random.default_rng(0)
SOURCE = RNG.integers(1, 40, 5000).astype(np.int32)
TARGET = np.clip(SOURCE + RNG.integers(-6, 8, 5000), 2, 50).astype(np.int32)
GOLDEN_ROWS = [3938, 3793, 4883, 2985, 996]
GOLDEN_BOUNDS = [[704, 768], [2123, 2187]]


def make(amount=64, in_words=False, num_buckets=5, seed=1):
    return Epochs(SOURCE, TARGET, BatchLimit(amount, in_words), num_buckets, seed)


def batches(epoch):
    return [epoch.rows[begin:end] for begin, end in epoch.bounds]


@pytest.mark.parametrize(
    "limit", [(64, False), (7, False), (6000, False), (1000, True), (90, True)]
)
def test_every_pair_is_in_an_epoch_once_and_the_number_of_batches_is_known(limit):
    made = make(*limit)
    for number in (0, 1):
        found = batches(made.epoch(number))
        assert len(found) == made.num_batches
        assert sorted(np.concatenate(found)) == list(range(len(SOURCE)))


def test_a_batch_has_sentences_of_one_bucket_and_at_most_the_limit():
    made = make()
    found = batches(made.epoch(0))
    numbers = {int(row): number for number, rows in enumerate(made.buckets) for row in rows}
    assert all(len({numbers[int(row)] for row in rows}) == 1 for rows in found)
    sizes = [len(rows) for rows in found]
    assert max(sizes) == 64
    assert sum(size < 64 for size in sizes) <= len(made.buckets)


def test_a_batch_by_words_has_about_so_many():
    words = [int((SOURCE + TARGET)[rows].sum()) for rows in batches(make(1000, True).epoch(0))]
    assert max(words) < 1000 + 90
    assert sorted(words)[len(words) // 2] == pytest.approx(1000, rel=0.05)


def test_the_seed_and_the_number_of_the_epoch_decide_the_order():
    first, again = make().epoch(3), make().epoch(3)
    assert np.array_equal(first.rows, again.rows)
    assert np.array_equal(first.bounds, again.bounds)
    assert not np.array_equal(first.rows, make(seed=2).epoch(3).rows)
    assert not np.array_equal(first.rows, make().epoch(4).rows)


def test_the_order_is_the_same_on_every_machine():
    rows, bounds = make().epoch(0)
    assert rows[:5].tolist() == GOLDEN_ROWS
    assert bounds[:2].tolist() == GOLDEN_BOUNDS


def test_batches_are_made_of_other_pairs_in_every_epoch():
    one, other = (
        {frozenset(rows.tolist()) for rows in batches(make().epoch(number))} for number in (0, 1)
    )
    assert len(one & other) < 0.05 * len(one)


def test_short_and_long_batches_come_mixed():
    lengths = [SOURCE[rows].mean() for rows in batches(make().epoch(0))]
    assert abs(np.corrcoef(lengths, np.arange(len(lengths)))[0, 1]) < 0.3


def test_padding_is_what_the_batches_have_and_small():
    made = make()
    places = sum(
        len(rows) * int(SOURCE[rows].max() + TARGET[rows].max()) for rows in batches(made.epoch(0))
    )
    words = int(SOURCE.sum() + TARGET.sum())
    assert made.padding_share(1) == pytest.approx(1 - words / places)
    assert made.padding_share(1) < 0.1
    assert make(num_buckets=1).padding_share(1) < 0.15


def test_rows_that_fill_up_count_as_padding():
    assert make(64).padding_share(63) > make(64).padding_share(1) + 0.3


def test_buckets_hold_similar_lengths_and_equal_shares():
    lengths = np.random.default_rng(0).integers(1, 40, 10_000)
    boundaries = epochs.bucket_boundaries(lengths, 5)
    shares = np.bincount(np.digitize(lengths, boundaries)) / len(lengths)
    assert len(boundaries) == 4
    assert np.all(np.abs(shares - 0.2) < 0.03)


@pytest.mark.parametrize("lengths", [[4], [4, 4, 4], [1, 9]])
def test_few_different_lengths_make_few_buckets(lengths):
    boundaries = epochs.bucket_boundaries(np.array(lengths), 5)
    assert len(boundaries) + 1 <= len(set(lengths))


def test_containers_are_filled_in_order():
    assert epochs.fill(np.ones(5, int), 2).tolist() == [0, 0, 1, 1, 2]
    assert epochs.fill(np.array([3, 3, 3, 4, 1]), 4).tolist() == [0, 1, 2, 3, 3]
