import pytest

from nmt.measuring import flops
from tests import small


def test_only_matrices_that_words_pass_count():
    """Two layers of 8 units each, embeddings of 6 numbers."""
    specs = small.model().specs
    layers = (6 + 8) * 32 + (8 + 8) * 32
    assert flops.model_flops(specs, 1.0, 0.0) == 6 * layers
    assert flops.model_flops(specs, 0.0, 1.0) == 6 * (layers + 8 * small.SIZES.target)
    assert flops.model_flops(specs, 10.0, 20.0) == pytest.approx(
        10 * flops.model_flops(specs, 1.0, 0.0) + 20 * flops.model_flops(specs, 0.0, 1.0)
    )


def test_attention_and_a_tied_projection_count():
    plain = small.model(embedding_dim=8)
    richer = small.model(embedding_dim=8, tied_embeddings=True, attention="bahdanau")
    more = [
        flops.model_flops(richer.specs, *words) - flops.model_flops(plain.specs, *words)
        for words in ((1.0, 0.0), (0.0, 1.0))
    ]
    assert more == [6 * 8 * 8, 6 * (8 * 8 + 16 * 8)]


def test_the_machine_multiplies_at_a_rate_a_machine_has():
    assert 1e9 < flops.matmul_flops_per_s(["CPU:0"]) < 1e14
