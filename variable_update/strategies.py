"""The table of strategies."""

from __future__ import annotations

from typing import Final

from variable_update.base import VariableUpdate
from variable_update.independent import Independent
from variable_update.parameter_server import ParameterServer
from variable_update.replicated import Replicated

STRATEGIES: Final[dict[str, type[VariableUpdate]]] = {
    strategy.name: strategy for strategy in (ParameterServer, Replicated, Independent)
}
