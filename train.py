"""Front door: reads the command line, checks it, trains."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from nmt import checks, environment, flags
from nmt.errors import UserError


def main(argv: Sequence[str]) -> int:
    """Runs one training; the exit code is 0 when done and 2 for a mistake of the user's."""
    try:
        config, problems = flags.parse(argv)
    except flags.HelpRequested as request:
        print(request)
        return 0
    problems += checks.find_problems(config)
    if not problems or checks.needs_devices(config):
        environment.prepare(config.run.verbosity)
        problems += checks.find_device_problems(config)
    if problems:
        return refuse(problems)
    from nmt.run import run  # imports TensorFlow, which the environment had to be ready for

    try:
        run(config)
    except UserError as error:
        return refuse([str(error)])
    return 0


def refuse(problems: Sequence[str]) -> int:
    """Says what is wrong, one line each."""
    print("\n".join(f"train.py: {problem}" for problem in problems), file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
