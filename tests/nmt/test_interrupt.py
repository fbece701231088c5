import signal
import subprocess
import sys
import time

import pytest

from nmt.interrupt import INTERRUPTED, SIGNALS, signals_noted


@pytest.mark.parametrize("first", SIGNALS)
def test_the_first_signal_is_noted(first):
    with signals_noted() as interrupt:
        assert not interrupt.requested
        signal.raise_signal(first)
        assert interrupt.requested
        signal.raise_signal(signal.SIGTERM)  # who sends it again does not make it worse


def test_a_second_ctrl_c_ends_the_process_whatever_it_is_at():
    with signals_noted():
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)  # the first of its kind
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL


WAITS_IN_NATIVE_CODE = """
import ctypes, signal
from nmt.interrupt import signals_noted
libc = ctypes.CDLL(None)
with signals_noted():
    signal.siginterrupt(signal.SIGINT, False)
    print("waiting", flush=True)
    libc.read(0, ctypes.create_string_buffer(1), 1)  # starts over after a signal: no handler runs
print("read", flush=True)
"""


def test_a_second_ctrl_c_ends_a_process_that_waits_in_native_code():
    command = [sys.executable, "-c", WAITS_IN_NATIVE_CODE]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"waiting\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        # Where the machine was so busy that it did not wait yet, the signal itself ends it.
        assert process.wait(20) in (INTERRUPTED, -signal.SIGINT)


def test_what_signals_did_before_comes_back():
    before = [signal.getsignal(number) for number in SIGNALS]
    with signals_noted():
        assert [signal.getsignal(number) for number in SIGNALS] != before
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_work_is_broken_off_at_its_next_safe_point():
    done = []

    def work(safe_point):
        done.append("begun")
        signal.raise_signal(signal.SIGTERM)
        done.append("went on")
        safe_point()
        done.append("finished")

    with signals_noted() as interrupt:
        assert interrupt.unless(lambda safe_point: safe_point() or 1, 2) == 1
        assert interrupt.unless(work, "nothing") == "nothing"
        assert interrupt.requested
        assert interrupt.unless(work, "not begun") == "not begun"
    assert done == ["begun", "went on"]
