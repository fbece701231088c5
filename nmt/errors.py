"""What can go wrong once a run has begun, in one line with the way out."""

from __future__ import annotations


class UserError(Exception):
    """Something the user can put right before trying again."""


class MemoryShort(UserError):
    """A batch does not fit into memory."""


class Diverged(Exception):
    """A step's loss or gradient is not a number any more."""

    def __init__(self, said: str, step: int, *, loss_is_number: bool) -> None:
        super().__init__(said)
        self.step = step
        self.loss_is_number = loss_is_number  # then only its gradient is none


class SaveFailed(Exception):
    """A checkpoint could not be written; those before are untouched."""


def reason(error: Exception) -> str:
    """Why something failed, in a few words; TensorFlow's own errors have many lines."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(getattr(error, "message", error)).splitlines()[0]
