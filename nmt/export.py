"""Writes a SavedModel that takes and gives text: python -m nmt.export --model=DIR --to=served/1"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nmt import flags, paths, programs
from nmt.config import option
from nmt.machine import environment
from nmt.search import search_flags
from nmt.search.search_flags import DEFAULTS, SearchConfig


@dataclass(frozen=True, kw_only=True)
class PlaceConfig:
    """Output."""

    to: str = option(
        "", "directory to write; TensorFlow Serving wants its name to be a version number"
    )


@dataclass(frozen=True, kw_only=True)
class ExportConfig:
    """All of it."""

    search: SearchConfig = DEFAULTS
    place: PlaceConfig = PlaceConfig()


PROGRAM = flags.Program("nmt.export", "writes a SavedModel that translates strings", ExportConfig)


def find_problems(config: ExportConfig) -> list[str]:
    """All reasons it cannot run."""
    problems = search_flags.find_problems(config.search)
    if config.search.batch_size != DEFAULTS.batch_size:
        problems.append("--batch_size does nothing here: what is asked at once is one batch")
    place = Path(config.place.to)
    if not config.place.to:
        problems.append("--to is missing; name a directory that is not there yet")
    elif place.exists():
        problems.append(f"--to={place} is there already; name another directory")
    elif why := paths.unwritable(config.place.to):
        problems.append(f"--to={place} {why}; name another directory")
    return problems


def run(config: ExportConfig) -> None:
    """Reads a model and writes it to be served."""
    from nmt.serving.served import save

    translator = search_flags.load_translator(config.search, kind="CPU")
    save(translator, Path(config.place.to))
    signature = "signature serving_default: sentences -> translations"
    print(f"{translator.origin} exported to {config.place.to}; {signature}", flush=True)


def main(argv: Sequence[str]) -> int:
    """Exports; gives the exit code."""
    return programs.main(PROGRAM, argv, find_problems, run)


if __name__ == "__main__":
    environment.begin()
    sys.exit(main(sys.argv[1:]))
