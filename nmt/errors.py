"""What can go wrong once a run has begun, in one line with the way out."""

from __future__ import annotations


class UserError(Exception):
    """Something the user can put right before trying again."""


class Diverged(Exception):
    """The loss is not a number any more."""


class SaveFailed(Exception):
    """A checkpoint could not be written; those before are untouched."""
