"""The table of LSTM implementations, by encoder type and kind of device."""

from __future__ import annotations

from typing import Final

from nmt.network.lstm import cudnn, dynamic, scan
from nmt.network.lstm.layers import RunStack

STACKS: Final[dict[tuple[str, str], RunStack]] = {
    ("dynamic_rnn", "CPU"): dynamic.run_stack,
    ("dynamic_rnn", "GPU"): dynamic.run_stack,
    ("cudnn_lstm", "CPU"): scan.run_stack,
    ("cudnn_lstm", "GPU"): cudnn.run_stack,
}
