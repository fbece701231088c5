from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.config import ParallelConfig
from variable_update import rows
from variable_update.exchange import make_exchange
from variable_update.packing import Packing
from variable_update.rows import Embedding, add_rows, choose, exchange_rows, merge

WORDS = Embedding(size=11, depth=3, most_rows=11)


def slices(ids, seed=0):
    values = np.random.default_rng(seed).normal(size=[len(ids), WORDS.depth])
    shape = [WORDS.size, WORDS.depth]
    return tf.IndexedSlices(tf.constant(values, tf.float32), tf.constant(ids, tf.int32), shape)


def dense(gradient):
    total = np.zeros([WORDS.size, WORDS.depth], np.float32)
    np.add.at(total, gradient.indices.numpy(), gradient.values.numpy())
    return total


def test_merging_leaves_one_row_for_each_word():
    gradient = slices([7, 2, 7, 7, 0, 2])
    merged = merge(gradient)
    assert merged.indices.numpy().tolist() == [7, 2, 0]
    np.testing.assert_allclose(dense(merged), dense(gradient), rtol=1e-6)


def on_the_host(count):
    return [f"CPU:{index}" for index in range(count)]


def on_gpus(count):
    return [f"GPU:{index}" for index in range(count)]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, WORDS.size - 1), max_size=20), min_size=1, max_size=8),
    st.sampled_from([rows.adders, lambda devices: devices]),
)
def test_every_device_gets_the_same_bits_of_the_sum(ids, adders):
    """Whether one adds for all or each for itself."""
    handed_in = [slices(mine, seed) for seed, mine in enumerate(ids)]
    devices = on_the_host(len(ids))
    with mock.patch.object(rows, "adders", adders):
        sums = exchange_rows([merge(g) for g in handed_in], devices, WORDS, tf.float32)
    expected = np.sum([dense(g) for g in handed_in], axis=0)
    np.testing.assert_allclose(sums[0], expected, rtol=1e-5, atol=1e-5)
    for other in sums[1:]:
        np.testing.assert_array_equal(other, sums[0])


def test_no_rows_are_no_gradient():
    np.testing.assert_array_equal(add_rows([slices([])], WORDS), np.zeros([11, 3]))


@pytest.mark.parametrize("packing", [Packing(), Packing(num_packs=1), Packing(small_bytes=64)])
def test_rows_travel_beside_the_packs(packing):
    exchange = make_exchange("psgpu", packing, gpu=False)
    handed_in = [[merge(slices([1, 1, 4], seed)), tf.constant([1.0, 2.0])] for seed in (0, 1)]
    sums = exchange(handed_in, ["CPU:0", "CPU:1"], {0: WORDS})
    expected = sum(dense(table) for table, _ in handed_in)
    for table, other in sums:
        np.testing.assert_allclose(table, expected, rtol=1e-6)
        assert other.numpy().tolist() == [2.0, 4.0]


def test_one_device_of_a_host_adds_for_all_and_every_gpu_for_itself():
    assert rows.adders(on_the_host(3)) == ["CPU:0"]
    assert rows.adders(on_gpus(3)) == on_gpus(3)


SERVER = {"variable_update": "parameter_server"}


@pytest.mark.parametrize(
    ("flags", "devices", "most_rows", "expected"),
    [
        ({}, on_gpus(8), 100, True),  # 8 x 7 x 100 rows against 2 x 7 x 1000
        ({}, on_gpus(8), 300, False),
        ({}, on_gpus(2), 900, True),
        ({}, on_the_host(8), 900, True),  # 7 x 900 and 7 x 1000 back against 2 x 7 x 1000
        ({}, on_the_host(8), 1000, False),  # a row has its number too
        (SERVER, on_gpus(8), 300, True),
        (SERVER, on_gpus(8), 1000, False),
        ({"sparse_gradients": "sparse"}, on_gpus(8), 1000, True),
        ({"sparse_gradients": "dense"}, on_gpus(8), 1, False),
        ({"variable_update": "independent"}, on_gpus(8), 1, False),
        ({"variable_consistency": "relaxed"}, on_gpus(8), 1, False),
        ({}, on_gpus(1), 1, False),
    ],
)
def test_auto_takes_what_is_fewer_bytes(flags, devices, most_rows, expected):
    embeddings = {0: Embedding(1000, 512, most_rows)}
    assert bool(choose(ParallelConfig(**flags), devices, embeddings)) is expected


def test_the_bytes_of_rows_are_counted():
    exchange = make_exchange("psgpu", gpu=False)
    tables = {0: Embedding(1000, 4, most_rows=10)}
    assert exchange.num_bytes([16000, 400], on_the_host(3)) == 4 * 16400
    some = 10 * (16 + 4)
    assert exchange.num_bytes([16000, 400], on_gpus(3), tables) == 6 * some + 4 * 400
    on_host = exchange.num_bytes([16000, 400], on_the_host(3), tables)
    assert on_host == 2 * some + 2 * 16000 + 4 * 400


@pytest.mark.parametrize("wire", [tf.float32, tf.bfloat16])
def test_rows_and_their_sums_travel_in_the_wires_type(wire):
    parts = [merge(slices([1, 4], seed)) for seed in range(3)]
    seen = []

    def spy(value, devices):
        seen.append(value.dtype)
        return [tf.identity(value) for _ in devices]

    with mock.patch.object(rows, "copied", spy):
        sums = exchange_rows(parts, on_the_host(3), WORDS, wire)
    assert seen == [wire]
    assert {total.dtype for total in sums} == {tf.float32}
    for other in sums[1:]:
        np.testing.assert_array_equal(other, sums[0])


def test_16_bits_halve_what_numbers_of_rows_cost():
    words = Embedding(size=8000, depth=512, most_rows=1600)
    full, half = (rows.exchange_bytes(words, on_the_host(8), size) for size in (4, 2))
    ids = 7 * 1600 * rows.ID_BYTES
    assert full - ids == 2 * (half - ids)
    config = ParallelConfig(compact_gradient_transfer=True, num_replicas=8)
    assert set(choose(config, on_the_host(8), {0: words})) == {0}
