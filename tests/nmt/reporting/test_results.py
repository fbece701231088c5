import json
import resource

import pytest

from nmt.reporting import results

RECORD = {
    "device": "CPU x 2",
    "num_replicas": 2,
    "batch_size_per_replica": 64,
    "timed_batches": 20,
    "timed_seconds": 31.38,
    "losses": [6.5] * 30,
    "words_per_second": 92236.7234,
    "model_flops_per_second": 120e9,
    "matmul_flops_per_second": 160e9,
}


def test_the_first_heading_tells_gpus_from_replicas():
    assert results.table(RECORD).startswith("|Replicas|")
    assert results.table({**RECORD, "device": "GPU V100"}).startswith("|GPU number|")
    assert "\n|2|64|31.380|92236.723||\n" in results.table(RECORD)


def test_the_last_line_tells_how_much_of_the_machine_was_used():
    assert results.table(RECORD).splitlines()[-1] == (
        "arithmetic of real words: 120.0 GFLOP/s, 0.75 of the 160.0 that large matmuls reach here"
    )


def test_a_run_within_the_warm_up_says_that_nothing_was_timed():
    assert "no batch was timed" in results.table({**RECORD, "timed_batches": 0})
    nothing = results.table({**RECORD, "timed_batches": 0, "losses": []})
    assert nothing == "no batch was trained: there was nothing left"


def test_records_are_lines_of_strict_json(tmp_path):
    path = tmp_path / "results.json"
    for number in (1, 2):
        results.append({"number": number}, path)
    assert [json.loads(line)["number"] for line in path.read_text().splitlines()] == [1, 2]
    results.append({"losses": [1.5, float("nan")], "more": {"loss": float("inf")}}, path)
    last = path.read_text().splitlines()[-1]
    assert json.loads(last) == {"losses": [1.5, None], "more": {"loss": None}}


def test_a_line_that_was_broken_off_spoils_no_other(tmp_path):
    path = tmp_path / "results.json"
    path.write_text('{"number": 1}\n{"num')
    results.append({"number": 2}, path)
    assert path.read_text() == '{"number": 1}\n{"num\n{"number": 2}\n'


def test_a_full_disk_leaves_no_half_line(tmp_path):
    path = tmp_path / "results.json"
    results.append({"number": 1}, path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            results.append({"losses": [1.5] * 1000}, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_text() == '{"number": 1}\n'


def test_gpus_tell_the_most_memory_each_has_used(monkeypatch):
    peaks = {"GPU:0": {"peak": 7}, "GPU:1": {"peak": 9}}
    monkeypatch.setattr(results.tf.config.experimental, "get_memory_info", peaks.get)
    assert results.gpu_memory(["GPU:0", "GPU:1"]) == {"peak_gpu_memory_bytes": [7, 9]}
    assert results.gpu_memory(["CPU:0"]) == {}
