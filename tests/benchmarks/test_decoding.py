import pytest

from benchmarks import decoding
from nmt.search.beam import Search
from tests.nmt.search.test_translation import TEXT, make


@pytest.mark.parametrize("width", [1, 3])
def test_all_ways_translate_alike(width):
    ways = decoding.ways_of(make(Search(width, max_length=6)), batch_size=4)
    by_word, one_by_one, together = ways.values()
    assert (by_word.batch_size, one_by_one.batch_size, together.batch_size) == (1, 1, 4)
    assert by_word(TEXT) == one_by_one(TEXT) == together(TEXT)


def test_batches_are_compared_with_every_way_round_by_round():
    lines = decoding.summary({"slow": [2.0, 4.0, 1.0], "fast": [20.0, 20.0, 30.0]}).splitlines()
    assert lines[2:] == ["|slow|2.0|1.0 to 4.0|10.0|", "|fast|20.0|20.0 to 30.0|1.0|"]


def test_every_way_is_measured_in_every_round():
    ways = {name: list for name in ("a", "b")}
    speeds = decoding.measure(ways, ["x", "y"], rounds=3)
    assert {name: len(found) for name, found in speeds.items()} == {"a": 3, "b": 3}
    assert all(speed > 0 for found in speeds.values() for speed in found)


def test_a_mistake_is_one_line_and_exit_code_2(tmp_path, capsys):
    (tmp_path / "test.en").write_text("a b\n")
    model, src = f"--model={tmp_path}", f"--src={tmp_path}/test.en"
    mistakes = {
        "--src=missing is no file": [model, "--src=missing"],
        "--model=missing is no directory": ["--model=missing", src],
        "--rounds=0 cannot be used": [model, src, "--rounds=0"],
        "has no checkpoint": [model, src],  # which is found while loading
    }
    for part, argv in mistakes.items():
        assert decoding.main(argv) == 2
        said = capsys.readouterr().err
        assert said.startswith("benchmarks.decoding: ")
        assert part in said
        assert said.count("\n") == 1
