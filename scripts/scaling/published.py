"""Words/s on 1 to 8 GPUs as published, to be shown beside what is measured here.

Source: the report "Optimized I/O pipeline" of github.com/lcy-seso/dl_framework, directory
tensorflow/data_parallelism_for_nmt, commit 636a8d8; batch 360 for each GPU, WMT14 English-German
(independent replicas: synthetic data, 100 words).
"""

from __future__ import annotations

from typing import Final

SOURCE: Final = "github.com/lcy-seso/dl_framework, data_parallelism_for_nmt, commit 636a8d8"

# fmt: off
WORDS_PER_S: Final[dict[tuple[str, str], tuple[float, ...]]] = {
    ("parameter_server", "cudnn_lstm"): (
        50007.279, 92236.723, 127377.172, 156508.555,
        190614.737, 220829.452, 234614.995, 274915.239,
    ),
    ("parameter_server", "dynamic_rnn"): (
        38048.046, 69053.092, 95543.591, 120588.115,
        140838.851, 158656.805, 176083.321, 188651.349,
    ),
    ("replicated", "dynamic_rnn"): (
        37460.412, 67175.406, 91681.983, 112202.447,
        129761.878, 136668.138, 143680.666, 151700.671,
    ),
    ("independent", "cudnn_lstm"): (
        51046.074, 93790.686, 133520.790, 175351.156,
        216412.574, 238642.350, 279107.499, 309930.493,
    ),
    ("independent", "dynamic_rnn"): (
        39368.756, 71252.362, 100546.336, 127116.260,
        149338.599, 168780.420, 184857.154, 206795.206,
    ),
}
# fmt: on
