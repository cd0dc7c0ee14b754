"""How much a submission may be, and the refusal of what is more or otherwise not taken."""

from dataclasses import dataclass

_MEGABYTE = 1 << 20


class Refused(Exception):  # noqa: N818 - a decision, not a mishap
    """Why something was not taken, in a sentence that names the archive and the member."""


@dataclass(frozen=True)
class Limits:
    """Generous for kernels, small for a machine."""

    archive_bytes: int = 32 * _MEGABYTE
    total_bytes: int = 64 * _MEGABYTE  # unpacked
    members: int = 2000
    ratio: int = 200  # of unpacked to packed bytes, from 1 MiB on
    name_length: int = 4096  # characters: as long as a path can be
    depth: int = 16  # folders in each other
    file_bytes: int = _MEGABYTE  # one kernel; what is longer is left out, the rest is taken
    kernels: int = 200  # in one archive, and in a whole submission, as are total_bytes of them
    archives: int = 20  # in a submission
    seconds: int = 20  # of computing, to unpack all archives of a submission


LIMITS = Limits()
