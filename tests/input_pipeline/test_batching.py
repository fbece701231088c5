import itertools

import numpy as np
import pytest
import tensorflow as tf

from input_pipeline import batching
from input_pipeline.batching import BatchPlan, encode_pairs, training_batches
from input_pipeline.corpus import Pair
from input_pipeline.vocabulary import EOS, build_vocabulary
from nmt.types import Batch


def make_pairs(count=103):
    """Every source is its own number followed by filler, so that sentences can be told apart."""
    return [
        Pair(" ".join([f"n{i}"] + ["x"] * (i % 7)), " ".join(["y"] * (1 + i % 5)))
        for i in range(count)
    ]


PAIRS = make_pairs()
VOCABULARIES = (
    build_vocabulary(pair.source for pair in PAIRS),
    build_vocabulary(pair.target for pair in PAIRS),
)


def encoded(pairs=PAIRS, limits=(50, 50)):
    return encode_pairs(pairs, VOCABULARIES, limits)


def plan(replica_batch_size=8, num_replicas=1, num_epochs=1, seed=1, num_buckets=3):
    boundaries = batching.bucket_boundaries(batching.pair_lengths(encoded()), num_buckets)
    return BatchPlan(replica_batch_size, num_replicas, boundaries, num_epochs, seed)


def sentences(steps):
    """First source words of all real rows, in order."""
    rows = [
        int(row[0])
        for step in steps
        for part in step
        for row, length in zip(part.source.numpy(), part.target_lengths.numpy())
        if length
    ]
    return [VOCABULARIES[0].words[row] for row in rows]


def test_targets_end_and_sources_do_not():
    pairs = encoded(PAIRS[:2])
    assert pairs.source.lengths.tolist() == [1, 2]
    assert pairs.target.values.tolist() == [3, EOS, 3, 3, EOS]


def test_empty_and_over_long_pairs_are_left_out_and_counted():
    pairs = encoded(
        [Pair("", "y"), Pair("x", ""), Pair("x x x", "y"), Pair("x", "y y"), PAIRS[0]],
        limits=(2, 2),
    )
    assert len(pairs) == 1
    assert pairs.num_dropped == 4


@pytest.mark.parametrize("num_replicas", [1, 2, 3, 8])
def test_an_epoch_has_every_sentence_once(num_replicas):
    steps = list(training_batches(encoded(), plan(4, num_replicas)))
    assert sorted(sentences(steps)) == sorted(pair.source.split()[0] for pair in PAIRS)
    assert {len(step) for step in steps} == {num_replicas}
    assert all(len({int(tf.shape(part.source)[0]) for part in step}) == 1 for step in steps)


@pytest.mark.parametrize("num_replicas", [2, 4])
def test_replicas_get_what_one_larger_replica_gets(num_replicas):
    one = training_batches(encoded(), plan(12))
    many = training_batches(encoded(), plan(12 // num_replicas, num_replicas))
    assert sentences(one) == sentences(many)


def test_the_seed_alone_decides_the_order():
    first, again, other = (
        sentences(training_batches(encoded(), plan(seed=seed))) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_epochs_differ_in_order():
    steps = list(training_batches(encoded(), plan(num_buckets=1, num_epochs=2)))
    seen = sentences(steps)
    assert seen[: len(PAIRS)] != seen[len(PAIRS) :]
    assert sorted(seen) == sorted(2 * [pair.source.split()[0] for pair in PAIRS])


def test_without_epochs_the_batches_never_end():
    dataset = training_batches(encoded(), plan(num_epochs=0))
    assert len(list(itertools.islice(dataset, 100))) == 100


@pytest.mark.parametrize("num_epochs", [1, 3])
def test_the_number_of_batches_is_known_beforehand(num_epochs):
    how = plan(num_epochs=num_epochs)
    steps = list(training_batches(encoded(), how))
    assert batching.count_batches(batching.pair_lengths(encoded()), how) == len(steps)


def test_buckets_hold_similar_lengths_and_equal_shares():
    lengths = np.random.default_rng(0).integers(1, 40, 10_000)
    boundaries = batching.bucket_boundaries(lengths, 5)
    shares = np.bincount(np.digitize(lengths, boundaries)) / len(lengths)
    assert len(boundaries) == 4
    assert np.all(np.abs(shares - 0.2) < 0.03)


@pytest.mark.parametrize("lengths", [[4], [4, 4, 4], [1, 9]])
def test_few_different_lengths_make_few_buckets(lengths):
    boundaries = batching.bucket_boundaries(np.array(lengths), 5)
    assert len(boundaries) + 1 <= len(set(lengths))


def test_buckets_keep_padding_small():
    def padding(num_buckets):
        pairs = encoded([Pair("x " * (1 + i % 20), "y " * (1 + i % 20)) for i in range(1000)])
        boundaries = batching.bucket_boundaries(batching.pair_lengths(pairs), num_buckets)
        steps = training_batches(pairs, BatchPlan(16, 1, boundaries, 1, seed=1))
        totals = [(int(tf.size(b.source)), int(sum(b.source_lengths))) for (b,) in steps]
        places, words = map(sum, zip(*totals))
        return 1 - words / places

    assert padding(5) < 0.3 * padding(1)


def test_rows_that_fill_up_teach_nothing_and_are_legal():
    batch = Batch(
        tf.ones([3, 4], tf.int32), tf.fill([3], 4), tf.ones([3, 2], tf.int32), tf.fill([3], 2)
    )
    filled = batching.fill_up(batch, 4)
    assert filled.source.shape == (4, 4)
    assert filled.source_lengths.numpy().tolist() == [4, 4, 4, 1]
    assert filled.target_lengths.numpy().tolist() == [2, 2, 2, 0]
    assert batching.fill_up(batch, 3).source.shape == (3, 4)
