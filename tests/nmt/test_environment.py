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


def test_the_allocator_may_use_all_memory():
    gib = environment.memory_mib() / 1024
    assert 0.1 < gib < 1e5
    assert os.environ["TF_CPU_BFC_MEM_LIMIT_IN_MB"] == str(environment.memory_mib())


def test_the_plan_names_the_allocator(monkeypatch):
    assert "TensorFlow's allocator" in environment.describe()
    monkeypatch.setenv("TF_CPU_ALLOCATOR_USE_BFC", "false")
    assert "the C library's allocator" in environment.describe()


def test_small_buffers_are_cut_by_tensorflows_allocator():
    """It counts them, which the C library's does not."""
    program = (
        "from nmt import environment\n"
        "environment.prepare(0)\n"
        "import tensorflow as tf\n"
        "kept = tf.random.uniform([999])\n"
        "print(tf.config.experimental.get_memory_info('CPU:0')['current'])\n"
    )

    def counted(way):
        settings = {**os.environ, "TF_CPU_ALLOCATOR_USE_BFC": way}
        return int(subprocess.check_output([sys.executable, "-c", program], env=settings))

    assert counted("1") >= 999 * 4
    assert counted("0") == 0


def test_help_and_mistakes_do_not_import_tensorflow():
    for argument in ("--help", "--batch_size=0"):
        program = (
            f"import sys, train; train.main(['{argument}']); sys.exit('tensorflow' in sys.modules)"
        )
        run = subprocess.run([sys.executable, "-c", program], capture_output=True)
        assert run.returncode == 0
