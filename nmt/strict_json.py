"""JSON that every program reads: it has no infinity, and nothing that is no number."""

from __future__ import annotations

import json
import math
from typing import Any


def dumps(value: Any, indent: int | None = None) -> str:
    """The value as text, with null for what JSON has no number for."""
    return json.dumps(plain(value), indent=indent, allow_nan=False)


def plain(value: Any) -> Any:
    """The same with None for what is no number."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
