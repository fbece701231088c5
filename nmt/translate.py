"""Translates standard input line by line: python -m nmt.translate --model=DIR < in.en > out.de"""

from __future__ import annotations

import contextlib
import io
import os
import queue
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any, Final, TextIO

from nmt import flags, programs
from nmt.config import option
from nmt.errors import SaveFailed, UserError
from nmt.machine import environment
from nmt.search import search_flags
from nmt.search.search_flags import DEFAULTS, SearchConfig

# So many lines are sorted by length together. What is there sooner is not kept waiting.
LINES_AT_ONCE: Final = 2048
BYTES_AT_ONCE: Final = 1 << 16
STDIN: Final = 0
END: Final = None


@dataclass(frozen=True, kw_only=True)
class OutputConfig:
    """Output."""

    n_best: int = option(
        1, "translations of each line, as: line number, score, text, with tabs between", at_least=1
    )


@dataclass(frozen=True, kw_only=True)
class TranslateConfig:
    """All of it."""

    search: SearchConfig = DEFAULTS
    output: OutputConfig = OutputConfig()


PROGRAM = flags.Program(
    "nmt.translate", "translates standard input, a sentence a line", TranslateConfig
)


def find_problems(config: TranslateConfig) -> list[str]:
    """All reasons it cannot run."""
    problems = search_flags.find_problems(config.search)
    wanted, width = config.output.n_best, config.search.beam_width
    if wanted > width:
        problems.append(f"--n_best={wanted} is more than --beam_width={width}; give a wider beam")
    return problems


def input_lines() -> Iterator[str]:
    """Lines of standard input.

    They are read without Python's file objects: one that waits for input cannot be closed, so that
    neither Ctrl-C nor a reader who leaves would end the program before the next line comes.
    """
    for number, line in enumerate(raw_lines(), 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise UserError(
                f"line {number} of standard input is not UTF-8 text: {error.reason}; convert it"
            ) from error


def raw_lines() -> Iterator[bytes]:
    """The same, as they come."""
    rest = b""
    try:
        while data := os.read(STDIN, BYTES_AT_ONCE):
            *lines, rest = (rest + data).split(b"\n")
            yield from lines
    except OSError as error:
        raise UserError(
            f"standard input cannot be read: {error.strerror}; give a file or a pipe"
        ) from error
    if rest:
        yield rest


def blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    """What has been read so far, again and again: a line of a slow pipe, many of a file."""
    arrived: queue.Queue[Any] = queue.Queue(maxsize=4 * LINES_AT_ONCE)

    def read() -> None:
        try:
            for line in lines:
                arrived.put(line)
            arrived.put(END)
        except BaseException as error:  # the main thread raises it, after the lines before
            arrived.put(error)

    threading.Thread(target=read, daemon=True).start()
    ended: Any = False
    while not ended:
        block, ended = waiting(arrived)
        if block:
            yield block
    if isinstance(ended, BaseException):
        raise ended


def waiting(arrived: queue.Queue[Any]) -> tuple[list[str], BaseException | bool]:
    """The lines that are there, at least one of them or the end, and whether or how it ended."""
    block: list[str] = []
    while len(block) < LINES_AT_ONCE:
        try:
            item = arrived.get(block=not block)
        except queue.Empty:
            break
        if item is END or isinstance(item, BaseException):
            return block, item or True
        block.append(item)
    return block, False


def run(config: TranslateConfig, lines: Iterable[str], out: TextIO) -> None:
    """Translates everything that comes in."""
    from tqdm import tqdm

    translator = search_flags.load_translator(config.search)
    done, wanted = 0, config.output.n_best
    with tqdm(unit=" lines", disable=None, file=sys.stderr) as bar:
        for block in blocks(lines):
            translations = translator.n_best(block, progress=bar.update)
            for number, found in enumerate(translations, done):
                write(out, number, found[:wanted], several=wanted > 1)
            out.flush()
            done += len(block)


def write(out: TextIO, number: int, found: Sequence[Any], *, several: bool) -> None:
    """One line for a sentence, or one for each of its translations."""
    for one in found:
        out.write(f"{number + 1}\t{one.score:.4f}\t{one.text}\n" if several else f"{one.text}\n")


def leave(number: int, frame: FrameType | None) -> None:
    """Ends the program at Ctrl-C, with what is translated written.

    An exception would be lost where Ctrl-C meets a destructor, and input be waited for again.
    """
    with contextlib.suppress(
        OSError, RuntimeError
    ):  # who listened has left, or is being written to
        sys.stdout.flush()
    os._exit(programs.INTERRUPTED)


def translate_input(config: TranslateConfig) -> None:
    """Translates standard input to standard output, whatever the locale says in UTF-8."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # not where a test catches it
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    signal.signal(signal.SIGINT, leave)
    try:
        run(config, input_lines(), sys.stdout)
    except BrokenPipeError:
        raise
    except OSError as error:
        programs.drop_output()
        raise SaveFailed(f"translations cannot be written: {error.strerror}") from error


def main(argv: Sequence[str]) -> int:
    """Translates; gives the exit code."""
    return programs.main(PROGRAM, argv, find_problems, translate_input)


if __name__ == "__main__":
    environment.begin()
    sys.exit(main(sys.argv[1:]))
