from nmt.config import ModelConfig, OptimizerConfig, RunConfig, TrainConfig
from nmt.reporting.plan import describe, describe_keeping


def test_what_will_be_there_in_the_end_is_said_before():
    run = RunConfig(output_dir="out", save_every_steps=500, eval_every=1000)
    config = TrainConfig(run=run, optimizer=OptimizerConfig(ema_decay=0.99))
    assert describe_keeping(config) == (
        "checkpoints in out every 500 steps, every 10 minutes, at the end; the best of evaluations "
        "every 1,000 steps; a moving average of the weights (decay 0.99)"
    )
    never = TrainConfig(run=RunConfig(output_dir="out", save_every_minutes=0))
    assert describe_keeping(never) == "checkpoints in out at the end"


def test_layers_of_two_directions_are_counted_once():
    model = ModelConfig(direction="bi", num_encoder_layers=4, attention="luong")
    said = "dynamic_rnn encoder, 2 bidirectional + 4 layers of 512 units, luong attention"
    assert describe(model) == said
    assert describe(ModelConfig()) == "dynamic_rnn encoder, 4 + 4 layers of 512 units"
