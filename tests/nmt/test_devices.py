import pytest

from nmt.devices import threads


@pytest.mark.parametrize(
    ("num_replicas", "cores", "gpu", "expected"),
    [
        (1, 4, False, (4, 4)),
        (2, 8, False, (4, 8)),  # each replica's operations have their share of the cores
        (8, 2, False, (1, 2)),
        (8, 4, True, (4, 9)),  # a GPU's replicas only start kernels; none waits for a thread
        (2, 16, True, (16, 16)),
    ],
)
def test_replicas_on_a_cpu_share_its_cores(num_replicas, cores, gpu, expected):
    assert threads(num_replicas, cores, gpu=gpu) == expected
