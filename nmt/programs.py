"""What all programs beside train.py do with their command lines."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

from nmt import checks, flags
from nmt.errors import Diverged, SaveFailed, UserError
from nmt.machine import environment

Config = TypeVar("Config")

DONE, FAILED, REFUSED, INTERRUPTED = 0, 1, 2, 130


def main(
    program: flags.Program[Config],
    argv: Sequence[str],
    find_problems: Callable[[Config], list[str]],
    run: Callable[[Config], object],
) -> int:
    """Checks the command line and runs it; gives the exit code, after one line for a mistake."""
    code = REFUSED
    if isinstance(sys.stdout, io.TextIOWrapper):  # whatever the locale, showing text cannot fail
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        config, problems = program.parse(argv)
        problems += checks.answers(find_problems, config)
        if not problems:
            environment.prepare(verbosity=0)
            run(config)
    except flags.HelpRequested as request:
        return show(str(request))
    except UserError as error:
        problems = [str(error)]
    except BrokenPipeError:  # nobody listens any more
        drop_output()
        return DONE
    except (Diverged, SaveFailed, OSError) as error:
        flush_or_drop()
        code, problems = FAILED, [one_line(error)]
    except KeyboardInterrupt:
        return INTERRUPTED
    if problems:
        print("\n".join(f"{program.name}: {line}" for line in problems), file=sys.stderr)
    return code if problems else DONE


def show(text: str) -> int:
    """Prints what was asked for, to whoever still listens; gives the exit code."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        drop_output()
    return DONE


def flush_or_drop() -> None:
    """Shows what is left, if standard output is not what has failed."""
    try:
        sys.stdout.flush()
    except OSError:
        drop_output()


def drop_output() -> None:
    """Lets what is left go nowhere, so that leaving does not fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def one_line(error: Exception) -> str:
    """What went wrong, with the file it went wrong with."""
    if not isinstance(error, OSError):
        return str(error)
    return f"{error.filename or 'a file'} cannot be used: {error.strerror}"
