import signal

import pytest

from nmt.interrupt import ctrl_c_noted


def test_the_first_ctrl_c_is_noted_and_the_second_stops():
    with ctrl_c_noted() as interrupt:
        assert not interrupt.requested
        signal.raise_signal(signal.SIGINT)
        assert interrupt.requested
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_what_ctrl_c_did_before_comes_back():
    before = signal.getsignal(signal.SIGINT)
    with ctrl_c_noted():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before
