"""The members of a zip or tar archive, of whatever compression, one after the other."""

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

from .untrusted import Limits, Refused, kind_of, short

ARCHIVES = (
    ".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2", ".tbz",
    ".rar", ".7z", ".gz", ".xz", ".bz2", ".zst",
)  # fmt: skip

# What the readers of Python raise for an archive that is damaged, cut short or of no kind that they know.
DAMAGED = (
    OSError,
    EOFError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    IndexError,
    KeyError,
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
)


@dataclass(frozen=True)
class Member:
    """One entry of an archive, of whatever kind."""

    name: str  # as the archive has it
    kind: str  # "file", "folder", or in words what else: "a symbolic link"
    size: int
    packed: int | None  # bytes in the archive, where the format says
    open: Callable[[], IO[bytes]]  # of a file, before the next member is asked for


def is_archive(name: str) -> bool:
    """Whether a file's name says that it is an archive, of a kind that can be read or not."""
    return name.lower().endswith(ARCHIVES)


def members_of(file: IO[bytes], limits: Limits) -> Iterator[Member]:
    """All members of an archive, told by its first bytes. Raises Refused, or one of DAMAGED."""
    head = file.read(8)
    file.seek(0)
    if head[:4] in (b"PK\3\4", b"PK\5\6"):
        return _zip_members(file)
    if head[:2] == b"\x1f\x8b":
        return _tar_members(gzip.GzipFile(fileobj=file), limits)
    if head[:3] == b"BZh":
        return _tar_members(bz2.BZ2File(file), limits)
    if head[:6] == b"\xfd7zXZ\0":
        return _tar_members(lzma.LZMAFile(file), limits)
    return _tar_members(file, limits)


def _zip_members(file: IO[bytes]) -> Iterator[Member]:
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            mode = info.external_attr >> 16
            kind = kind_of(mode) if stat.S_IFMT(mode) else "a file"
            if info.is_dir() or kind == "a folder":
                kind = "folder"
            name = info.orig_filename  # `filename` ends at the first NUL
            if info.flag_bits & 0x1 and kind != "folder":
                raise Refused(f"the member {short(name)} is encrypted")
            opener = _zip_opener(archive, info)
            kind = "file" if kind == "a file" else kind
            yield Member(name, kind, info.file_size, info.compress_size, opener)


def _zip_opener(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
    return lambda: archive.open(info)


def _tar_members(unpacked: IO[bytes] | io.BufferedIOBase, limits: Limits) -> Iterator[Member]:
    stream = _Limited(unpacked, limits.total_bytes)
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for info in archive:
            yield Member(info.name, _tar_kind(info), info.size, None, _tar_opener(archive, info))
    stream.drain()
    if stream.last.strip(b"\0"):
        raise Refused("is cut short: the end of a tar archive is missing")


def _tar_kind(info: tarfile.TarInfo) -> str:
    if info.issparse():
        return "a sparse file"
    kinds = (
        (info.isreg, "file"),
        (info.isdir, "folder"),
        (info.issym, "a symbolic link"),
        (info.islnk, "a hard link"),
        (info.isfifo, "a FIFO"),
        (info.isdev, "a device"),
    )
    return next((words for test, words in kinds if test()), "of an unknown type")


def _tar_opener(archive: tarfile.TarFile, info: tarfile.TarInfo) -> Callable[[], IO[bytes]]:
    def opened() -> IO[bytes]:
        file = archive.extractfile(info)
        if file is None:
            raise tarfile.ReadError("a file without content")
        return file

    return opened


class _Limited(io.RawIOBase):
    """What an archive unpacks to, as a stream that ends in a Refused once it is too long."""

    def __init__(self, file: IO[bytes] | io.BufferedIOBase, most: int) -> None:
        self._file = file
        self._most = most
        self._left = most + (1 << 20)  # headers and padding do not count as members' bytes
        self.last = b""  # the last block

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        content = self._file.read(size)
        self._left -= len(content)
        if self._left < 0:
            raise Refused(f"unpacks to more than {self._most:,} bytes")
        self.last = (self.last + content)[-512:]
        return content

    def drain(self) -> None:
        while self.read(64 * 1024):
            pass
