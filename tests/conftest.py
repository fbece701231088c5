"""Eight logical CPU devices for every test, set before TensorFlow is first used."""

from nmt import environment

NUM_DEVICES = 8


def pytest_configure(config):
    environment.prepare(verbosity=0)
    import tensorflow as tf

    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration() for _ in range(NUM_DEVICES)]
    )
    tf.config.threading.set_inter_op_parallelism_threads(NUM_DEVICES + 1)
