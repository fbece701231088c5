import pytest

from nmt.machine import devices
from nmt.machine.devices import threads


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


def test_gpus_that_tensorflow_cannot_use_are_counted_unless_they_are_hidden(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(devices.Path, "glob", lambda *_: ["/dev/nvidia0", "/dev/nvidia1"])
    monkeypatch.setattr(devices, "num_gpus", lambda: 0)
    assert devices.unused_gpus() == 2
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert devices.unused_gpus() == 0
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    monkeypatch.setattr(devices, "num_gpus", lambda: 1)
    assert devices.unused_gpus() == 0
