import subprocess

import pytest

from benchmarks import soak
from benchmarks.soak import Sample, quarters

HOUR = 3600.0


def test_quarters_begin_when_everything_has_settled():
    samples = [Sample(100, 1e9), *(Sample(300 + second, second) for second in range(3300))]
    found = quarters(samples, HOUR)
    assert found == (412.0, 2887.0)
    assert found.row("memory", 2.0) == ["memory", "206", "1,444", "7.007"]


def test_a_quarter_without_samples_is_said():
    with pytest.raises(SystemExit, match="soak for longer"):
        quarters([Sample(301, 1.0)], HOUR)


class Ended:
    returncode = 0

    def __init__(self, *_, **__):
        pass

    def wait(self):
        pass


def test_training_that_fails_is_said_on_standard_error(monkeypatch, capsys):
    monkeypatch.setattr(Ended, "returncode", 3)
    monkeypatch.setattr(subprocess, "Popen", Ended)
    monkeypatch.setattr(soak, "watch", lambda process, seconds: ([], []))
    assert soak.main(["--minutes=10"]) == 1
    assert capsys.readouterr() == ("", "benchmarks.soak: training ended with exit code 3\n")


@pytest.mark.parametrize(
    ("memory", "speed", "code"), [(1.01, 0.96, 0), (1.03, 1.0, 1), (1.0, 0.94, 1), (0.5, 2.0, 0)]
)
def test_growth_and_slowing_down_fail(monkeypatch, memory, speed, code):
    def watch(process, seconds):
        return tuple(
            [Sample(400, 1e9), Sample(seconds - 1, 1e9 * ratio)] for ratio in (memory, speed)
        )

    monkeypatch.setattr(subprocess, "Popen", Ended)
    monkeypatch.setattr(soak, "watch", watch)
    assert soak.main(["--minutes=60"]) == code
