"""What must be arranged before TensorFlow is imported; its start-up messages are held back."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
import tempfile
from collections.abc import Iterator
from typing import Final

# glibc gives large buffers back to the system and faults them in again at every step. Each setting
# is named as the environment variable that sets it from outside, with mallopt's number and value.
KEEP_MEMORY: Final = {
    "MALLOC_MMAP_MAX_": (-4, 0),
    "MALLOC_TRIM_THRESHOLD_": (-1, -1),
    "MALLOC_TOP_PAD_": (-2, 256 << 20),
}


def prepare(verbosity: int) -> None:
    """Sets the process up and imports TensorFlow; what the user has set stays as it is."""
    # TensorFlow leaves oneDNN off on CPUs without AVX512-VNNI, where it gains too.
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
    keep_memory()
    if verbosity:
        import_tensorflow()
        return
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with quiet_stderr():
        import_tensorflow()


def import_tensorflow() -> None:
    """Imports TensorFlow and lets it look for GPUs, which is when it complains of missing ones."""
    import tensorflow as tf

    tf.config.list_physical_devices()


@functools.cache
def keep_memory() -> bool:
    """Tells glibc to keep freed memory for the next step; False where there is no glibc."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    ours = [KEEP_MEMORY[name] for name in KEEP_MEMORY if name not in os.environ]
    return mallopt is not None and all(mallopt(*setting) for setting in ours)


def allocator() -> str:
    """What was done about freed memory."""
    own = [name for name in KEEP_MEMORY if name in os.environ]
    text = "freed memory kept" if keep_memory() else "allocator as it is"
    return f"{text} ({', '.join(own)} as you set it)" if own else text


@contextlib.contextmanager
def quiet_stderr() -> Iterator[None]:
    """Holds back what native code writes to standard error; an exception lets it out."""
    sys.stderr.flush()
    saved = os.dup(2)
    with tempfile.TemporaryFile() as held:
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

    onednn = "off" if os.environ.get("TF_ENABLE_ONEDNN_OPTS") in ("0", "false") else "on"
    threads = tf.config.threading
    return (
        f"TensorFlow {tf.__version__}, oneDNN {onednn}, {allocator()}, threads: "
        f"{threads.get_intra_op_parallelism_threads()} within an operation, "
        f"{threads.get_inter_op_parallelism_threads()} operations at once"
    )
