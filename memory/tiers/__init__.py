"""Where a host keeps blobs between disk and the model: arenas of rows, and the books of what lies in which row."""
