"""All-reduce: every device gets the sum of all devices' tensors, by one of several ways.

    before          after
    device 0: a     a + b + c
    device 1: b     a + b + c
    device 2: c     a + b + c

Each element is summed once, in one order, and copied: all devices get the same bits.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Final

import tensorflow as tf

HOST: Final = "CPU:0"
NCCL_CALLS = itertools.count()

AllReduce = Callable[[list[tf.Tensor], Sequence[str], int], list[tf.Tensor]]
"""Sums flat tensors, one on each device; the number says in how many parts."""


def cut(flat: tf.Tensor, count: int) -> list[tf.Tensor]:
    """Nearly equal parts of a flat tensor; some are empty where it is shorter than `count`."""
    if count == 1:
        return [flat]
    size = flat.shape[0] if flat.shape[0] is not None else tf.shape(flat)[0]
    bounds = [size * part // count for part in range(count + 1)]
    return [flat[begin:end] for begin, end in itertools.pairwise(bounds)]


def join(parts: Sequence[tf.Tensor]) -> tf.Tensor:
    """The opposite of `cut`."""
    return parts[0] if len(parts) == 1 else tf.concat(parts, 0)


def copied(value: tf.Tensor, devices: Sequence[str]) -> list[tf.Tensor]:
    """One copy on each device."""
    copies = []
    for device in devices:
        with tf.device(device):
            copies.append(tf.identity(value))
    return copies


def by_parts(
    tensors: list[tf.Tensor], devices: Sequence[str], summers: Sequence[str], num_parts: int
) -> list[tf.Tensor]:
    """Cuts every tensor, sums each part on the next of `summers`, and brings the sums back."""
    cuts = []
    for tensor, device in zip(tensors, devices):
        with tf.device(device):
            cuts.append(cut(tensor, num_parts))
    sums = []
    for number, parts in enumerate(zip(*cuts)):
        with tf.device(summers[number % len(summers)]):
            sums.append(tf.add_n(list(parts)))
    joined = []
    for device in devices:
        with tf.device(device):
            joined.append(join([tf.identity(total) for total in sums]))
    return joined


def pscpu(tensors: list[tf.Tensor], devices: Sequence[str], num_parts: int) -> list[tf.Tensor]:
    """Sums on the host."""
    return by_parts(tensors, devices, [HOST], num_parts)


def psgpu(tensors: list[tf.Tensor], devices: Sequence[str], num_parts: int) -> list[tf.Tensor]:
    """Sums on the devices in turn; with as many parts as devices each sums its share."""
    return by_parts(tensors, devices, devices, num_parts)


def xring(tensors: list[tf.Tensor], devices: Sequence[str], num_parts: int) -> list[tf.Tensor]:
    """Sends chunks around a ring, twice: to add them up, then to spread the sums.

    Every device sends and receives 2 (N - 1) / N of the tensor, however many devices there are.
    """
    rings = zip(*(cut_on(device, tensor, num_parts) for device, tensor in zip(devices, tensors)))
    return joined_on(devices, [ring(list(parts), devices) for parts in rings])


def ring(tensors: list[tf.Tensor], devices: Sequence[str]) -> list[tf.Tensor]:
    """One ring over whole tensors."""
    count = len(devices)
    chunks = [cut_on(device, tensor, count) for device, tensor in zip(devices, tensors)]
    for step in range(count - 1):
        for chunk in range(count):  # chunk c starts on device c and has gone `step` places
            here, there = (chunk + step) % count, (chunk + step + 1) % count
            with tf.device(devices[there]):
                chunks[there][chunk] = chunks[there][chunk] + chunks[here][chunk]
    for step in range(count - 1):
        for chunk in range(count):  # now whole on the device before the one it started from
            here, there = (chunk + count - 1 + step) % count, (chunk + step) % count
            with tf.device(devices[there]):
                chunks[there][chunk] = tf.identity(chunks[here][chunk])
    return [join_on(device, parts) for device, parts in zip(devices, chunks)]


def rechd(tensors: list[tf.Tensor], devices: Sequence[str], num_parts: int) -> list[tf.Tensor]:
    """Recursive halving and doubling: log2 N exchanges with ever nearer, then farther partners.

    Devices beyond a power of two hand their tensor to one that takes part, and get the sum back.
    """
    count = 1 << (len(devices).bit_length() - 1)
    tensors = list(tensors)
    for extra in range(count, len(devices)):
        with tf.device(devices[extra - count]):
            tensors[extra - count] = tensors[extra - count] + tensors[extra]
    rings = zip(*(cut_on(d, t, num_parts) for d, t in zip(devices[:count], tensors)))
    sums = joined_on(devices[:count], [halve_and_double(list(p), devices[:count]) for p in rings])
    for extra in range(count, len(devices)):
        sums += copied(sums[extra - count], [devices[extra]])
    return sums


def halve_and_double(tensors: list[tf.Tensor], devices: Sequence[str]) -> list[tf.Tensor]:
    """Recursive halving and doubling between a power of two of devices."""
    count = len(devices)
    chunks = [cut_on(device, tensor, count) for device, tensor in zip(devices, tensors)]
    distances = [1 << bit for bit in reversed(range(count.bit_length() - 1))]
    for distance in distances:
        before = [list(parts) for parts in chunks]
        for device in range(count):
            for chunk in range(count):
                # After this exchange a device answers for half the chunks it answered for.
                if (chunk ^ device) < distance:
                    with tf.device(devices[device]):
                        total = before[device][chunk] + before[device ^ distance][chunk]
                        chunks[device][chunk] = total
    for distance in reversed(distances):
        for device in range(count):
            for chunk in range(count):
                if distance <= (chunk ^ device) < 2 * distance:
                    with tf.device(devices[device]):
                        chunks[device][chunk] = tf.identity(chunks[device ^ distance][chunk])
    return [join_on(device, parts) for device, parts in zip(devices, chunks)]


def hierarchical_copy(
    tensors: list[tf.Tensor], devices: Sequence[str], num_parts: int
) -> list[tf.Tensor]:
    """Sums within two halves of the devices, then between them: few slow links are crossed."""
    half = (len(devices) + 1) // 2
    groups = [(tensors[:half], devices[:half]), (tensors[half:], devices[half:])]
    partial = [by_parts(list(t), d, d[:1], num_parts)[0] for t, d in groups if d]
    leaders = [d[0] for _, d in groups if d]
    totals = psgpu(partial, leaders, num_parts)
    return [copy for total, (_, d) in zip(totals, groups) for copy in copied(total, d)]


def nccl(tensors: list[tf.Tensor], devices: Sequence[str], num_parts: int) -> list[tf.Tensor]:
    """NVIDIA's library: one operation on each GPU, directly between them."""
    del num_parts  # it cuts as it sees fit
    sums = []
    name = f"all_reduce_{next(NCCL_CALLS)}"  # the operations that belong together share a name
    for tensor, device in zip(tensors, devices):
        with tf.device(device):
            sums.append(
                tf.raw_ops.NcclAllReduce(
                    input=tensor, reduction="sum", num_devices=len(devices), shared_name=name
                )
            )
    return sums


def cut_on(device: str, tensor: tf.Tensor, count: int) -> list[tf.Tensor]:
    """Cuts a tensor where it is."""
    with tf.device(device):
        return cut(tensor, count)


def join_on(device: str, parts: Sequence[tf.Tensor]) -> tf.Tensor:
    """Joins parts on a device."""
    with tf.device(device):
        return join(list(parts))


def joined_on(devices: Sequence[str], parts: list[list[tf.Tensor]]) -> list[tf.Tensor]:
    """Joins what was reduced part by part, on every device."""
    return [join_on(device, mine) for device, mine in zip(devices, zip(*parts))]


ALGORITHMS: Final[dict[str, AllReduce]] = {
    "nccl": nccl,
    "xring": xring,
    "rechd": rechd,
    "pscpu": pscpu,
    "psgpu": psgpu,
    "hierarchical_copy": hierarchical_copy,
}


def over_the_host(devices: Sequence[str]) -> int:
    """Everyone but the host itself sends its tensor there and gets the sum back."""
    return 2 * sum(device != HOST for device in devices)


def between_all(devices: Sequence[str]) -> int:
    """However it is cut: N - 1 times to add up, N - 1 times to spread."""
    return 2 * (len(devices) - 1)


TRAFFIC: Final[dict[str, Callable[[Sequence[str]], int]]] = {
    name: over_the_host if name == "pscpu" else between_all for name in ALGORITHMS
}
"""How many times a tensor's size travels between devices."""
