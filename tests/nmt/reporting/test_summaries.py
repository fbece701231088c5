import pytest
import tensorflow as tf

from input_pipeline.corpus import Pair
from nmt.judging.evaluation import Evaluation
from nmt.judging.history import Score
from nmt.measuring.throughput import Step, Window
from nmt.reporting.summaries import Summaries


def read(directory):
    """Everything in the event files: plugin, step and value by tag."""
    found = {}
    for path in sorted(directory.glob("tensorboard/events*")):
        for record in tf.data.TFRecordDataset(str(path)):
            event = tf.compat.v1.Event.FromString(record.numpy())
            for value in event.summary.value:
                plugin = value.metadata.plugin_data.plugin_name
                found[value.tag] = (plugin, event.step, tf.make_ndarray(value.tensor))
    return found


def test_numbers_and_texts_are_where_tensorboard_looks_for_them(tmp_path):
    summaries = Summaries(tmp_path)
    steps = [Step(2.5, 10, 1.0, 0), Step(float("nan"), 10, float("nan"), 1)]
    summaries.progress(20, Window(1000.0, 0.1, 2.5, 1.5, steps), 0.001)
    evaluation = Evaluation(
        [Pair("a | b", "c")], ["<b>d</b>"], "greedy", 1.0, "one|a", 2.0, "two|b"
    )
    summaries.look(Score(30, 2.0, 3.0, 20.0, 12.5, 40.0), evaluation)
    summaries.phases(30, {"forward": 0.25})
    summaries.close()
    found = read(tmp_path)
    assert {tag: found[tag][2] for tag in found if tag != "dev/translations"} == {
        "train/loss": 2.5,
        "train/words_per_second": 1000.0,
        "train/learning_rate": pytest.approx(0.001),
        "train/gradient_norm": 1.5,
        "train/skipped_steps": 1.0,
        "dev/loss": 3.0,
        "dev/perplexity": 20.0,
        "dev/bleu": 12.5,
        "dev/chrf": 40.0,
        "phases/forward": 0.25,
    }
    assert found["train/loss"][:2] == ("scalars", 20)
    plugin, step, (text,) = found["dev/translations"]
    assert (plugin, step) == ("text", 30)
    *_, row, nothing, signatures = text.decode().splitlines()
    assert (row, nothing) == ("|a \\| b|<b>d</b>|c|", "")
    assert signatures == "BLEU is one\\|a, chrF two\\|b"


def test_numbers_leave_nothing_behind_in_tensorflow(tmp_path, monkeypatch):
    """It keeps a tensor of each different number of Python's that it was ever given."""
    given = []
    monkeypatch.setattr(
        tf.summary, "write", lambda *values, step, metadata: given.extend([*values[1:], step])
    )
    constant = tf.constant
    monkeypatch.setattr(tf, "constant", lambda value: given.append(value) or constant(value))
    summaries = Summaries(tmp_path)
    summaries.phases(30, {"forward": 0.25})
    summaries.close()
    assert len(given) == 4
    assert not [value for value in given if isinstance(value, (int, float))]


def test_a_file_that_cannot_be_written_costs_one_line(tmp_path, capsys):
    (tmp_path / "tensorboard").write_text("in the way")
    summaries = Summaries(tmp_path)
    for step in (1, 2):
        summaries.phases(step, {"forward": 0.25})
    summaries.close()
    said = capsys.readouterr().err
    assert said.startswith(f"train.py: {tmp_path}/tensorboard cannot be written: ")
    assert said.endswith("; training goes on without it\n")
    assert said.count("\n") == 1


def test_what_the_file_has_no_number_for_is_left_out(tmp_path):
    summaries = Summaries(tmp_path)
    summaries.phases(1, {"a": 1e300, "b": float("inf"), "c": float("nan"), "d": -1.0})
    summaries.close()
    assert list(read(tmp_path)) == ["phases/d"]
