import dataclasses

import numpy as np

from input_pipeline.sources import SOURCES
from input_pipeline.synthetic import synthetic_batches
from input_pipeline.training_data import Request
from input_pipeline.vocabulary import EOS
from nmt.config import DataConfig

CONFIG = DataConfig(batch_size=3, src_max_len=5, src_vocab_size=9, tgt_vocab_size=11)


def test_both_sides_have_src_max_len_words():
    (batch,) = synthetic_batches(CONFIG, ["CPU:0"], seed=1)
    assert batch.source.shape == batch.target.shape == (3, 5)
    assert set(batch.source_lengths.numpy()) == set(batch.target_lengths.numpy()) == {5}
    assert set(batch.target.numpy()[:, -1]) == {EOS}


def test_ids_are_words_of_the_vocabulary():
    (batch,) = synthetic_batches(dataclasses.replace(CONFIG, batch_size=500), ["CPU:0"], seed=1)
    assert (batch.source.numpy().min(), batch.source.numpy().max()) == (3, 8)
    assert (batch.target.numpy()[:, :-1].min(), batch.target.numpy().max()) == (3, 10)


def test_each_batch_lies_on_its_device_and_is_made_once():
    devices = ["CPU:0", "CPU:1"]
    data = SOURCES["synthetic"](Request(CONFIG, devices, 0, 1))
    first, second = (step for step, _ in zip(data.batches_from(0), range(2)))
    assert first is second
    assert [part.source.device[-5:] for part in first] == devices
    assert (first[0].source.numpy() != first[1].source.numpy()).any()


def test_replicas_share_the_batch_that_one_would_have():
    whole = dataclasses.replace(CONFIG, batch_size=4)
    half = dataclasses.replace(CONFIG, batch_size=2)
    (one,) = synthetic_batches(whole, ["CPU:0"], seed=1)
    two = synthetic_batches(half, ["CPU:0", "CPU:1"], seed=1)
    for part, parts in zip(one, zip(*two)):
        assert np.concatenate(parts).tolist() == part.numpy().tolist()


def test_a_length_of_one_is_legal():
    (batch,) = synthetic_batches(dataclasses.replace(CONFIG, src_max_len=1), ["CPU:0"], seed=1)
    assert batch.target.numpy().tolist() == [[EOS]] * 3
