import numpy as np
import pytest
import tensorflow as tf

from variable_update import packing
from variable_update.all_reduce import ALGORITHMS
from variable_update.exchange import make_exchange, narrowed
from variable_update.packing import Packing, make_packs
from variable_update.rows import Embedding

SHAPES = [(3, 2), (), (4,), (0,), (2, 1, 2)]


def test_unpacked_gradients_travel_alone_last_first():
    assert make_packs([8, 8, 8], Packing()) == [(2,), (1,), (0,)]


def test_packs_are_filled_in_the_order_in_which_gradients_are_ready():
    ready = (2, 0, 3, 1)
    assert make_packs([8] * 4, Packing(order=ready)) == [(2,), (0,), (3,), (1,)]
    assert make_packs([8] * 4, Packing(num_packs=2, order=ready)) == [(2, 0), (3, 1)]


def test_packs_are_of_like_size_and_filled_from_the_end():
    assert make_packs([10] * 8, Packing(num_packs=4)) == [(7, 6), (5, 4), (3, 2), (1, 0)]
    assert make_packs([100, 1, 1, 1], Packing(num_packs=2)) == [(3, 2, 1), (0,)]
    assert make_packs([5], Packing(num_packs=4)) == [(0,)]
    assert make_packs([5, 6], Packing(num_packs=10**12)) == [(1,), (0,)]  # and takes no memory
    assert make_packs([0, 0], Packing(num_packs=4)) == [(1, 0)]


def test_small_gradients_travel_in_groups():
    sizes = [4, 400, 4, 4, 4, 400]
    assert make_packs(sizes, Packing(small_bytes=4)) == [(5,), (4, 3, 2, 0), (1,)]
    assert make_packs(sizes, Packing(small_bytes=4, small_group=2)) == [(5,), (4, 3), (2, 0), (1,)]


@pytest.mark.parametrize("how", [Packing(), Packing(2), Packing(9), Packing(0, 16, 3)])
def test_every_gradient_travels_once(how):
    packs = make_packs([24, 4, 16, 0, 16], how)
    assert sorted(number for pack in packs for number in pack) == [0, 1, 2, 3, 4]


def test_gradients_come_out_as_they_went_in():
    gradients = [tf.random.normal(shape) for shape in SHAPES]
    packed = packing.put_together(gradients, (4, 1, 0, 3))
    found = packing.take_apart(packed, gradients, (4, 1, 0, 3))
    assert set(found) == {4, 1, 0, 3}
    for number, gradient in found.items():
        np.testing.assert_array_equal(gradient, gradients[number])


@pytest.mark.parametrize("text", ["", "xring#2", "pscpu:16:rechd", "hierarchical_copy", "psgpu#3"])
@pytest.mark.parametrize("how", [Packing(), Packing(2), Packing(0, 16, 3)])
@pytest.mark.parametrize("num_devices", [1, 2, 3, 5])
def test_an_exchange_gives_every_device_the_sums(text, how, num_devices):
    rng = np.random.default_rng(num_devices)
    devices = [f"CPU:{index}" for index in range(num_devices)]
    arrays = [[rng.integers(-9, 9, s).astype(np.float32) for s in SHAPES] for _ in devices]
    exchange = make_exchange(text, how, gpu=False)
    found = exchange([[tf.constant(a) for a in mine] for mine in arrays], devices)
    assert len(found) == num_devices
    for mine in found:
        for value, parts in zip(mine, zip(*arrays)):
            np.testing.assert_array_equal(value, np.sum(parts, axis=0))


def test_nccl_is_replaced_where_there_is_no_gpu_and_the_plan_says_so():
    assert make_exchange("nccl", gpu=True).describe() == "all-reduce nccl"
    assert make_exchange("", gpu=False).describe() == "all-reduce pscpu"
    assert make_exchange("nccl", gpu=False).describe() == "all-reduce pscpu (nccl needs GPUs)"
    mixed = make_exchange("xring:1k:nccl", Packing(4), gpu=False)
    text = "all-reduce xring:1024:pscpu (nccl needs GPUs), gradients in 3 packs"
    assert mixed.describe([8, 8, 8]) == text


def reduced_by(monkeypatch, exchange, sizes):
    """Which algorithm got how many numbers of which type, in how many parts."""
    calls = []

    def spy(name):
        def algorithm(tensors, devices, num_parts):
            calls.append((name, tensors[0].shape[0], tensors[0].dtype, num_parts))
            return [tf.add_n(tensors)] * len(devices)

        return algorithm

    for name in list(ALGORITHMS):
        monkeypatch.setitem(ALGORITHMS, name, spy(name))
    exchange([[tf.zeros([size]) for size in sizes]] * 2, ["CPU:0", "CPU:1"])
    return calls


def test_each_size_takes_its_way_in_its_parts(monkeypatch):
    exchange = make_exchange("pscpu:16:xring#2", gpu=False)
    assert reduced_by(monkeypatch, exchange, [5, 4]) == [
        ("pscpu", 4, tf.float32, 1),
        ("xring", 5, tf.float32, 2),
    ]


def test_packs_travel_as_one_and_in_16_bits_where_asked(monkeypatch):
    exchange = make_exchange("rechd", Packing(1), gpu=False, compact=True)
    assert reduced_by(monkeypatch, exchange, [5, 4]) == [("rechd", 9, tf.bfloat16, 1)]
    devices = ["CPU:0", "CPU:1"]
    whole = make_exchange("rechd", Packing(1), gpu=False)
    assert 2 * exchange.num_bytes([20, 16], devices) == whole.num_bytes([20, 16], devices)


def test_rows_take_no_place_in_a_group():
    words = Embedding(size=1, depth=1, most_rows=1)
    exchange = make_exchange("", Packing(small_bytes=4, small_group=2), gpu=False)
    assert exchange.packs([4, 0, 4, 0, 4, 4], {1: words, 3: words}) == [(5, 4), (2, 0)]
    assert exchange.packs([0, 0], {0: words, 1: words}) == []


def test_a_tensor_is_cut_into_no_more_parts_than_it_has_numbers(monkeypatch):
    exchange = make_exchange("psgpu#8", gpu=False)
    assert [call[3] for call in reduced_by(monkeypatch, exchange, [0, 3, 9])] == [8, 3, 1]


def test_what_nccl_carries_in_16_bits_can_be_added_up_and_hides_no_divergence():
    value = tf.constant([1e6, -1e6, 2.0, float("inf"), float("nan")])
    small = narrowed(value, "nccl", 8)
    assert small.dtype == tf.float16
    total = tf.add_n([small] * 8).numpy()
    assert np.isfinite(total[:3]).all()
    assert total[2] == 16.0
    assert np.isinf(total[3])
    assert np.isnan(total[4])
    assert narrowed(value, "pscpu", 8).dtype == tf.bfloat16
