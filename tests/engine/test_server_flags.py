"""What the engine is started with on a GPU."""

import pytest

from inference.engine.server import GPU_SHARE, gpu_flags

GIB = 1 << 30


def value(flags: list[str], name: str) -> str:
    return flags[flags.index(name) + 1]


def test_the_arena_is_taken_off_vllms_share_of_the_gpu() -> None:
    flags = gpu_flags(80 * GIB, arena_bytes=8 * GIB, cores=16)
    assert float(value(flags, "--gpu-memory-utilization")) == pytest.approx(GPU_SHARE - 0.1)


def test_an_arena_that_leaves_no_room_for_the_model_is_refused() -> None:
    with pytest.raises(ValueError, match="leaves too little"):
        gpu_flags(16 * GIB, arena_bytes=12 * GIB, cores=16)


@pytest.mark.parametrize(("cores", "servers"), [(1, "1"), (8, "2"), (64, "4")])
def test_api_servers_are_as_many_as_the_cores_carry(cores: int, servers: str) -> None:
    assert value(gpu_flags(80 * GIB, arena_bytes=GIB, cores=cores), "--api-server-count") == servers
