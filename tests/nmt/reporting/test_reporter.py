import math

import pytest

from nmt.errors import Diverged
from nmt.measuring.throughput import Meter, Window
from nmt.occasions import Schedule
from nmt.reporting.reporter import Reporter, progress_line, speed_table
from tests import small


def test_the_table_is_the_seeds_table():
    table = speed_table("GPU number", 20, [(2, 360, "31.380", "92236.723", "1.84")])
    assert table.splitlines() == [
        "|GPU number|Batch size|Total time to process 20 batches (s)|"
        "Processing speed (words/s)|Speedup ratio|",
        "|:--|:--|:--|:--|:--|",
        "|2|360|31.380|92236.723|1.84|",
    ]


def test_a_progress_line_says_speed_loss_rate_and_time_left():
    line = progress_line(10, 40, Window(8410.4, 2.5, 4.812, 1.0, []), 0.001)
    for part in ("10/40", "loss 4.812", "lr 0.001", "8,410 words/s", "2.500 s/batch", "left 1:15"):
        assert part in line


def test_a_log_gets_plain_lines(capsys):
    with Reporter(Meter(1), 2, lambda: 0.5, bar=False) as out:
        for number in (1, 2):
            out.count(small.step_result(6.0, 3.0, 10, 10))
            out.report(number)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[0].endswith("(warm-up)")
    assert not lines[1].endswith("(warm-up)")


def test_a_terminal_gets_a_bar(capsys):
    with Reporter(Meter(0), 2, lambda: 0.5, bar=True) as out:
        out.count(small.step_result(6.0, 3.0, 10, 10))
        out.bar.refresh()
    assert "1/2" in capsys.readouterr().err


def test_something_is_said_after_the_first_the_warm_up_and_the_last():
    schedule = Schedule(num_warmup=7, num_batches=25, log_every=10)
    assert [b for b in range(1, 26) if schedule.log_is_due(b)] == [1, 7, 10, 20, 25]


def test_the_first_step_without_a_number_is_named():
    meter = Meter(0)
    with Reporter(meter, 9, lambda: 0.5, first_step=100, bar=False) as out:
        for loss, norm in ((6.0, 1.5), (6.0, float("inf")), (float("nan"), float("nan"))):
            out.count(small.step_result(loss, 3.0, 10, 10, norm))
        said = r"loss became 2 at step 102, with a gradient norm of inf; give .*--skip_nan_steps"
        with pytest.raises(Diverged, match=said):
            out.report(3)


def test_where_all_steps_were_left_out_there_is_no_loss(capsys):
    with Reporter(Meter(0), 9, lambda: 0.5, skips=True, bar=False) as out:
        out.count(small.step_result(float("nan"), 3.0, 10, 10, float("nan"), 1))
        window = out.report(1)
    assert math.isnan(window.loss)
    assert math.isnan(window.gradient_norm)
    assert "loss nan" in capsys.readouterr().out


def test_steps_left_out_are_counted_and_not_averaged(capsys):
    with Reporter(Meter(0), 9, lambda: 0.5, skips=True, bar=False) as out:
        out.count(small.step_result(6.0, 3.0, 10, 10, 1.5))
        out.count(small.step_result(float("nan"), 3.0, 10, 10, float("nan"), 1))
        window = out.report(2)
    assert (window.loss, window.gradient_norm) == (2.0, 1.5)
    assert window.steps[1].num_skipped == 1
    assert "loss 2.000" in (line := capsys.readouterr().out)
    assert line.endswith("(1 skipped)\n")


def counted(losses):
    """What a run that leaves such steps out has come to, looked at every ten steps."""
    with Reporter(Meter(0), 999, lambda: 0.5, skips=True, bar=False) as out:
        for number, loss in enumerate(losses, 1):
            out.count(small.step_result(loss, 3.0, 10, 10))
            if number % 10 == 0:
                out.report(number)
    return len(out.row)


def test_a_hundred_steps_in_a_row_that_are_left_out_end_the_run():
    bad = float("nan")
    assert counted([6.0, *[bad] * 99, 6.0, *[bad] * 99]) == 99
    said = r"became nan at step 3 and at the 99 steps after it, .*or --max_gradient_norm$"
    with pytest.raises(Diverged, match=said) as caught:
        counted([6.0, 6.0, *[bad] * 118])
    assert (caught.value.step, caught.value.loss_is_number) == (3, False)
