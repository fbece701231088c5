"""What all programs beside train.py do with their command lines."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

from nmt import environment, flags
from nmt.errors import UserError

Config = TypeVar("Config")

DONE, REFUSED, INTERRUPTED = 0, 2, 130


def main(
    program: flags.Program[Config],
    argv: Sequence[str],
    find_problems: Callable[[Config], list[str]],
    run: Callable[[Config], object],
) -> int:
    """Checks the command line and runs it; gives the exit code, after one line for a mistake."""
    try:
        config, problems = program.parse(argv)
        problems += find_problems(config)
        if not problems:
            environment.prepare(verbosity=0)
            run(config)
    except flags.HelpRequested as request:
        print(request)
        return DONE
    except UserError as error:
        problems = [str(error)]
    except KeyboardInterrupt:
        return INTERRUPTED
    if problems:
        print("\n".join(f"{program.name}: {line}" for line in problems), file=sys.stderr)
    return REFUSED if problems else DONE
