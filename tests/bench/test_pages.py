"""Files are read from the disk when that is what is measured."""

import ctypes
import mmap
import os
from pathlib import Path

import pytest
from django.conf import settings

from inference.bench.engine_latency import forget_pages

PAGES = 64


def resident_pages(path: Path) -> int:
    with path.open("r+b") as stream, mmap.mmap(stream.fileno(), 0) as pages:
        vector = (ctypes.c_ubyte * PAGES)()
        view = (ctypes.c_char * len(pages)).from_buffer(pages)
        address = ctypes.c_void_p(ctypes.addressof(view))
        ctypes.CDLL(None).mincore(address, ctypes.c_size_t(len(pages)), vector)
        del view
        return sum(value & 1 for value in vector)


def test_a_file_leaves_the_page_cache() -> None:
    path = settings.ENV.home / "pages.test"
    try:
        with path.open("wb") as stream:
            stream.write(os.urandom(PAGES * mmap.PAGESIZE))
            stream.flush()
            os.fsync(stream.fileno())
        path.read_bytes()
        if resident_pages(path) < PAGES:
            pytest.skip("this file system keeps no pages")
        forget_pages([path])
        assert resident_pages(path) < PAGES // 2
    finally:
        path.unlink()
