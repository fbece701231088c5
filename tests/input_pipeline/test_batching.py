import itertools

import numpy as np
import pytest

from input_pipeline import batching, encoded
from input_pipeline.batching import TrainingBatches
from input_pipeline.corpus import blocks_of_pairs
from input_pipeline.delivery import Delivery
from input_pipeline.epochs import BatchLimit, Epochs
from input_pipeline.vocabulary import EOS, build_vocabulary
from tests.corpora import make_pairs

PAIRS = make_pairs()
VOCABULARIES = tuple(build_vocabulary(side) for side in zip(*PAIRS))


def batches(size=8, num_replicas=1, num_epochs=1, seed=1, in_words=False, prefetch=True):
    pairs = encoded.in_memory(blocks_of_pairs(PAIRS), VOCABULARIES)
    limit = BatchLimit(size * num_replicas, in_words)
    epochs = Epochs(pairs.source.lengths, pairs.target.lengths, limit, 3, seed)
    devices = [f"CPU:{replica}" for replica in range(num_replicas)]
    return TrainingBatches(pairs, epochs, num_epochs, Delivery(devices, prefetch))


def steps(*args, first=0, **options):
    return list(batches(*args, **options).starting_at(first))


def sentences(all_steps):
    """First source words of all real rows, in order."""
    rows = [
        int(row[0])
        for step in all_steps
        for part in step
        for row, length in zip(part.source.numpy(), part.target_lengths.numpy())
        if length
    ]
    return [VOCABULARIES[0].words[row] for row in rows]


@pytest.mark.parametrize("in_words", [False, True])
@pytest.mark.parametrize("num_replicas", [1, 2, 3, 8])
def test_an_epoch_has_every_sentence_once(num_replicas, in_words):
    found = steps(20 if in_words else 4, num_replicas, in_words=in_words)
    assert sorted(sentences(found)) == sorted(pair.source.split()[0] for pair in PAIRS)
    assert {len(step) for step in found} == {num_replicas}
    assert all(len({tuple(part.source.shape) for part in step}) == 1 for step in found)


@pytest.mark.parametrize("in_words", [False, True])
@pytest.mark.parametrize("num_replicas", [2, 4])
def test_replicas_get_what_one_larger_replica_gets(num_replicas, in_words):
    one = steps(24, in_words=in_words)
    many = steps(24 // num_replicas, num_replicas, in_words=in_words)
    assert len(one) == len(many)
    for (whole,), parts in zip(one, many):
        assert sentences([(whole,)]) == sentences([parts])
        rows = len(whole.source)
        for values, slices in zip(whole, zip(*parts)):
            np.testing.assert_array_equal(values, np.concatenate(slices)[:rows])


def test_rows_are_the_corpus_ids_padded_to_the_longest():
    texts = {pair.source.split()[0]: pair for pair in PAIRS}
    for (batch,) in steps():
        assert batch.source.shape[1] == max(batch.source_lengths.numpy())
        assert batch.target.shape[1] == max(batch.target_lengths.numpy())
        for source, source_length, target, target_length in zip(*(v.numpy() for v in batch)):
            words = [VOCABULARIES[0].words[index] for index in source[:source_length]]
            pair = texts[words[0]]
            assert " ".join(words) == pair.source
            assert target[target_length - 1] == EOS
            assert VOCABULARIES[1].decode(target) == pair.target
            assert not source[source_length:].any()
            assert not target[target_length:].any()


def test_rows_that_fill_up_teach_nothing_and_are_legal():
    fillers = [
        (source, source_length)
        for step in steps(4, 8)
        for part in step
        for source, source_length, length in zip(part.source, part.source_lengths, part[3])
        if not length
    ]
    assert fillers
    assert all(int(length) == 1 and not source.numpy().any() for source, length in fillers)


def test_each_slice_lies_on_its_device():
    for parts in steps(4, 3):
        assert [part.source.device[-5:] for part in parts] == ["CPU:0", "CPU:1", "CPU:2"]
    for parts in steps(4, 3, prefetch=False):
        assert {part.source.device[-5:] for part in parts} == {"CPU:0"}


def test_prefetching_changes_no_batch():
    for one, other in zip(steps(4, 2), steps(4, 2, prefetch=False)):
        for values, others in zip(itertools.chain(*one), itertools.chain(*other)):
            np.testing.assert_array_equal(values, others)


def test_the_seed_alone_decides_the_order():
    assert sentences(steps(seed=1)) == sentences(steps(seed=1))
    assert sentences(steps(seed=1)) != sentences(steps(seed=2))


def test_epochs_differ_in_order():
    seen = sentences(steps(num_epochs=2))
    first, second = seen[: len(PAIRS)], seen[len(PAIRS) :]
    assert first != second
    assert sorted(first) == sorted(second)


@pytest.mark.parametrize("first", [0, 5, 15, 22])
def test_any_position_is_reached_at_once_and_goes_on_alike(first):
    whole = sentences(steps(num_epochs=2)[first:])
    assert sentences(steps(num_epochs=2, first=first)) == whole


def test_without_epochs_the_batches_never_end():
    endless = batches(num_epochs=0)
    assert endless.num_batches is None
    assert len(list(itertools.islice(endless.starting_at(0), 100))) == 100
    far = 10**9 * endless.epochs.num_batches
    assert len(sentences([next(endless.starting_at(far))])) > 0


@pytest.mark.parametrize("num_epochs", [1, 3])
def test_the_number_of_batches_is_known_beforehand(num_epochs):
    made = batches(num_epochs=num_epochs)
    assert made.num_batches == len(list(made.starting_at(0)))


def test_rows_are_filled_up_to_be_cut_evenly():
    assert batching.fill_up(np.array([7, 8, 9]), 2).tolist() == [7, 8, 9, -1]
    assert batching.fill_up(np.array([7, 8, 9]), 3).tolist() == [7, 8, 9]
