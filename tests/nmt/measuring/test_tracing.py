import gzip
import json

import pytest
from tensorflow.tsl.profiler.protobuf.xplane_pb2 import XSpace

from nmt.measuring import tracing
from tests import small

BATCH = small.batch([5, 1, 3, 2], [2, 6, 4, 1])
NUM_VARIABLES = len(small.model().flat_specs)


def operations(encoder_type, steps_before):
    trainer = small.trainer(encoder_type=encoder_type)
    for _ in range(steps_before):
        trainer.train_step((BATCH,))
    found = tracing.operations_of_first_step(trainer, [(BATCH,)] * 2)
    assert int(trainer.step) == steps_before + 1
    return found


def test_operations_are_counted_and_dynamic_rnn_has_more():
    fast, slow = (operations(encoder, 0) for encoder in ("cudnn_lstm", "dynamic_rnn"))
    assert fast["ResourceApplyGradientDescent"] == NUM_VARIABLES
    assert slow["ResourceApplyGradientDescent"] == NUM_VARIABLES
    assert sum(slow.values()) > 1.2 * sum(fast.values())


@pytest.mark.parametrize("encoder_type", ["cudnn_lstm", "dynamic_rnn"])
def test_a_long_run_has_as_many_operations_a_step_as_a_short_one(encoder_type):
    few, many = (operations(encoder_type, steps) for steps in (1, 120))
    assert sum(many.values()) == pytest.approx(sum(few.values()), rel=0.02)
    assert many["ResourceApplyGradientDescent"] == NUM_VARIABLES


def test_a_trace_can_be_opened_elsewhere(tmp_path):
    trainer = small.trainer()
    trainer.train_step((BATCH,))
    space = tracing.record(trainer, [(BATCH,)] * 3, tmp_path / "profile", 2)
    assert int(trainer.step) == 3
    path = tmp_path / "trace.json.gz"
    tracing.write_for_chrome(space, path)
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    updates = [e for e in events if e["name"].endswith(":ResourceApplyGradientDescent")]
    assert len(updates) == 2 * NUM_VARIABLES
    assert all(event["ph"] == "X" and event["dur"] > 0 for event in updates)


def test_of_gpus_kernels_are_counted():
    space = XSpace()
    plane = space.planes.add(name="/device:GPU:0")
    plane.event_metadata[1].name = "gemm"
    for name in ("Stream #1(Compute)", "Stream #2(MemcpyD2H)", "Steps"):
        plane.lines.add(name=name).events.add(metadata_id=1)
    assert tracing.count_operations(space) == {"gemm": 2}
