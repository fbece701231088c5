import os
import subprocess
import sys

import pytest

from nmt.machine import environment


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


def test_without_room_for_them_messages_are_not_held_back(capfd, monkeypatch):
    def no_room():
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(environment.tempfile, "TemporaryFile", no_room)
    with environment.quiet_stderr():
        os.write(2, b"noise")
    assert capfd.readouterr().err == "noise"


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
        "from nmt.machine import environment\n"
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


@pytest.fixture
def pages(monkeypatch, tmp_path):
    """A system that gives huge pages as it is told, and the program's way to start over."""
    started = []
    file = tmp_path / "enabled"
    monkeypatch.setattr(environment, "HUGE_PAGES", file)
    monkeypatch.setattr(os, "execv", lambda program, argv: started.append((program, argv)))
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    return file, started


def test_the_program_starts_over_where_huge_pages_must_be_asked_for(pages, monkeypatch):
    file, started = pages
    file.write_text("always [madvise] never\n")
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.check=0")
    assert not environment.has_huge_pages()
    environment.use_huge_pages()
    assert os.environ["GLIBC_TUNABLES"] == "glibc.malloc.check=0:glibc.malloc.hugetlb=1"
    assert started == [(sys.executable, [sys.executable, *sys.orig_argv[1:]])]
    assert environment.has_huge_pages()
    environment.use_huge_pages()
    assert len(started) == 1


def test_the_program_does_not_start_over_in_vain(pages, monkeypatch):
    file, started = pages
    for text in ("[always] madvise never", "always madvise [never]"):
        file.write_text(text)
        environment.use_huge_pages()
    file.unlink()
    environment.use_huge_pages()
    file.write_text("always [madvise] never")
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=0")
    environment.use_huge_pages()
    assert started == []
    assert not environment.has_huge_pages()


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_program_whose_output_is_closed_does_its_work(closed, tmp_path):
    """No checkpoint gets the number of standard output."""
    argv = "--use_synthetic_data --src_max_len=4 --num_units=8 --embedding_dim=8 --batch_size=4"
    argv += f" --num_batches=2 --num_warmup_batches=0 --output_dir={tmp_path}"
    run = subprocess.run(
        f"{sys.executable} train.py {argv} {closed}", shell=True, capture_output=True, text=True
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert (tmp_path / "step-2" / "manifest.json").exists()


def test_a_run_has_its_arguments_after_it_started_over():
    run = subprocess.run(
        [sys.executable, "train.py", "--batch_size=0"], capture_output=True, text=True
    )
    assert run.returncode == 2
    assert "--batch_size=0" in run.stderr
