"""The command lines of the reports this project comes from, letter for letter."""

import shlex

import pytest

from nmt import checks, flags
from tests.test_train import SMALL, train

LINES = {
    "parameter server, cudnn_lstm": """
        --batch_size=360 \\
        --encoder_type="cudnn_lstm" \\
        --direction="bi" \\
        --prefetch_data_to_device="true" \\
        --variable_update="parameter_server" \\
    """,
    "parameter server, dynamic_rnn": """
        --batch_size=360 \\
        --prefetch_data_to_device="true" \\
        --variable_update="parameter_server" \\
    """,
    "all-reduce": """
        --batch_size=360 \\
        --variable_update="replicated" \\
        --prefetch_data_to_device="true" \\
        --gradient_repacking=4 \\
        --all_reduce_spec="nccl" \\
        --agg_small_grads_max_bytes=0 \\
        --agg_small_grads_max_group=10 \\
    """,
    "independent, cudnn_lstm": """
        --batch_size=360 \\
        --variable_update="replicated" \\
        --independent_replica="true" \\
        --src_max_len=100 \\
        --use_synthetic_data="true" \\
        --direction="bi" \\
        --encoder_type="cudnn_lstm" \\
    """,
    "independent, dynamic_rnn": """
        --batch_size=360 \\
        --variable_update="replicated" \\
        --independent_replica="true" \\
        --use_synthetic_data="true" \\
        --src_max_len=100 \\
    """,
}


def words(name):
    return shlex.split(LINES[name].replace("\\\n", " "))


@pytest.mark.parametrize("name", LINES)
def test_a_line_is_understood(name):
    config, problems = flags.parse(words(name))
    assert problems + checks.find_problems(config) == []
    assert config.data.batch_size == 360


@pytest.mark.parametrize("name", LINES)
def test_a_line_runs(name):
    # Later flags win: the same line with a model and batches that two cores train in seconds.
    run = train(*words(name), *SMALL, "--src_max_len=12", "--num_replicas=2")
    assert (run.returncode, run.stderr) == (0, "")
    assert "|2|8|" in run.stdout
    if name == "all-reduce":
        # One gradient of so small a model is larger than a quarter of them all.
        assert "all-reduce pscpu (nccl needs GPUs), gradients in 3 packs" in run.stdout
