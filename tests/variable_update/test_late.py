import subprocess
import sys

SAME_STEPS_AGAIN_AND_AGAIN = """
from nmt.machine import devices, environment
from nmt.config import OptimizerConfig, ParallelConfig
environment.prepare(verbosity=0)
import tensorflow as tf
from tests import small
devices.configure(ParallelConfig(num_replicas=3))
adam = OptimizerConfig(optimizer="adam", learning_rate=0.01)
trainer = small.trainer("replicated", 3, optimizer=adam, relaxed=True)
batches = tuple(small.batch([5, 1, 3], [2, 6, 4], seed=seed) for seed in range(3))
trainer.train_step(batches)
copies, held = trainer.strategy.copies, trainer.strategy.late.held
state = [trainer.step, *(variable for copy in copies for variable in copy.state())]
state += tf.nest.flatten(held)
before = [variable.numpy().copy() for variable in state]
found = set()
for _ in range(40):
    for variable, value in zip(state, before):
        variable.assign(value)
    for _ in range(3):
        trainer.train_step(batches)
    found.add(b"".join(value.tobytes() for value in small.values(trainer)))
print(len(found))
"""


def test_late_gradients_are_added_in_one_order():
    """It was chance once: TensorFlow adds what nobody else holds in another order.

    A process of its own has the threads that replicas have.
    """
    command = [sys.executable, "-c", SAME_STEPS_AGAIN_AND_AGAIN]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
