import pytest

from nmt import flags
from nmt.config import TrainConfig


def problems(*argv):
    return flags.parse(argv)[1]


def test_no_flags_give_the_defaults():
    assert flags.parse([]) == (TrainConfig(), [])


def test_every_field_is_a_flag_with_help_under_one_name():
    names = [field.name for field in flags.TRAIN.fields()]
    assert len(names) == len(set(names))
    text = flags.TRAIN.help_text()
    for field in flags.TRAIN.fields():
        assert field.option.help
        assert field.name in text


def test_values_reach_the_configuration_in_all_of_absls_spellings(tmp_path):
    (tmp_path / "more.flags").write_text("--num_units=32\n# a comment\n--optimizer=sgd\n")
    argv = ["--batch_size=7", "--direction", "bi", "--independent_replica=true", "--noevaluate"]
    config, found = flags.parse([*argv, f"--flagfile={tmp_path / 'more.flags'}"])
    assert found == []
    assert (config.data.batch_size, config.model.direction) == (7, "bi")
    assert (config.model.num_units, config.optimizer.optimizer) == (32, "sgd")
    assert config.parallel.strategy == "independent"


@pytest.mark.parametrize(
    ("argument", "sentence"),
    [
        ("--batch_size=x", "--batch_size=x cannot be used; give a whole number"),
        ("--batch_size=0", "--batch_size=0 cannot be used; give at least 1"),
        ("--num_units=-3", "--num_units=-3 cannot be used; give at least 1"),
        ("--learning_rate=nan", "--learning_rate=nan cannot be used; give a number"),
        ("--learning_rate=0", "--learning_rate=0 cannot be used; give more than 0"),
        ("--dropout=1", "--dropout=1 cannot be used; give less than 1"),
        ("--decay_rate=1.5", "--decay_rate=1.5 cannot be used; give at most 1"),
        ("--direction=tri", "--direction=tri cannot be used; choose one of: uni, bi"),
        ("--evaluate=perhaps", "--evaluate=perhaps cannot be used; give true or false"),
        ("--bach_size=3", "--bach_size is not known; did you mean --batch_size?"),
        ("--zzz", "--zzz is not known; see --help"),
        ("--num_gpus=2", "--num_gpus is not known; did you mean --num_replicas?"),
        ("--save_every_m=2", "--save_every_m is not known; did you mean --save_every_minutes?"),
        ("--smoothing=0.1", "--smoothing is not known; did you mean --label_smoothing?"),
        ("--flagfile=", "--flagfile= names no file; name one, or leave it out"),
        ("--num_units=" + "9" * 20, f"--num_units={'9' * 20} cannot be used; give at most 65,536"),
        (
            f"--num_batches={2**31}",
            f"--num_batches={2**31} cannot be used; give at most 2,147,483,647",
        ),
        (
            "--output_dir=--evaluate",
            "--output_dir=--evaluate cannot be used; give a value that is no flag",
        ),
        ("bi", "'bi' is not a flag; write --name=value"),
    ],
)
def test_a_mistake_gets_one_sentence_with_the_way_out(argument, sentence):
    assert problems(argument) == [sentence]


def test_all_mistakes_are_reported_at_once():
    found = problems("--batch_size=x", "--bach_size=3", "--direction=tri", "--num_batches=0")
    assert len(found) == 4


@pytest.mark.parametrize(
    "argv",
    [
        ["--batch_size=0", "--flagfile=nowhere", "--direction=tri"],
        ["--batch_size=0", "--noevaluate=true", "--num_units"],
        ["--", "--batch_size=3", "--num_units"],
    ],
)
def test_what_absl_cannot_read_hides_no_other_mistake(argv):
    assert len(problems(*argv)) == 3


def test_a_flagfile_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (found,) = problems(f"--flagfile={tmp_path / 'binary'}")
    assert "not a text file" in found


def test_a_rejected_value_leaves_the_default():
    assert flags.parse(["--batch_size=x"])[0] == TrainConfig()


def test_a_missing_flagfile_is_named():
    (found,) = problems("--flagfile=nowhere.flags")
    assert "nowhere.flags" in found


def test_a_flag_without_its_value_is_named():
    (found,) = problems("--batch_size")
    assert "batch_size" in found


def test_help_is_answered():
    with pytest.raises(flags.HelpRequested, match="--batch_size=64"):
        flags.parse(["--help"])
