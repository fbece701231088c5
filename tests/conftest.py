"""Eight logical CPU devices for every test, and no file of the user's, set before all else."""

import os
import shutil
import tempfile

from nmt.machine import environment

NUM_DEVICES = 8


def pytest_configure(config):
    home = tempfile.mkdtemp(prefix="nmt-tests-")
    config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))
    os.environ["XDG_CACHE_HOME"] = os.path.join(home, "cache")
    os.environ["TFDS_DATA_DIR"] = os.path.join(home, "tensorflow_datasets")
    environment.prepare(verbosity=0)
    import tensorflow as tf

    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration() for _ in range(NUM_DEVICES)]
    )
    tf.config.threading.set_inter_op_parallelism_threads(NUM_DEVICES + 1)
