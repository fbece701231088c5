import gc
import json
import math

import pytest
from matplotlib.figure import Figure

from nmt.judging.history import History, Score, from_json, to_json
from nmt.reporting import curve


def score(step, bleu, loss=2.0):
    return Score(step, 2.5, loss, 7.0, bleu, 30.0)


def test_the_best_has_the_highest_bleu_then_the_lowest_loss_then_came_first():
    history = History()
    assert history.best is None
    assert history.add(score(1, 10.0))
    assert not history.add(score(2, 10.0))
    assert history.best.step == 1
    assert history.add(score(3, 10.0, loss=1.0))
    assert history.add(score(4, 11.0))
    assert not history.add(score(5, 9.0, loss=0.1))
    assert history.best.step == 4
    assert history.looks_since_best == 1


@pytest.mark.parametrize("bad", [float("inf"), float("nan")])
def test_a_look_whose_loss_is_no_number_is_not_the_best(bad):
    history = History([score(1, 99.0, loss=bad)])
    assert history.best.step == 1  # there is no other
    assert history.add(score(2, 1.0))
    assert not history.add(score(3, 50.0, loss=bad))


def test_patience_ends_after_so_many_looks_without_a_better_one():
    history = History([score(1, 5.0), score(2, 6.0), score(3, 5.0)])
    assert not history.has_stalled(2)
    history.add(score(4, 6.0))
    assert history.has_stalled(2)
    assert not history.has_stalled(0)


def test_it_comes_back_as_it_was_saved():
    signed = score(2, 6.125, loss=0.1)._replace(signature="one", chrf_signature="two")
    history = History([score(1, 5.0), signed])
    data = to_json({"step": 2}, history)
    assert json.loads(data)["step"] == 2
    assert from_json(data) == history


def test_the_best_of_some_leaves_the_others_out():
    history = History([score(1, 5.0), score(2, 9.0), score(3, 6.0)])
    assert history.best_of(lambda one: one.step != 2).step == 3
    assert history.best_of(lambda one: False) is None


def test_looks_saved_without_signatures_are_read_too():
    data = json.loads(to_json({}, History([score(1, 5.0)])))
    for name in ("signature", "chrf_signature"):
        del data["evaluations"][0][name]
    assert from_json(json.dumps(data).encode()) == History([score(1, 5.0)])


def test_what_is_no_number_is_none_in_json_and_comes_back_as_one():
    data = to_json({}, History([score(1, 5.0, loss=float("inf"))]))
    json.loads(data, parse_constant=pytest.fail)
    assert math.isnan(from_json(data).best.loss)


def test_looks_at_other_pairs_do_not_count():
    one, other, unnamed = (score(1, 5.0)._replace(pairs=name) for name in ("a", "b", ""))
    assert History([one, other, unnamed]).of("a").scores == [one, unnamed]


@pytest.mark.parametrize("text", ["{}", '{"evaluations": [{}]}', '{"evaluations": [{"step": ""}]}'])
def test_what_is_no_history_is_refused(text):
    with pytest.raises((KeyError, ValueError)):
        from_json(text.encode())


def test_a_picture_is_gone_from_memory_once_it_is_drawn(tmp_path):
    """Left to the garbage collector, tens of megabytes waited for it."""
    gc.collect()
    gc.disable()
    try:
        curve.draw(History([score(1, 5.0), score(2, 6.0)]), tmp_path / "curve.png")
        left = [one for one in gc.get_objects() if isinstance(one, Figure)]
    finally:
        gc.enable()
    assert (tmp_path / "curve.png").exists()
    assert not left
