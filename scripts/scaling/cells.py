"""What is measured: one cell for each strategy, encoder and number of replicas."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from nmt.config import ENCODER_TYPES, VARIABLE_UPDATES
from variable_update import spec as all_reduce
from variable_update.checks import EXCHANGE_FLAGS, STRATEGY_FLAGS

STRATEGIES: Final = VARIABLE_UPDATES
# The faster one first, as in the tables and plots there are; the flag has its default first.
ENCODERS: Final = ENCODER_TYPES[::-1]
ONE_REPLICA: Final = "one replica"


class BadRequest(ValueError):
    """The command line cannot be understood; the message says why and what to do."""


@dataclass(frozen=True)
class Cell:
    """One row of one table."""

    variable_update: str  # or ONE_REPLICA: the same global batch on a single replica
    encoder_type: str
    num_replicas: int
    all_reduce_spec: str = ""  # `replicated`: where it is not left to train.py

    @property
    def name(self) -> str:
        """The strategy, and how it exchanges gradients where that was asked for."""
        return f"{self.variable_update} {self.all_reduce_spec}".strip()

    def flags(self, batch_size: int, given: Sequence[str] = ()) -> list[str]:
        """The flags of train.py that make this cell, and those of the given that it can use."""
        single = self.variable_update == ONE_REPLICA
        replicas, batch = (1, batch_size * self.num_replicas) if single else (None, batch_size)
        spec = [f"--all_reduce_spec={self.all_reduce_spec}"] if self.all_reduce_spec else []
        return [
            *filter(self.uses, [*given, *spec]),
            f"--variable_update={'replicated' if single else self.variable_update}",
            f"--encoder_type={self.encoder_type}",
            f"--num_replicas={replicas or self.num_replicas}",
            f"--batch_size={batch}",
        ]

    def uses(self, flag: str) -> bool:
        """Whether a flag of train.py means something here; one that is not known does."""
        name = flag.lstrip("-").split("=")[0].removeprefix("no")
        alone = self.variable_update in (ONE_REPLICA, "independent") or self.num_replicas == 1
        if alone and name in EXCHANGE_FLAGS:
            return False
        return STRATEGY_FLAGS.get(name, self.variable_update) == self.variable_update

    def __str__(self) -> str:
        return f"{self.name} {self.encoder_type} x{self.num_replicas}"


def make_cells(
    replicas: Sequence[int],
    strategies: Sequence[str],
    encoders: Sequence[str],
    specs: Sequence[str] = ("",),
    *,
    gpu: bool = False,
) -> list[Cell]:
    """All cells in the order of a round.

    Each count's single replica stands beside it, but on GPUs: there it is not what they should
    reach, and seldom fits.
    """
    columns = list(make_columns(strategies if gpu else (ONE_REPLICA, *strategies), specs))
    cells = [Cell(s, e, n, spec) for e in encoders for n in replicas for s, spec in columns]
    return [cell for cell in cells if cell.num_replicas == 1 or cell.num_replicas >= fewest(cell)]


def fewest(cell: Cell) -> int:
    """How many replicas its all-reduce needs."""
    names = all_reduce.algorithms(all_reduce.parse(cell.all_reduce_spec or "nccl"))
    return max(all_reduce.FEWEST_DEVICES.get(name, 1) for name in names)


def make_columns(strategies: Sequence[str], specs: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Strategies with their all-reduce specs, which only `replicated` has."""
    for strategy in strategies:
        for spec in specs if strategy == "replicated" else ("",):
            yield strategy, spec


def parse_counts(text: str) -> list[int]:
    """Reads "1..8", "1,2,4" or "2"."""
    found = re.fullmatch(r"(\d+)\.\.(\d+)", text)
    counts = range(int(found[1]), int(found[2]) + 1) if found else numbers(text)
    if not counts or min(counts) < 1:
        raise BadRequest(f"--replicas={text} cannot be used; write 1..8 or 1,2,4")
    return sorted(set(counts))


def numbers(text: str) -> list[int]:
    """Whole numbers separated by commas; none where something else stands there."""
    pieces = text.split(",")
    return [int(piece) for piece in pieces] if all(map(str.isdigit, pieces)) else []


def parse_names(flag: str, text: str, known: Sequence[str]) -> list[str]:
    """Reads "all" or names separated by commas."""
    names = list(known) if text == "all" else list(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in known:
            raise BadRequest(f"--{flag}={text} cannot be used; give all or: {','.join(known)}")
    return names


def parse_specs(text: str) -> list[str]:
    """Reads all-reduce specs separated by commas; nothing leaves the choice to train.py."""
    specs = list(dict.fromkeys(text.split(",")))
    for spec in filter(None, specs):
        try:
            all_reduce.parse(spec)
        except all_reduce.BadSpec as problem:
            raise BadRequest(f"--all_reduce_spec={spec} {problem}") from None
    return specs
