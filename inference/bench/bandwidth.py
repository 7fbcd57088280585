"""How fast this machine moves bytes: the floor that injection and decoding are held against."""

from time import perf_counter

from inference.bench.results import Row

COPY_BYTES = 1 << 30
REPEATS = 20


def bandwidth() -> Row:
    """Bytes moved a second; a copy on the device counts twice, for it reads and writes. Empty without a CUDA device."""
    import torch

    if not torch.cuda.is_available():
        return {}
    source = torch.empty(COPY_BYTES, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    host = torch.empty(COPY_BYTES, dtype=torch.uint8, pin_memory=True)
    row: Row = {
        "kind": "bandwidth",
        "device_copy_bytes_per_s": 2 * _bytes_per_second(source, target),
        "host_to_device_bytes_per_s": _bytes_per_second(host, target),
    }
    del source, target, host
    torch.cuda.empty_cache()
    return row


def _bytes_per_second(source: "torch.Tensor", target: "torch.Tensor") -> int:  # type: ignore[name-defined]  # noqa: F821
    import torch

    target.copy_(source, non_blocking=True)
    torch.cuda.synchronize()
    started = perf_counter()
    for _ in range(REPEATS):
        target.copy_(source, non_blocking=True)
    torch.cuda.synchronize()
    return int(source.numel() * REPEATS / (perf_counter() - started))
