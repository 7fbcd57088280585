"""What ends a measurement with a message instead of a traceback."""


class BenchError(RuntimeError):
    """The message says what to change."""
