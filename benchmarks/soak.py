"""Trains for hours with looks and saves in between: python -m benchmarks.soak --minutes=120

Memory and speed of the first quarter, after some minutes to settle, are compared with the last
quarter's; 1 is the exit code where memory has grown or speed fallen by more than is allowed. Other
flags go to train.py.
"""

from __future__ import annotations

import math
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.command_line import REST, Parser
from benchmarks.rounds import ROOT, table

FLAGS: Final = [
    *("--dataset=demo", "--encoder_type=cudnn_lstm", "--direction=bi", "--num_units=192"),
    *("--embedding_dim=192", "--num_encoder_layers=2", "--num_decoder_layers=2"),
    *("--attention=scaled_luong", "--dropout=0.1", "--ema_decay=0.999", "--batch_size=32"),
    *("--num_batches=100000000", "--log_every=100", "--eval_every=3000"),
    *("--save_every_minutes=3", "--num_keep_ckpts=3", "--learning_rate_decay=inverse_sqrt"),
]
SETTLING_S: Final = 300.0
LOOK_EVERY_S: Final = 5.0
MOST_GROWTH: Final = 1.02  # of memory
LEAST_SPEED: Final = 0.95  # of the first quarter's, on a machine that others use too
SPEED: Final = re.compile(r"([\d,]+) words/s")


class Sample(NamedTuple):
    """Something seen at some time."""

    seconds: float
    value: float


def resident_bytes(pid: int) -> int:
    """What a process holds of the machine's memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    return 1024 * int(found[1]) if found else 0


def watch(process: subprocess.Popen[str], seconds: float) -> tuple[list[Sample], list[Sample]]:
    """Memory and speed until the time is up; then the process is asked to stop."""
    began = time.monotonic()
    memory: list[Sample] = []
    speed: list[Sample] = []

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            if found := SPEED.search(line):
                words = float(found[1].replace(",", ""))
                speed.append(Sample(time.monotonic() - began, words))
            elif line.startswith(("dev at", "saved", "train.py")):
                print(f"{time.monotonic() - began:7.0f} s  {line}", end="", flush=True)

    thread = threading.Thread(target=read)
    thread.start()
    while process.poll() is None and time.monotonic() - began < seconds:
        memory.append(Sample(time.monotonic() - began, resident_bytes(process.pid)))
        time.sleep(LOOK_EVERY_S)
    process.send_signal(signal.SIGTERM)
    thread.join()
    return memory, speed


class Quarters(NamedTuple):
    """Medians of the first and the last quarter of the time that counts."""

    first: float
    last: float

    @property
    def ratio(self) -> float:
        """What the last is of the first."""
        return self.last / self.first

    def row(self, name: str, scale: float) -> list[str]:
        """As a row of the table."""
        values = (f"{value / scale:,.0f}" for value in self)
        return [name, *values, f"{self.ratio:.3f}"]


def quarters(samples: Sequence[Sample], seconds: float) -> Quarters:
    """Looks at the first and the last quarter after everything has settled."""
    length = (seconds - SETTLING_S) / 4
    first = [s.value for s in samples if 0 <= s.seconds - SETTLING_S < length]
    last = [s.value for s in samples if s.seconds >= seconds - length]
    if not first or not last:
        sys.exit("nothing was seen in the first or the last quarter; soak for longer")
    return Quarters(statistics.median(first), statistics.median(last))


def main(argv: Sequence[str]) -> int:
    """Soaks and prints the table."""
    parser = Parser("python -m benchmarks.soak", __doc__, epilog=REST)
    parser.add_argument("--minutes", type=float, default=120, help="how long to train")
    given, rest = parser.parse_known_args(argv)
    seconds = 60 * given.minutes
    if not 2 * SETTLING_S <= seconds < math.inf:
        parser.refuse(f"--minutes={given.minutes:g} cannot be used; give 10 or more")
    with tempfile.TemporaryDirectory() as place:
        flags = [*FLAGS, *rest, f"--output_dir={place}/out"]
        parser.train_config(flags)
        process = subprocess.Popen(
            [sys.executable, "-u", str(ROOT / "train.py"), *flags],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        memory, speed = watch(process, seconds)
        process.wait()
    if process.returncode:
        said = f"training ended with exit code {process.returncode}"
        print(f"benchmarks.soak: {said}", file=sys.stderr)
        return 1
    of_memory, of_speed = (quarters(samples, seconds) for samples in (memory, speed))
    rows = [of_memory.row("memory (MiB)", 2**20), of_speed.row("words/s", 1)]
    print("\n" + table(["", "first quarter", "last quarter", "ratio"], rows))
    return int(of_memory.ratio > MOST_GROWTH or of_speed.ratio < LEAST_SPEED)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
