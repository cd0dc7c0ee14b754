"""The shape of a launch."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LaunchShape:
    """The launch shape, as between <<< and >>>."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int = 0  # bytes of dynamic shared memory a block

    @property
    def blocks(self) -> int:
        """In the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def block_threads(self) -> int:
        """In a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def threads(self) -> int:
        """In the grid."""
        return self.blocks * self.block_threads
