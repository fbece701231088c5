"""Front door: reads the command line, checks it, trains."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from nmt import checks, flags, programs
from nmt.errors import Diverged, SaveFailed, UserError
from nmt.machine import environment
from nmt.programs import DONE, FAILED, INTERRUPTED, REFUSED
from nmt.reporting import output


def main(argv: Sequence[str]) -> int:
    """Runs one training; gives the exit code."""
    try:
        return train(argv)
    except flags.HelpRequested as request:
        print(request)
        return DONE
    except UserError as error:
        return say([str(error)], REFUSED)
    except (Diverged, SaveFailed, OSError) as error:
        return say([programs.one_line(error)], FAILED)
    except KeyboardInterrupt:
        return say(["broken off"], INTERRUPTED)


def train(argv: Sequence[str]) -> int:
    """Checks the command line and runs it; every mistake is found before data is read."""
    config, problems = checks.read(argv)
    if not problems or checks.needs_devices(config):
        environment.prepare(config.run.verbosity)
        problems += checks.find_device_problems(config)
    if problems:
        return say(problems, REFUSED)
    from nmt.run import run  # imports TensorFlow, which the environment had to be ready for

    run(config)
    return DONE


def say(problems: Sequence[str], code: int) -> int:
    """Prints one line each and gives the exit code."""
    print("\n".join(f"train.py: {problem}" for problem in problems), file=sys.stderr)
    return code


if __name__ == "__main__":
    environment.begin()
    output.outlive()
    sys.exit(main(sys.argv[1:]))
