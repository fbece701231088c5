import os
import threading

from nmt.reporting.output import Outlived


def test_a_full_pipe_that_may_not_be_waited_for_is_waited_for():
    """Whoever started the program may have made it so."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    data, found = b"x" * 500_000, []

    def read():
        while part := os.read(reading, 65_536):
            found.append(part)

    reader = threading.Timer(0.2, read)
    reader.start()
    rest = memoryview(data)
    with Outlived(writing, "w") as out:
        while rest:
            rest = rest[out.write(rest) :]
    reader.join()
    os.close(reading)
    assert b"".join(found) == data
