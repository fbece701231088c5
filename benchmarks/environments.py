"""Virtual environments of the programs we are compared with, made at the first use."""

from __future__ import annotations

import shutil
import sys
from typing import Final, NamedTuple

from benchmarks.rounds import ROOT, Failed, output_of


class Peer(NamedTuple):
    """What is installed, and the newest Python there is all of it for."""

    requirements: list[str]
    newest_python: tuple[int, int]


PEERS: Final = {
    # On Linux the package index gives PyTorch with CUDA; its own index has the CPU build.
    "pytorch": Peer(["torch==2.13.0", "numpy==2.4.6"], (3, 14)),
    "opennmt_tf": Peer(["OpenNMT-tf[tensorflow]==2.32.0"], (3, 11)),
}


def python_of(name: str) -> str:
    """A peer's own Python; an installation that was broken off is done again."""
    peer, directory = PEERS[name], ROOT / f".venv-{name}"
    python, ready = directory / "bin" / "python", directory / "ready"
    if not ready.exists():
        print(f"installing {', '.join(peer.requirements)} into {directory.name}", flush=True)
        output_of([python_for(peer), "-m", "venv", "--clear", str(directory)])
        output_of([str(python), "-m", "pip", "install", "--quiet", *peer.requirements])
        ready.touch()
    return str(python)


def python_for(peer: Peer) -> str:
    """This Python where it is old enough, or another on the path."""
    if sys.version_info[:2] <= peer.newest_python:
        return sys.executable
    major, newest = peer.newest_python
    for minor in range(newest, 9, -1):
        if found := shutil.which(f"python{major}.{minor}"):
            return found
    raise Failed(f"{peer.requirements[0]} needs Python {major}.{newest} or older; install one")
