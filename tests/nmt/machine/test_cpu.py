import os

from nmt.machine import cpu


def test_features_and_name_are_read_from_what_the_system_says(monkeypatch):
    said = "".join(
        f"processor\t: {core}\nmodel name\t: Quick 9\nflags\t\t: fpu avx2 avx512f\n\n"
        for core in range(2)
    )
    monkeypatch.setattr(cpu, "description", lambda: said)
    assert {"avx2", "avx512f"} <= cpu.features()
    assert "avx512_bf16" not in cpu.features()
    assert cpu.name() == "Quick 9 x 2"


def test_a_system_that_says_nothing_has_a_name_all_the_same(monkeypatch):
    monkeypatch.setattr(cpu, "description", lambda: "")
    assert cpu.name().endswith(" x 1")
    assert not cpu.features()


def test_cores_are_those_this_process_may_use():
    assert 1 <= cpu.num_cores() <= (os.cpu_count() or 1)
