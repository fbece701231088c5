import json

import pytest

from nmt import results

RECORD = {
    "device": "CPU x 2",
    "num_replicas": 2,
    "batch_size_per_replica": 64,
    "timed_batches": 20,
    "timed_seconds": 31.38,
    "words_per_second": 92236.7234,
}


def test_the_first_heading_tells_gpus_from_replicas():
    assert results.table(RECORD).startswith("|Replicas|")
    assert results.table({**RECORD, "device": "GPU V100"}).startswith("|GPU number|")
    assert results.table(RECORD).endswith("\n|2|64|31.380|92236.723||")


def test_a_run_within_the_warm_up_says_that_nothing_was_timed():
    assert "no batch was timed" in results.table({**RECORD, "timed_batches": 0})


def test_records_are_lines_of_strict_json(tmp_path):
    path = tmp_path / "results.json"
    for number in (1, 2):
        results.append({"number": number}, path)
    assert [json.loads(line)["number"] for line in path.read_text().splitlines()] == [1, 2]
    with pytest.raises(ValueError, match="JSON"):
        results.append({"loss": float("nan")}, path)
