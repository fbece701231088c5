"""Which dataset the flags mean, found without TensorFlow."""

from __future__ import annotations

from input_pipeline import wmt14
from nmt.config import DataConfig


def dataset_of(config: DataConfig) -> str:
    """The dataset that is read, 'auto' resolved."""
    if config.use_synthetic_data:
        return "synthetic"
    if config.dataset != "auto":
        return config.dataset
    if config.src_file_name or config.tgt_file_name:
        return "files"
    # A directory that was named, or begun, is meant to be used: that it is not whole is an error.
    return "wmt14" if config.data_dir or wmt14.is_there(config.data_dir) else "demo"
