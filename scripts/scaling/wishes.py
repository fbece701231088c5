"""The command line of run_scaling.sh: its own flags, and those that train.py gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from nmt.flags import TRAIN, nearest
from scaling.cells import ENCODERS, STRATEGIES, BadRequest

TAKEN: Final = {
    "num_replicas": "use --replicas",
    "independent_replica": "use --variable_update=independent",
    "output_dir": "every cell trains a model of its own; leave it out",
    "results_file": "all results go to --out; leave it out",
    "num_epochs": "cells are compared by batches; use --num_batches",
    "batch_words": "cells are compared by sentences; use --batch_size",
    "flagfile": "write its flags here",
    "enable_profile": "every cell would write its own over the last; use train.py",
    "trace_file": "every cell would write its own over the last; use train.py",
}
DEFAULTS: Final = {
    "replicas": "",  # one to all GPUs, or to 8
    "variable_update": "all",
    "encoder_type": "all",
    "all_reduce_spec": "",  # several: each is measured
    "rounds": "3",
    "batch_size": "32",
    "limit_minutes": "20",
    "out": "runs/scaling",
}
MAY_BE_EMPTY: Final = "--all_reduce_spec="  # leaves the choice to train.py

HELP = f"""Measures words/s over numbers of replicas; writes tables, CSV, JSON and report.html.

sh scripts/run_scaling.sh [--replicas=1..8] [--variable_update=all] [--encoder_type=all] ...
  --replicas=1..8          or 1,2,4; all GPUs there are, else 1 to 8, if left out
  --variable_update=all    or some of {",".join(STRATEGIES)}
  --encoder_type=all       or some of {",".join(ENCODERS)}
  --all_reduce_spec=       what `replicated` uses; several, with commas between, are compared
  --rounds=3               times that every cell is measured, in turn; medians are shown
  --batch_size=32          sentences for each replica
  --limit_minutes=20       a cell that takes longer has failed
  --out=runs/scaling       where results go; the same flags again go on where it was broken off
All other flags go to train.py, for the cells they mean something to.
"""


def asks_for_help(argv: Sequence[str]) -> bool:
    """Whether help is what is wanted."""
    names = (argument.partition("=")[0] for argument in argv)
    return any(name in ("-h", "--h", "-help", "--help") for name in names)


def split(argv: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """This program's own flags, and those that train.py gets."""
    mine, rest = dict(DEFAULTS), []
    for argument in joined(argv):
        name, _, value = argument.lstrip("-").partition("=")
        if name.removeprefix("no") in TAKEN:
            raise BadRequest(f"--{name} cannot be used; {TAKEN[name.removeprefix('no')]}")
        if name not in DEFAULTS:
            rest.append(argument)
        elif value or argument == MAY_BE_EMPTY:
            mine[name] = value
        else:
            raise BadRequest(f"--{name} has no value; write --{name}=VALUE, see --help")
    if said := [problem for argument in rest if (problem := unknown(argument))]:
        raise BadRequest("; ".join(said))
    return mine, rest


def unknown(argument: str) -> str:
    """What is meant by a flag that nobody knows; train.py, which gets it, does not know of ours."""
    name = argument.lstrip("-").split("=")[0]
    others = [field.name for field in TRAIN.fields()]
    if not name:
        return f"{argument} alone is not a flag; leave it out"
    if name in others or name.removeprefix("no") in others:
        return ""
    near = nearest(name, [*DEFAULTS, *(other for other in others if other not in TAKEN)])
    return f"--{name} is not known; {f'did you mean --{near}?' if near else 'see --help'}"


def joined(argv: Sequence[str]) -> list[str]:
    """One string for each flag, also where its value was written after a space."""
    flags: list[str] = []
    for argument in argv:
        if argument.startswith("-"):
            flags.append(argument)
        elif flags and "=" not in flags[-1]:
            flags[-1] += f"={argument}"
        else:
            raise BadRequest(f"{argument!r} is not a flag; write --name=value")
    return flags


def whole_number(wishes: dict[str, str], name: str) -> int:
    """A flag's value, at least 1."""
    if not wishes[name].isdigit() or not int(wishes[name]):
        raise BadRequest(f"--{name}={wishes[name]} cannot be used; give a whole number above 0")
    return int(wishes[name])
