"""Ending with the process that started this one, however that ends. Linux only; elsewhere its exit paths must do."""

import ctypes
import signal
import sys

PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
