"""What must be arranged before TensorFlow is imported; its start-up messages are held back."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

STARTED: Final = time.perf_counter()
"""When the program began; this is the first of its modules."""

SETTINGS: Final = {
    # TensorFlow leaves oneDNN off on CPUs without AVX512-VNNI, where it gains too.
    "TF_ENABLE_ONEDNN_OPTS": "1",
    # glibc looks through long lists for every buffer and gives large ones back to the system, to
    # fault them in again at the next step; the allocator TensorFlow has for GPUs does neither.
    "TF_CPU_ALLOCATOR_USE_BFC": "1",
}
OFF: Final = ("0", "false", "False")
HUGE_PAGES: Final = Path("/sys/kernel/mm/transparent_hugepage/enabled")
TUNABLES, HUGE_PAGES_TUNABLE = "GLIBC_TUNABLES", "glibc.malloc.hugetlb"


def begin() -> None:
    """What every program does first: nobody may have closed its output, and memory is arranged."""
    open_closed_output()
    use_huge_pages()


def open_closed_output() -> None:
    """Lets output and errors go nowhere where they were closed: a file would get their number."""
    for number, name in (1, "stdout"), (2, "stderr"):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            os.set_inheritable(number, True)  # for a program that is started in place of this
            setattr(sys, name, os.fdopen(number, "w", closefd=False))


def use_huge_pages() -> None:
    """Starts this program over with its memory in huge pages, if the kernel gives them on request.

    Weights and activations are read from far fewer pages then. The C library looks at the setting
    only when a process begins. What the user has set stays.
    """
    set_by_user = os.environ.get(TUNABLES, "")
    if HUGE_PAGES_TUNABLE in set_by_user or huge_pages() != "madvise":
        return
    os.environ[TUNABLES] = ":".join(filter(None, [set_by_user, f"{HUGE_PAGES_TUNABLE}=1"]))
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def huge_pages() -> str:
    """Who gets huge pages: 'always', 'madvise' (who asks) or 'never'; here nobody without Linux."""
    try:
        text = HUGE_PAGES.read_text()
    except OSError:
        return "never"
    return text[text.index("[") + 1 : text.index("]")]


def has_huge_pages() -> bool:
    """Whether this process has its memory in huge pages."""
    asked = f"{HUGE_PAGES_TUNABLE}=1" in os.environ.get(TUNABLES, "")
    return huge_pages() == "always" or (huge_pages() == "madvise" and asked)


def prepare(verbosity: int) -> None:
    """Sets the process up and imports TensorFlow; what the user has set stays as it is."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    os.environ.setdefault("TF_CPU_BFC_MEM_LIMIT_IN_MB", str(memory_mib()))
    if verbosity:
        import_tensorflow()
        return
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with quiet_stderr():
        import_tensorflow()


def memory_mib() -> int:
    """This machine's memory; TensorFlow's allocator stops at 64 GiB unless it is told."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20


def import_tensorflow() -> None:
    """Imports TensorFlow and lets it look for GPUs, which is when it complains of missing ones."""
    import tensorflow as tf

    tf.config.list_physical_devices()


def is_on(name: str) -> bool:
    """Whether one of the settings holds."""
    return os.environ.get(name, "0") not in OFF


@contextlib.contextmanager
def quiet_stderr() -> Iterator[None]:
    """Holds back what native code writes to standard error; an exception lets it out."""
    sys.stderr.flush()
    try:
        room = tempfile.TemporaryFile()
    except OSError:  # nowhere to hold it
        yield
        return
    saved = os.dup(2)
    with room as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
        except BaseException:
            os.dup2(saved, 2)
            held.seek(0)
            os.write(2, held.read())
            raise
        finally:
            os.dup2(saved, 2)
            os.close(saved)


def describe() -> str:
    """One line for the plan."""
    import tensorflow as tf

    onednn = "on" if is_on("TF_ENABLE_ONEDNN_OPTS") else "off"
    allocator = "TensorFlow's" if is_on("TF_CPU_ALLOCATOR_USE_BFC") else "the C library's"
    pages = " in huge pages" if has_huge_pages() else ""
    threads = tf.config.threading
    return (
        f"TensorFlow {tf.__version__}, oneDNN {onednn}, {allocator} allocator{pages}, threads: "
        f"{threads.get_intra_op_parallelism_threads()} within an operation, "
        f"{threads.get_inter_op_parallelism_threads()} operations at once"
    )
