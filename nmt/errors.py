"""Mistakes that only show once a run has begun."""

from __future__ import annotations


class UserError(Exception):
    """Something the user can put right; the message is one line with the way out."""
