import re

import pytest

from variable_update import spec
from variable_update.spec import BadSpec, Range, Way


def test_one_way_for_all():
    assert spec.parse("xring") == (Range(float("inf"), Way("xring", 1)),)
    assert spec.parse("psgpu#4")[0].way == Way("psgpu", 4)


def test_small_gradients_may_take_another_way():
    found = spec.parse("pscpu:32k:xring#2:1M:rechd")
    for num_bytes, way in {
        0: Way("pscpu", 1),
        32 * 1024: Way("pscpu", 1),
        32 * 1024 + 1: Way("xring", 2),
        2**20: Way("xring", 2),
        2**20 + 1: Way("rechd", 1),
    }.items():
        assert spec.way_for(found, num_bytes) == way
    assert spec.describe(found) == "pscpu:32768:xring#2:1048576:rechd"
    assert spec.algorithms(found) == ["pscpu", "xring", "rechd"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ring", "names 'ring'; choose from: nccl, xring"),
        ("", "names ''; choose from"),
        ("nccl#2", "has 'nccl#2'; NCCL cuts as it sees fit, leave the number out"),
        ("xring#0", "has 'xring#0'; give 1 to 64 parts"),
        ("xring#1000000", "has 'xring#1000000'; give 1 to 64 parts"),
        ("pscpu:0:xring", "has the size 0, which no gradient has"),
        ("xring:1k:xring", "names xring on both sides of a size; name it once"),
        ("pscpu:32k", "ends with a size; name the way that larger gradients take"),
        ("pscpu:big:xring", "has the size 'big'; write it like 4096, 32k or 1m"),
        ("pscpu:2k:xring:1k:rechd", "has sizes that do not rise; order them"),
    ],
)
def test_what_cannot_be_read_is_said(text, message):
    with pytest.raises(BadSpec, match=re.escape(message)):
        spec.parse(text)
