"""The translating program as a user runs it, in processes of its own."""

import contextlib
import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios

import pytest

from input_pipeline.vocabulary import WordVocabulary
from nmt import translate
from nmt.config import TrainConfig
from tests import small
from tests.nmt.storage.test_model_dir import save

LINES = ["s1 s2 s3", "", "s4", "s5 s1 s1 s7 s8 s2"]


def run(*argv, text="", **options):
    command = [sys.executable, "-m", "nmt.translate", *argv]
    return subprocess.run(command, capture_output=True, input=text.encode(), timeout=120, **options)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    directory = tmp_path_factory.mktemp("model")
    save(directory)
    return str(directory)


def test_help_that_nobody_listens_to_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "nmt.translate", "--help"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_file_is_translated_line_by_line(model):
    done = run(f"--model={model}", text="".join(f"{line}\n" for line in LINES))
    assert (done.returncode, done.stderr) == (0, b"")
    found = done.stdout.decode().split("\n")
    assert len(found) == len(LINES) + 1
    assert [bool(line) for line in found] == [True, False, True, True, False]


def test_progress_is_shown_where_somebody_looks(model):
    reading, writing = pty.openpty()
    fcntl.ioctl(writing, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    command = [sys.executable, "-m", "nmt.translate", f"--model={model}"]
    text = "".join(f"{line}\n" for line in LINES).encode()
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=writing)
    os.close(writing)
    said = ""
    with contextlib.suppress(OSError):  # which is how a terminal says that it is closed
        while data := os.read(reading, 10_000):
            said += data.decode()
    os.close(reading)
    assert (done.returncode, done.stdout.count(b"\n")) == (0, len(LINES))
    assert f"{len(LINES)} lines" in said


def test_several_translations_are_numbered_and_scored(model):
    done = run(f"--model={model}", "--beam_width=3", "--n_best=2", text="s1\n\ns2 s3")
    rows = [line.split("\t") for line in done.stdout.decode().splitlines()]
    assert [row[0] for row in rows] == ["1", "1", "2", "3", "3"]
    assert float(rows[0][1]) >= float(rows[1][1])


def test_a_large_file_keeps_its_order_and_numbers(model):
    """It is read in blocks, whose sentences are sorted by length."""
    some = [f"s{number % 9 + 1} " * (number % 3 + 1) for number in range(30)]
    lines = (some * (3 * translate.LINES_AT_ONCE // 30))[: 2 * translate.LINES_AT_ONCE + 5]
    few, many = (
        run(f"--model={model}", "--beam_width=2", "--n_best=2", "--max_length=4", text=text)
        for text in ("\n".join(some), "\n".join(lines))
    )
    of_some = [line.split("\t")[2] for line in few.stdout.decode().splitlines()]
    rows = [line.split("\t") for line in many.stdout.decode().splitlines()]
    assert [int(row[0]) for row in rows] == [n // 2 + 1 for n in range(2 * len(lines))]
    assert [row[2] for row in rows] == [of_some[n % 60] for n in range(2 * len(lines))]


def test_a_slow_pipe_gets_each_line_as_soon_as_it_is_there(model):
    command = [sys.executable, "-m", "nmt.translate", f"--model={model}"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        for line in LINES:
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            assert bool(process.stdout.readline().strip()) == bool(line)  # hangs if it waits
        process.stdin.close()
        assert process.wait(60) == 0


def test_a_reader_that_leaves_is_no_mistake(model):
    command = [sys.executable, "-m", "nmt.translate", f"--model={model}"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        process.stdout.close()
        process.stdin.write(b"s1 s2\n")
        process.stdin.close()
        assert (process.wait(120), process.stderr.read()) == (0, b"")


def start(*argv, **options):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-m", "nmt.translate", *argv], **pipes, **options)


def test_a_reader_that_leaves_is_noticed_while_no_more_input_comes(model):
    with start(f"--model={model}") as process:
        process.stdout.close()
        process.stdin.write(b"s1 s2\n")
        process.stdin.flush()
        assert (process.wait(120), process.stderr.read()) == (0, b"")


def test_ctrl_c_ends_it_while_no_input_comes(model):
    with start(f"--model={model}") as process:
        process.stdin.write(b"s1 s2\n")
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert (process.wait(60), process.stderr.read()) == (130, b"")


def test_ctrl_c_is_not_lost_where_an_exception_would_be(model):
    """Whatever is raised in a destructor is dropped, and the program went on waiting for input."""
    hide = (
        "import signal, sys; from nmt import translate\n"
        "class Hidden:\n    def __del__(self): signal.raise_signal(signal.SIGINT)\n"
        "write = translate.write\n"
        "def hidden(out, *args, **more): write(out, *args, **more); Hidden()\n"
        "translate.write = hidden; sys.exit(translate.main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", hide, f"--model={model}"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(b"s1 s2\n")
        process.stdin.flush()
        assert process.wait(60) == 130
        assert process.stdout.read().endswith(b"\n")


def test_output_is_utf_8_whatever_the_locale_says(tmp_path):
    words = [f"\N{SNOWMAN}{number}" for number in range(small.SIZES.target - 3)]
    save(tmp_path, target=WordVocabulary(("<unk>", "<s>", "</s>", *words)))
    locale = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = run(f"--model={tmp_path}", text="s1 s2\n", env=locale)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "\N{SNOWMAN}" in done.stdout.decode("utf-8")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a disk that is full")
def test_a_full_disk_is_one_line(model):
    command = [sys.executable, "-m", "nmt.translate", f"--model={model}"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, input=b"s1\n", stdout=full, stderr=subprocess.PIPE)
    said = b"nmt.translate: translations cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, said)


def test_input_that_cannot_be_read_is_one_line(model):
    command = [sys.executable, "-m", "nmt.translate", f"--model={model}"]
    with open(os.devnull, "w") as for_writing:
        done = subprocess.run(command, stdin=for_writing, capture_output=True)
    why = "standard input cannot be read: Bad file descriptor; give a file or a pipe"
    said = f"nmt.translate: {why}\n"
    assert (done.returncode, done.stderr.decode()) == (2, said)


def test_a_path_that_cannot_be_looked_at_is_one_line(capsys):
    path = "x" * 300
    assert translate.main([f"--model={path}"]) == 2
    assert f"{path} cannot be used: File name too long" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ([], "--model is missing; name the --output_dir of a training run"),
        (["--model=nowhere"], "--model=nowhere is no directory; name a run's --output_dir"),
        (["--model=.", "--n_best=3"], "--n_best=3 is more than --beam_width=1; give a wider beam"),
        (["--modle=."], "--modle is not known; did you mean --model?"),
        (["--model=.", "--beam_width=0"], "--beam_width=0 cannot be used; give at least 1"),
    ],
)
def test_a_mistake_is_one_line(argv, said, capsys):
    assert translate.main(argv) == 2
    assert f"nmt.translate: {said}\n" in capsys.readouterr().err


def test_what_is_no_text_is_refused(model):
    command = [sys.executable, "-m", "nmt.translate", f"--model={model}"]
    good = run(f"--model={model}", text="s1\ns2 s3\n")
    data = b"s1\ns2 s3\n\xff\xfe\ns4\n"
    done = subprocess.run(command, capture_output=True, input=data, timeout=120)
    assert done.returncode == 2
    said = "nmt.translate: line 3 of standard input is not UTF-8 text: invalid start byte; "
    assert done.stderr.decode().startswith(said)
    assert done.stdout == good.stdout  # what came before it is translated


def test_a_penalty_that_needs_attention_is_refused_without(tmp_path, model):
    save(tmp_path, config=TrainConfig(model=small.MODEL))
    done = run(f"--model={tmp_path}", "--coverage_penalty=0.2", text="s1")
    assert done.returncode == 2
    assert b"--coverage_penalty=0.2 needs a model with attention" in done.stderr


def test_help_lists_the_flags(capsys):
    assert translate.main(["--help"]) == 0
    assert "--beam_width=1" in capsys.readouterr().out


def test_a_byte_order_mark_is_no_part_of_the_first_word(model):
    plain, marked = (run(f"--model={model}", text=mark + "s1 s2\ns3\n") for mark in ("", "\ufeff"))
    assert marked.stdout == plain.stdout
    assert marked.returncode == 0
