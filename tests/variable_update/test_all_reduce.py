import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from variable_update import spec
from variable_update.all_reduce import ALGORITHMS, TRAFFIC, cut, join

ON_HOST = [name for name in ALGORITHMS if name != "nccl"]
DEVICES = [f"CPU:{index}" for index in range(8)]


def reduce(name, arrays, num_parts):
    devices = DEVICES[: len(arrays)]
    tensors = []
    for device, array in zip(devices, arrays):
        with tf.device(device):
            tensors.append(tf.constant(array))
    return ALGORITHMS[name](tensors, devices, num_parts)


def whole_numbers(num_devices, size, seed):
    """Numbers whose sums are exact in any order."""
    rng = np.random.default_rng(seed)
    return rng.integers(-1000, 1000, [num_devices, size]).astype(np.float32)


def test_the_table_and_the_spec_name_the_same_algorithms():
    assert tuple(ALGORITHMS) == spec.NAMES


@pytest.mark.parametrize("name", ON_HOST)
@settings(max_examples=60, deadline=None)
@given(
    num_devices=st.integers(1, 8),
    size=st.integers(0, 40),
    num_parts=st.integers(1, 50),
    seed=st.integers(0, 1000),
)
def test_every_device_gets_the_sum(name, num_devices, size, num_parts, seed):
    arrays = whole_numbers(num_devices, size, seed)
    found = reduce(name, arrays, num_parts)
    assert [value.device[-5:] for value in found] == DEVICES[:num_devices]
    for value in found:
        np.testing.assert_array_equal(value, arrays.sum(0))


@pytest.mark.parametrize("num_devices", range(2, 9))
@pytest.mark.parametrize("name", ON_HOST)
def test_all_devices_get_the_same_bits(name, num_devices):
    arrays = np.random.default_rng(num_devices).normal(size=[num_devices, 1001]).astype(np.float32)
    first, *others = reduce(name, arrays, 3)
    np.testing.assert_allclose(first, arrays.astype(np.float64).sum(0), rtol=1e-5, atol=1e-5)
    for value in others:
        np.testing.assert_array_equal(value, first)


@pytest.mark.parametrize("name", ON_HOST)
def test_one_huge_tensor(name):
    arrays = whole_numbers(3, 3_000_001, 1)
    for value in reduce(name, arrays, 2):
        np.testing.assert_array_equal(value, arrays.sum(0))


@pytest.mark.parametrize("size", [0, 1, 7, 8])
def test_parts_are_nearly_equal_and_join_to_the_whole(size):
    parts = cut(tf.range(size), 3)
    assert len(parts) == 3
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert join(parts).numpy().tolist() == list(range(size))


def traced(function, num_devices):
    """Nodes of a graph with GPUs that are not there, by operation."""
    devices = [f"GPU:{index}" for index in range(num_devices)]

    @tf.function(input_signature=[tf.TensorSpec([5], tf.float32)] * num_devices, autograph=False)
    def graph(*tensors):
        placed = []
        for device, tensor in zip(devices, tensors):
            with tf.device(device):
                placed.append(tensor * 2.0)
        return function(placed, devices, 1)

    nodes = graph.get_concrete_function().graph.as_graph_def().node
    return [node for node in nodes if node.op != "Placeholder"]


def test_nccl_is_one_operation_on_each_gpu_and_nothing_goes_over_the_host():
    nodes = traced(ALGORITHMS["nccl"], 3)
    reduces = [node for node in nodes if node.op == "NcclAllReduce"]
    assert [node.device[-5:] for node in reduces] == ["GPU:0", "GPU:1", "GPU:2"]
    assert len({node.attr["shared_name"].s for node in reduces}) == 1
    assert {node.attr["num_devices"].i for node in reduces} == {3}
    assert all(
        "GPU" in node.device for node in nodes if node.op not in ("Identity", "NoOp", "Const")
    )
    assert not any("CPU" in node.device for node in nodes)


def test_two_nccl_sums_do_not_share_a_name():
    names = {
        node.attr["shared_name"].s
        for _ in range(2)
        for node in traced(ALGORITHMS["nccl"], 2)
        if node.op == "NcclAllReduce"
    }
    assert len(names) == 2


def test_parts_are_summed_on_the_devices_in_turn():
    nodes = traced(lambda tensors, devices, _: ALGORITHMS["psgpu"](tensors, devices, 4), 3)
    sums = [node.device[-5:] for node in nodes if node.op == "AddN"]
    assert sums == ["GPU:0", "GPU:1", "GPU:2", "GPU:0"]


@pytest.mark.parametrize("name", ["xring", "rechd", "psgpu", "hierarchical_copy"])
def test_between_gpus_nothing_is_summed_on_the_host(name):
    adds = [node for node in traced(ALGORITHMS[name], 4) if node.op in ("AddV2", "AddN")]
    assert adds
    assert all("GPU" in node.device for node in adds)


def bytes_between_devices(name, num_devices, num_parts, size):
    """What a graph's edges carry from one device to another, each tensor once for each device."""
    devices = [f"GPU:{index}" for index in range(num_devices)]

    @tf.function(input_signature=[tf.TensorSpec([size], tf.float32)] * num_devices, autograph=False)
    def graph(*tensors):
        placed = []
        for device, tensor in zip(devices, tensors):
            with tf.device(device):
                placed.append(tensor * 2.0)
        return ALGORITHMS[name](placed, devices, num_parts)

    traced_graph = graph.get_concrete_function().graph
    left, seen, sent = [value.op.inputs[0].op for value in traced_graph.outputs], set(), {}
    while left:
        operation = left.pop()
        if operation.name in seen:
            continue
        seen.add(operation.name)
        for value in operation.inputs:
            left.append(value.op)
            far = value.op.device and value.op.device != operation.device
            if far and value.op.type != "Const":
                sent[value.name, operation.device] = value.shape.num_elements() * 4
    return sum(sent.values())


@pytest.mark.parametrize("num_parts", [1, 2])
@pytest.mark.parametrize("num_devices", [2, 3, 5, 8])
@pytest.mark.parametrize("name", ON_HOST)
def test_the_bytes_that_are_reported_are_those_of_the_graph(name, num_devices, num_parts):
    devices = [f"GPU:{index}" for index in range(num_devices)]
    size = 1680  # all parts are equal
    expected = 4 * size * TRAFFIC[name](devices)
    assert bytes_between_devices(name, num_devices, num_parts, size) == expected
