import numpy as np
import pytest
import tensorflow as tf

from nmt.config import ENCODER_TYPES, VARIABLE_UPDATES, OptimizerConfig
from nmt.network.weights import backward_order
from nmt.trainer import Trainer, count_words
from tests import small
from variable_update.exchange import make_exchange
from variable_update.late import Late
from variable_update.packing import Packing


@pytest.mark.parametrize("encoder_type", ENCODER_TYPES)
@pytest.mark.parametrize("num_replicas", [1, 3])
def test_lengths_and_replicas_do_not_retrace(encoder_type, num_replicas):
    trainer = small.trainer("replicated", num_replicas, encoder_type=encoder_type)
    for rows, length in ((2, 3), (2, 9), (5, 1)):
        trainer.train_step((small.batch([length] * rows, [length] * rows),) * num_replicas)
    assert trainer.train_step.experimental_get_tracing_count() == 1
    assert trainer.replica_step.experimental_get_tracing_count() == 1


def test_a_step_counts_real_words_only():
    trainer = small.trainer()
    result = trainer.train_step((small.batch([5, 1, 3], [2, 6, 0], extra_columns=4),))
    assert int(result.replicas.num_tokens) == 8
    assert int(result.replicas.num_words) == 5 + 1 + 8


def test_the_loss_falls():
    adam = OptimizerConfig(optimizer="adam", learning_rate=0.02)
    trainer = small.trainer(optimizer=adam, encoder_type="cudnn_lstm")
    batch = (small.batch([5, 1, 3], [2, 6, 4]),)
    losses = [float(trainer.train_step(batch).replicas.loss_sum) for _ in range(100)]
    assert losses[-1] < 0.2 * losses[0]


def test_each_replica_drops_other_values():
    trainer = small.trainer("independent", 2, dropout=0.5)
    trainer.train_step((small.batch([5, 1, 3], [2, 6, 4]),) * 2)
    pairs = zip(small.values(trainer, 0), small.values(trainer, 1))
    assert any(np.any(one != other) for one, other in pairs)


def test_each_step_drops_other_values():
    still = OptimizerConfig(optimizer="sgd", learning_rate=1e-30)
    trainer = small.trainer(dropout=0.5, optimizer=still)
    batch = (small.batch([5, 1, 3], [2, 6, 4]),)
    losses = {float(trainer.train_step(batch).replicas.loss_sum) for _ in range(3)}
    assert len(losses) == 3


def calls(graph, name):
    """Operations that call a function whose name has `name` in it."""
    found = [op for op in graph.get_operations() if op.type.endswith("PartitionedCall")]
    return [op for op in found if name in op.get_attr("f").name]


def places(operations):
    specs = [tf.DeviceSpec.from_string(op.device) for op in operations]
    return [(spec.device_type, spec.device_index) for spec in specs]


@pytest.mark.parametrize("strategy", ["replicated", "independent"])
def test_the_graph_places_each_replica_and_its_update_on_its_device(strategy):
    trainer = small.trainer(strategy, 3)
    graph = trainer.train_step.get_concrete_function().graph
    everywhere = [("CPU", 0), ("CPU", 1), ("CPU", 2)]
    assert places(calls(graph, "replica_step")) == everywhere
    assert places(calls(graph, "update_handles")) == everywhere


def test_all_replicas_call_one_function():
    trainer = small.trainer("replicated", 3)
    graph = trainer.train_step.get_concrete_function().graph
    for name in ("replica_step", "update_handles"):
        assert len({op.get_attr("f").name for op in calls(graph, name)}) == 1
    assert trainer.replica_step.get_concrete_function().function_def.attr["_noinline"].b


def test_on_gpus_gradients_need_not_wait_for_the_end_of_the_backward_pass():
    """A call that is not inlined would hand them out all at once."""
    strategy = small.trainer("replicated", 2).strategy
    strategy.devices = ("GPU:0", "GPU:1")
    trainer = Trainer(small.model(), strategy, seed=1)
    assert not trainer.replica_step.get_concrete_function().function_def.attr["_noinline"].b


def test_on_a_gpu_cudnn_replaces_every_loop():
    """Traced with the GPU implementation; the graph is never run."""
    trainer = small.trainer(encoder_type="cudnn_lstm", kind="GPU")
    kinds = [op.type for op in trainer.replica_step.get_concrete_function().graph.get_operations()]
    assert kinds.count("CudnnRNNV3") == kinds.count("CudnnRNNBackpropV3") == 2
    assert "While" not in kinds
    assert "StatelessWhile" not in kinds


@pytest.mark.parametrize("strategy", VARIABLE_UPDATES)
def test_each_replica_is_called_on_its_gpu(strategy):
    """Traced with names of GPUs that are not there; the graph is never run."""
    trainer = small.trainer(strategy, 2, encoder_type="cudnn_lstm", kind="GPU")
    trainer.strategy.devices = ("GPU:0", "GPU:1")
    graph = trainer.train_step.get_concrete_function().graph
    assert places(calls(graph, "replica_step")) == [("GPU", 0), ("GPU", 1)]


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("packing", [Packing(), Packing(num_packs=2)])
def test_nccl_takes_gradients_from_gpu_to_gpu(packing, compact):
    """Traced with names of GPUs that are not there: nothing between the passes is on the host."""
    exchange = make_exchange("nccl", packing, gpu=True, compact=compact)
    trainer = small.trainer(
        "replicated", 2, encoder_type="cudnn_lstm", kind="GPU", exchange=exchange
    )
    trainer.strategy.devices = ("GPU:0", "GPU:1")
    graph = trainer.train_step.get_concrete_function().graph
    updates = calls(graph, "update_handles")
    assert places(updates) == [("GPU", 0), ("GPU", 1)]
    for gpu, update in enumerate(updates):
        gradients = [value for value in update.inputs if value.dtype == tf.float32][:-1]
        assert len(gradients) == len(trainer.model.flat_specs)
        for gradient in gradients:
            ways = list(way_back(gradient.op, "replica_step"))
            assert {place for place, _ in ways} == {("GPU", gpu)}
            assert "NcclAllReduce" in {kind for _, kind in ways}


def test_rows_go_from_gpu_to_gpu_and_every_gpu_adds_them_up():
    """Traced with names of GPUs that are not there."""
    exchange = make_exchange("nccl", gpu=True)
    trainer = small.trainer(
        "replicated", 2, kind="GPU", encoder_type="cudnn_lstm", exchange=exchange, rows=small.ROWS
    )
    trainer.strategy.devices = ("GPU:0", "GPU:1")
    graph = trainer.train_step.get_concrete_function().graph
    added = [op for op in graph.get_operations() if op.type == "TensorScatterAdd"]
    assert sorted(places(added)) == sorted(2 * len(small.ROWS) * [("GPU", 0), ("GPU", 1)])
    for gpu, update in enumerate(calls(graph, "update_handles")):
        dense = [value for value in update.inputs if value.dtype == tf.float32][: len(small.ROWS)]
        for gradient in dense:
            ways = set(way_back(gradient.op, "replica_step"))
            assert (("GPU", gpu), "TensorScatterAdd") in ways
            assert {kind for (kind, _), _ in ways} == {"GPU"}


def test_late_gradients_wait_and_are_read_on_their_gpu():
    """By itself TensorFlow reads a variable on the first device, wherever it is."""
    held = ["CPU:2", "CPU:3"]
    late = Late(held, [tf.Variable(1.0)])
    graph = tf.function(late.read, autograph=False).get_concrete_function().graph
    reads = [op for op in graph.get_operations() if op.type == "ReadVariableOp"]
    copies = [user for op in reads for user in op.outputs[0].consumers()]
    assert len(copies) == 2 * 3
    assert sorted(set(places(copies))) == [("CPU", 2), ("CPU", 3)]


@pytest.mark.parametrize("encoder_type", ENCODER_TYPES)
def test_a_direction_that_nobody_reads_learns_nothing(encoder_type):
    """A decoder of one layer begins with the state of the last direction alone."""
    trainer = small.trainer(direction="bi", num_decoder_layers=1, encoder_type=encoder_type)
    before = small.values(trainer)
    trainer.train_step((small.batch([5, 1, 3], [2, 6, 4]),))
    names = [spec.name for spec in trainer.model.flat_specs]
    same = [n for n, one, two in zip(names, before, small.values(trainer)) if (one == two).all()]
    unread = {spec.name for spec in trainer.model.flat_specs if "/layer_0/forward/" in spec.name}
    assert set(same) == {name for name in unread if name.startswith("encoder")}


def way_back(operation, end):
    """Place and type of all operations from here back to calls of a function."""
    if operation in calls(operation.graph, end):
        return
    if operation.type != "Const":
        yield places([operation])[0], operation.type
    for value in operation.inputs:
        yield from way_back(value.op, end)


def test_words_of_spelled_sentences_are_counted_by_their_spaces():
    batch = small.batch([5, 4, 3], [6, 3, 0])
    space = 7
    source = tf.constant([[7, 3, 4, 7, 3], [7, 3, 3, 3, 7], [7, 7, 7, 7, 7]])
    target = tf.constant([[7, 3, 7, 3, 3, 2], [7, 3, 2, 7, 7, 7], [7] * 6])
    batch = batch._replace(source=source, target=target)
    count = [int(number) for number in count_words(batch, (space, space))]
    # Sources have 2 + 1 words, targets 2 + 1 and an end each; the third row only fills up.
    assert count == [9, 3 + 5, 9 + 9]
    assert [int(number) for number in count_words(batch, (None, None))] == [9, 18, 18]
    assert [int(number) for number in count_words(batch, (None, space))] == [9, 9 + 5, 18]


def depths(graph):
    """How many operations lie between the inputs and each output of a graph."""
    found = {}
    for operation in graph.get_operations():  # in an order in which inputs come first
        found[operation.name] = 1 + max((found[i.op.name] for i in operation.inputs), default=0)
    return [found[tensor.op.name] for tensor in graph.structured_outputs[0]]


def test_the_backward_order_is_that_of_the_graph():
    trainer = small.trainer(kind="GPU", encoder_type="cudnn_lstm", num_decoder_layers=1)
    order = backward_order(trainer.model.specs)
    depth = depths(trainer.replica_step.get_concrete_function().graph)
    names = [spec.name for spec in trainer.model.flat_specs]
    assert names[order[0]] == "projection"
    assert names[order[-1]] == "source_embedding"
    ready = {name: depth[names.index(name)] for name in names}
    encoder = min(value for name, value in ready.items() if name.startswith("encoder"))
    assert ready["projection"] < ready["target_embedding"] < encoder
    assert ready["source_embedding"] >= encoder
    places = [names[number] for number in order]
    assert places.index("target_embedding") < min(
        place for place, name in enumerate(places) if name.startswith("encoder")
    )
