"""Blobs resident in host memory. Owned by a worker half, which only executes what the scheduler half decides."""

from memory.blob import Blob


class HostTier:
    def __init__(self) -> None:
        self._blobs: dict[str, Blob] = {}
        self.nbytes = 0

    def __len__(self) -> int:
        return len(self._blobs)

    def put(self, blob: Blob) -> None:
        self.drop(blob.key)
        self._blobs[blob.key] = blob
        self.nbytes += blob.nbytes

    def get(self, key: str) -> Blob:
        """Raises KeyError: the scheduler half promised a blob that is not resident."""
        return self._blobs[key]

    def drop(self, key: str) -> None:
        if blob := self._blobs.pop(key, None):
            self.nbytes -= blob.nbytes

    def check_integrity(self) -> None:
        if self.nbytes != sum(blob.nbytes for blob in self._blobs.values()):
            raise AssertionError("host tier: byte count differs from what is held")
