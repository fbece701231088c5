"""Small corpora for tests, made on the spot."""

import json

import tensorflow as tf

from input_pipeline.corpus import Pair
from input_pipeline.demo.corpus import generate


def make_pairs(count=103):
    """Every source is its own number followed by filler, so that sentences can be told apart."""
    return [
        Pair(" ".join([f"n{i}"] + ["x"] * (i % 7)), " ".join(["y"] * (1 + i % 5)))
        for i in range(count)
    ]


def prose(count=400):
    """Pairs with something to cut into pieces."""
    return generate(num_train=count, num_dev=0, num_test=0).train


def write_files(directory, pairs, name="train"):
    """Two files, one sentence a line; gives their paths."""
    paths = directory / f"{name}.en", directory / f"{name}.de"
    for path, side in zip(paths, zip(*pairs)):
        path.write_text("".join(f"{line}\n" for line in side))
    return paths


def prepare_wmt14(data_dir, pairs):
    """A directory as tensorflow-datasets leaves it, with the same pairs in every split."""
    directory = data_dir / "wmt14_translate" / "de-en" / "1.0.0"
    directory.mkdir(parents=True)
    splits = []
    for split in ("train", "validation", "test"):
        path = directory / f"wmt14_translate-{split}.tfrecord-00000-of-00001"
        with tf.io.TFRecordWriter(str(path)) as writer:
            for source, target in pairs:
                writer.write(example(en=source, de=target))
        template = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}"
        lengths = [str(len(pairs))]
        splits.append({"filepathTemplate": template, "name": split, "shardLengths": lengths})
    info = {"name": "wmt14_translate", "version": "1.0.0", "fileFormat": "tfrecord"}
    (directory / "dataset_info.json").write_text(json.dumps({**info, "splits": splits}))
    features = "tensorflow_datasets.core.features.translation_feature.Translation"
    languages = {"languages": ["de", "en"]}
    described = {"pythonClassName": features, "translation": languages}
    (directory / "features.json").write_text(json.dumps(described))
    return directory


def example(**texts):
    """A serialised tf.train.Example of strings."""
    features = {
        name: tf.train.Feature(bytes_list=tf.train.BytesList(value=[text.encode()]))
        for name, text in texts.items()
    }
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
