"""Virtual environments of the programs we are compared with, made at the first use."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.rounds import ROOT

REQUIREMENTS = {
    "pytorch": ["torch==2.13.0", "numpy==2.4.6"],
    "opennmt_tf": ["OpenNMT-tf[tensorflow]==2.32.0"],
}
# On Linux the package index gives PyTorch with CUDA; its own index has the CPU build.


def python_of(peer: str) -> str:
    """A peer's own Python; an installation that was broken off is done again."""
    directory = ROOT / f".venv-{peer}"
    python, ready = directory / "bin" / "python", directory / "ready"
    if not ready.exists():
        print(f"installing {', '.join(REQUIREMENTS[peer])} into {directory.name}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(directory)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", *REQUIREMENTS[peer]]
        subprocess.run(install, check=True)
        ready.touch()
    return str(python)
