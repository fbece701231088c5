import gzip
import json

from nmt import tracing
from tests import small

BATCH = small.batch([5, 1, 3, 2], [2, 6, 4, 1])


def operations(tmp_path, encoder_type):
    trainer = small.trainer(encoder_type=encoder_type)
    space = tracing.record(trainer, [(BATCH,)] * 3, tmp_path / encoder_type, 2)
    assert int(trainer.step) == 3
    return space, tracing.count_operations(space, 2)


def test_operations_are_counted_and_dynamic_rnn_has_more(tmp_path):
    space, fast = operations(tmp_path, "cudnn_lstm")
    _, slow = operations(tmp_path, "dynamic_rnn")
    num_variables = len(small.model().flat_specs)
    assert fast["ResourceApplyGradientDescent"] == num_variables
    assert slow["ResourceApplyGradientDescent"] == num_variables
    assert sum(slow.values()) > 1.2 * sum(fast.values())
    path = tmp_path / "trace.json.gz"
    tracing.write_for_chrome(space, path)
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    updates = [e for e in events if e["name"].endswith(":ResourceApplyGradientDescent")]
    assert len(updates) == 2 * num_variables
    assert all(event["ph"] == "X" and event["dur"] > 0 for event in updates)
