"""Command lines of the benchmarks: help at once, one line for each mistake, exit code 2."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NoReturn

from nmt import checks, flags, programs
from nmt.config import TrainConfig

REST: Final = "all other flags go to train.py"


class Parser(argparse.ArgumentParser):
    """Reads a program's own flags; `prog` is how it is called, the last word of that its name."""

    def __init__(self, prog: str, text: str | None, *, epilog: str | None = None) -> None:
        super().__init__(
            prog=prog,
            description=text,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def add_count(self, name: str, default: int, text: str, *, at_least: int = 1) -> None:
        """Adds a flag for a whole number."""

        def count(given: str) -> int:
            if not given.isdecimal() or int(given) < at_least:
                advice = f"give a whole number of at least {at_least}"
                self.refuse(f"--{name}={given} cannot be used; {advice}")
            return int(given)

        self.add_argument(f"--{name}", type=count, default=default, metavar="N", help=text)

    def error(self, message: str) -> NoReturn:
        """Says what argparse says, without the usage."""
        self.refuse(f"{message.removeprefix('argument ')}; see --help")

    def refuse(self, *problems: str) -> NoReturn:
        """Ends the program with one line for each problem."""
        name = Path(self.prog.split()[-1]).name
        self.exit(programs.REFUSED, "".join(f"{name}: {problem}\n" for problem in problems))

    def train_config(self, given: Sequence[str]) -> TrainConfig:
        """What train.py makes of its flags; all that it would refuse is refused here."""
        try:
            config, problems = checks.read(given)
        except flags.HelpRequested:  # in a --flagfile, or said otherwise than argparse knows it
            self.print_help()
            self.exit()
        if problems:
            self.refuse(*problems)
        return config

    def named(self, only: str, names: Iterable[str]) -> list[str]:
        """Those that have this in them; there must be one."""
        known = list(names)
        found = [name for name in known if only in name]
        if not found:
            self.refuse(f"--only={only} is in no name; give a part of one: {'; '.join(known)}")
        return found
