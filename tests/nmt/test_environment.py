import os
import subprocess
import sys

import pytest

from nmt import environment


def test_native_messages_are_held_back(capfd):
    with environment.quiet_stderr():
        os.write(2, b"noise")
    os.write(2, b"news")
    assert capfd.readouterr().err == "news"


def test_a_failure_lets_the_messages_out(capfd):
    def fail():
        with environment.quiet_stderr():
            os.write(2, b"the reason")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert capfd.readouterr().err == "the reason"


def test_what_the_user_has_set_stays(monkeypatch):
    monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", "0")
    environment.prepare(verbosity=0)
    assert os.environ["TF_ENABLE_ONEDNN_OPTS"] == "0"
    assert "oneDNN off" in environment.describe()


def test_the_plan_names_the_users_allocator_settings(monkeypatch):
    assert "MALLOC" not in environment.allocator()
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "1000")
    assert "MALLOC_TRIM_THRESHOLD_ as you set it" in environment.allocator()


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator")
def test_freed_memory_is_kept():
    """After a large buffer is freed, the next one faults in no new pages."""
    program = (
        "import ctypes, resource, sys\n"
        "from nmt import environment\n"
        "if sys.argv[1] == 'keep': assert environment.keep_memory()\n"
        "libc = ctypes.CDLL(None); libc.malloc.restype = ctypes.c_void_p\n"
        "size = 64 << 20\n"
        "def use():\n"
        "    p = ctypes.c_void_p(libc.malloc(ctypes.c_size_t(size)))\n"
        "    ctypes.memset(p, 1, size); libc.free(p)\n"
        "use(); before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "use(); print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)\n"
    )
    run = [sys.executable, "-c", program]
    faults = [int(subprocess.check_output([*run, way])) for way in ("keep", "leave")]
    assert faults[0] < 0.1 * faults[1]


def test_help_and_mistakes_do_not_import_tensorflow():
    for argument in ("--help", "--batch_size=0"):
        program = (
            f"import sys, train; train.main(['{argument}']); sys.exit('tensorflow' in sys.modules)"
        )
        run = subprocess.run([sys.executable, "-c", program], capture_output=True)
        assert run.returncode == 0
