"""Submissions that no honest student makes: each function writes one and returns what must become of it."""

import bz2
import gzip
import io
import lzma
import os
import random
import struct
import tarfile
import warnings
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ZEROS = bytes(1 << 20)


@dataclass
class Expected:
    """What must become of one student's submission."""

    trouble: str = ""  # of the submission as a whole: REJECT
    chapters: dict[str, list[str]] = field(
        default_factory=dict
    )  # verdicts allowed; MISSING where none is named


REFUSED = Expected("REJECT")
Kernels = Mapping[str, bytes]  # by chapter: right ones
Writer = Callable[[Path, Kernels, Path], Expected]  # the student's place without an ending; a canary's path


def zip_of(path: Path, members: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def tar_of(path: Path, members: Mapping[str, bytes], *odd: tarfile.TarInfo, mode: str = "w:gz") -> None:
    with tarfile.open(path, mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for info in odd:
            archive.addfile(info)


def kernels_as(kernels: Kernels) -> dict[str, bytes]:
    return {f"{chapter}_x/kernel.cu": content for chapter, content in kernels.items()}


def passed(kernels: Kernels) -> Expected:
    return Expected(chapters={chapter: ["PASS"] for chapter in kernels})


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


# ---- Bombs -----------------------------------------------------------------------------------------------------


def zip_bomb(place: Path, kernels: Kernels, canary: Path) -> Expected:
    with zipfile.ZipFile(place.with_suffix(".zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in kernels_as(kernels).items():
            archive.writestr(name, content)
        with archive.open("notes.txt", "w", force_zip64=True) as member:
            for _ in range(66):
                member.write(ZEROS)
    return REFUSED


def bomb_in_a_kernel(place: Path, kernels: Kernels, canary: Path) -> Expected:
    zip_of(place.with_suffix(".zip"), {"ch01.cu": 40 * ZEROS})
    return REFUSED


def gzip_bomb(place: Path, kernels: Kernels, canary: Path) -> Expected:
    info = tarfile.TarInfo("ch01.cu")
    info.size = 66 << 20
    with gzip.open(place.with_suffix(".tar.gz"), "wb") as file:
        file.write(info.tobuf())
        for _ in range(66):
            file.write(ZEROS)
    return REFUSED


def bzip2_bomb(place: Path, kernels: Kernels, canary: Path) -> Expected:
    place.with_suffix(".tar.bz2").write_bytes(bz2.compress(66 * ZEROS))
    return REFUSED


def xz_bomb(place: Path, kernels: Kernels, canary: Path) -> Expected:
    place.with_suffix(".tar.xz").write_bytes(lzma.compress(66 * ZEROS, preset=1))
    return REFUSED


def xz_that_wants_memory(place: Path, kernels: Kernels, canary: Path) -> Expected:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        info = tarfile.TarInfo("ch01.cu")
        info.size = 10
        archive.addfile(info, io.BytesIO(b"0123456789"))
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 16, "preset": 0}]
    packed = bytearray(lzma.compress(content.getvalue(), check=lzma.CHECK_NONE, filters=filters))
    # The block header: size, flags, filter 0x21 with one byte of properties: 40 means 4 GiB of dictionary.
    at = packed.index(b"\x21\x01", 12) + 2
    packed[at] = 40
    header_size = (packed[12] + 1) * 4
    packed[12 + header_size - 4 : 12 + header_size] = struct.pack(
        "<I", zlib.crc32(bytes(packed[12 : 12 + header_size - 4]))
    )
    place.with_suffix(".tar.xz").write_bytes(packed)
    return REFUSED


def nested_bomb(place: Path, kernels: Kernels, canary: Path) -> Expected:
    content = ZEROS
    for level in range(6):
        inner = io.BytesIO()
        with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
            for copy in range(8):
                archive.writestr(f"{level}{copy}.zip", content)
        content = inner.getvalue()
    place.with_suffix(".zip").write_bytes(content)
    return Expected()  # an archive in an archive is not opened, and there is nothing else


def huge_pax_header(place: Path, kernels: Kernels, canary: Path) -> Expected:
    with tarfile.open(place.with_suffix(".tar.xz"), "w:xz", format=tarfile.PAX_FORMAT, preset=0) as archive:
        info = tarfile.TarInfo("ch01.cu")
        info.pax_headers = {"comment": "x" * (66 << 20)}
        archive.addfile(info)
    return REFUSED


def ten_thousand_members(place: Path, kernels: Kernels, canary: Path) -> Expected:
    zip_of(place.with_suffix(".zip"), {f"{number}.txt": b"" for number in range(10_000)})
    return REFUSED


def ten_thousand_files(place: Path, kernels: Kernels, canary: Path) -> Expected:
    place.mkdir()
    for number in range(10_000):
        (place / f"{number}.cu").touch()
    return REFUSED


def many_archives(place: Path, kernels: Kernels, canary: Path) -> Expected:
    place.mkdir()
    for number in range(30):
        zip_of(place / f"{number}.zip", {"notes": b"an archive takes a separate process"})
    return REFUSED


def many_kernels(place: Path, kernels: Kernels, canary: Path) -> Expected:
    place.mkdir()
    for number in range(201):
        (place / f"ch01_{number}.cu").touch()
    return REFUSED


def many_large_kernels(place: Path, kernels: Kernels, canary: Path) -> Expected:
    place.mkdir()
    for number in range(66):
        (place / f"ch01_{number}.cu").touch()
        os.truncate(place / f"ch01_{number}.cu", len(ZEROS))
    return REFUSED


def many_kernels_in_archives(place: Path, kernels: Kernels, canary: Path) -> Expected:
    place.mkdir()
    for number in range(3):
        zip_of(place / f"{number}.zip", {f"ch01_{other}.cu": b"" for other in range(70)})
    return REFUSED


# ---- Paths and kinds -------------------------------------------------------------------------------------------


def leads_out(place: Path, kernels: Kernels, canary: Path) -> Expected:
    zip_of(place.with_suffix(".zip"), kernels_as(kernels) | {f"../../../{canary.name}": b"out"})
    return REFUSED


def leads_out_by_backslash(place: Path, kernels: Kernels, canary: Path) -> Expected:
    zip_of(place.with_suffix(".zip"), kernels_as(kernels) | {"ch01\\..\\..\\kernel.cu": b"out"})
    return REFUSED


def absolute_in_tar(place: Path, kernels: Kernels, canary: Path) -> Expected:
    tar_of(place.with_suffix(".tar.gz"), kernels_as(kernels) | {str(canary): b"out"})
    return REFUSED


def absolute_in_zip(place: Path, kernels: Kernels, canary: Path) -> Expected:
    zip_of(place.with_suffix(".zip"), {str(canary.with_suffix(".cu")): b"out"})
    return REFUSED


def nul_in_a_name(place: Path, kernels: Kernels, canary: Path) -> Expected:
    path = place.with_suffix(".zip")
    zip_of(path, {"ch01.cuX/kernel": b"out"})
    path.write_bytes(path.read_bytes().replace(b"ch01.cuX", b"ch01.cu\0"))
    return REFUSED


def symbolic_link(place: Path, kernels: Kernels, canary: Path) -> Expected:
    tar_of(place.with_suffix(".tar.gz"), {}, special("ch01/kernel.cu", tarfile.SYMTYPE, "/etc/passwd"))
    return REFUSED


def link_then_through_it(place: Path, kernels: Kernels, canary: Path) -> Expected:
    link = special("ch01", tarfile.SYMTYPE, str(canary.parent))
    with tarfile.open(place.with_suffix(".tar"), "w") as archive:
        archive.addfile(link)
        info = tarfile.TarInfo("ch01/kernel.cu")
        info.size = 3
        archive.addfile(info, io.BytesIO(b"out"))
    return REFUSED


def hard_link(place: Path, kernels: Kernels, canary: Path) -> Expected:
    tar_of(place.with_suffix(".tar.gz"), kernels_as(kernels), special("a", tarfile.LNKTYPE, "/etc/shadow"))
    return REFUSED


def fifo(place: Path, kernels: Kernels, canary: Path) -> Expected:
    tar_of(place.with_suffix(".tar"), {}, special("ch01.cu", tarfile.FIFOTYPE), mode="w")
    return REFUSED


def device(place: Path, kernels: Kernels, canary: Path) -> Expected:
    info = special("ch01.cu", tarfile.CHRTYPE)
    info.devmajor, info.devminor = 1, 5  # /dev/zero
    tar_of(place.with_suffix(".tar"), {}, info, mode="w")
    return REFUSED


def link_in_a_zip(place: Path, kernels: Kernels, canary: Path) -> Expected:
    info = zipfile.ZipInfo("ch01/kernel.cu")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(place.with_suffix(".zip"), "w") as archive:
        archive.writestr(info, "/etc/passwd")
    return REFUSED


def twice(place: Path, kernels: Kernels, canary: Path) -> Expected:
    with zipfile.ZipFile(place.with_suffix(".zip"), "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for content in kernels.values():
            archive.writestr("ch01.cu", content)
            archive.writestr("./ch01.cu", b"another")
    return REFUSED


def names_without_end(place: Path, kernels: Kernels, canary: Path) -> Expected:
    members = {
        "ch01" + "\x01" * 60_000 + ".cu": b"// one\n",
        "ch01/" + "\u202e" * 60_000 + ".cu": b"// two\n",
    }
    tar_of(place.with_suffix(".tar"), members, mode="w")
    return REFUSED


def names_of_four_thousand(place: Path, kernels: Kernels, canary: Path) -> Expected:
    members = {"ch01" + "\x01" * 4000 + ".cu": b"// one\n", "ch01/" + "\u202e" * 4000 + ".cu": b"// two\n"}
    tar_of(place.with_suffix(".tar"), members, mode="w")
    return Expected(chapters={"ch01": ["REJECT"]})


def deep(place: Path, kernels: Kernels, canary: Path) -> Expected:
    tar_of(place.with_suffix(".tar.gz"), {"a/" * 300 + "ch01.cu": b"deep"})
    return REFUSED


# ---- Damage ----------------------------------------------------------------------------------------------------


def encrypted(place: Path, kernels: Kernels, canary: Path) -> Expected:
    path = place.with_suffix(".zip")
    zip_of(path, kernels_as(kernels))
    content = bytearray(path.read_bytes())
    for mark, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        start = content.index(mark)
        content[start + at] |= 1
    path.write_bytes(content)
    return REFUSED


def cut_zip(place: Path, kernels: Kernels, canary: Path) -> Expected:
    path = place.with_suffix(".zip")
    zip_of(path, kernels_as(kernels))
    path.write_bytes(path.read_bytes()[:-30])
    return REFUSED


def cut_tar(place: Path, kernels: Kernels, canary: Path) -> Expected:
    path = place.with_suffix(".tar.gz")
    tar_of(path, kernels_as(kernels))
    path.write_bytes(path.read_bytes()[:-40])
    return REFUSED


def cut_plain_tar(place: Path, kernels: Kernels, canary: Path) -> Expected:
    path = place.with_suffix(".tar")
    tar_of(path, {"ch01.cu": b"x" * 2000, "ch02.cu": b"y" * 2000}, mode="w")
    path.write_bytes(path.read_bytes()[:2560])  # where a member ends
    return REFUSED


def lies_about_sizes(place: Path, kernels: Kernels, canary: Path) -> Expected:
    path = place.with_suffix(".zip")
    zip_of(path, {"ch01.cu": random.Random(1).randbytes(5000)})
    content = bytearray(path.read_bytes())
    start = content.index(b"PK\1\2")
    content[start + 24 : start + 28] = struct.pack("<I", 100)
    path.write_bytes(content)
    return REFUSED


def noise(place: Path, kernels: Kernels, canary: Path) -> Expected:
    place.with_suffix(".zip").write_bytes(random.Random(2).randbytes(3000))
    return REFUSED


def another_kind(place: Path, kernels: Kernels, canary: Path) -> Expected:
    place.with_suffix(".rar").write_bytes(b"Rar!\x1a\x07\x01\x00" + random.Random(3).randbytes(300))
    return REFUSED


def empty_zip(place: Path, kernels: Kernels, canary: Path) -> Expected:
    zip_of(place.with_suffix(".zip"), {})
    return Expected()


def empty_folder(place: Path, kernels: Kernels, canary: Path) -> Expected:
    place.mkdir()
    return Expected()


def nothing_in_a_file(place: Path, kernels: Kernels, canary: Path) -> Expected:
    place.with_suffix(".zip").touch()
    return REFUSED


# ---- Folders ---------------------------------------------------------------------------------------------------


def link_in_a_folder(place: Path, kernels: Kernels, canary: Path) -> Expected:
    (place / "ch01").mkdir(parents=True)
    (place / "ch01" / "kernel.cu").symlink_to("/etc/passwd")
    (place / "ch02").symlink_to("/etc")
    return Expected(chapters={"ch01": ["REJECT"], "ch02": ["REJECT"]})


def fifo_in_a_folder(place: Path, kernels: Kernels, canary: Path) -> Expected:
    place.mkdir()
    os.mkfifo(place / "ch03.cu")
    os.mkfifo(place / "notes")
    return Expected(chapters={"ch03": ["REJECT"]})


def folder_is_a_link(place: Path, kernels: Kernels, canary: Path) -> Expected:
    place.symlink_to("/etc")
    return REFUSED


def folder_is_a_fifo(place: Path, kernels: Kernels, canary: Path) -> Expected:
    os.mkfifo(place)
    return REFUSED


def zip_is_a_fifo(place: Path, kernels: Kernels, canary: Path) -> Expected:
    place.mkdir()
    os.mkfifo(place / "all.zip")
    return REFUSED


def deep_folder(place: Path, kernels: Kernels, canary: Path) -> Expected:
    (place / ("a/" * 200)).mkdir(parents=True)
    return REFUSED


def which_chapter(place: Path, kernels: Kernels, canary: Path) -> Expected:
    place.mkdir()
    (place / "my kernel.cu").write_bytes(b"// of which chapter?\n")
    return REFUSED


def two_for_one_chapter(place: Path, kernels: Kernels, canary: Path) -> Expected:
    place.mkdir()
    (place / "ch01.cu").write_bytes(b"// one\n")
    (place / "ch01_new.cu").write_bytes(b"// another\n")
    return Expected(chapters={"ch01": ["REJECT"]})


def long_kernel(place: Path, kernels: Kernels, canary: Path) -> Expected:
    place.mkdir()
    (place / "ch01.cu").write_bytes(b"// " + b"x" * (3 << 20))
    return Expected(chapters={"ch01": ["REJECT"]})


# ---- Odd, and all right ----------------------------------------------------------------------------------------


def no_utf8_in_a_folder(place: Path, kernels: Kernels, canary: Path) -> Expected:
    raw = os.fsencode(place) + b"/pr\xe9sent\xff"
    Path(os.fsdecode(raw)).mkdir(parents=True)
    for chapter, content in kernels.items():
        with open(raw + b"/" + chapter.encode() + b"_l\xf6sung.cu", "wb") as file:
            file.write(content)
    return passed(kernels)


def no_utf8_in_a_tar(place: Path, kernels: Kernels, canary: Path) -> Expected:
    members = {f"\udce9\udcff/{chapter}.cu": content for chapter, content in kernels.items()}
    with tarfile.open(place.with_suffix(".tar"), "w", format=tarfile.GNU_FORMAT) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return passed(kernels)


def names_of_all_kinds(place: Path, kernels: Kernels, canary: Path) -> Expected:
    members = {f"a b\n'\"$(touch x)`;/{chapter}/kernel.cu": content for chapter, content in kernels.items()}
    zip_of(
        place.with_suffix(".zip"),
        members | {"__MACOSX/ch01/._kernel.cu": b"\0\5\x16\7", ".git/ch01.cu": b"no"},
    )
    return passed(kernels)


def archive_in_a_folder(place: Path, kernels: Kernels, canary: Path) -> Expected:
    place.mkdir()
    zip_of(place / "mine.zip", kernels_as(kernels))
    return passed(kernels)


# ---- Receipts that claim more ----------------------------------------------------------------------------------


def forged_receipts(place: Path, kernels: Kernels, canary: Path) -> Expected:
    receipts = [
        b'{"points": {"earned": NaN, "possible": 10}}',
        b'{"schema": "warpbook/receipt/1", "chapter": "ch14", "points": {"earned": 99, "possible": 10}}',
    ]
    named = {f"receipts/{chapter}.json": text for chapter, text in zip(kernels, receipts, strict=False)}
    zip_of(place.with_suffix(".zip"), kernels_as(kernels) | named)
    return passed(kernels)  # of the kernels alone


HOSTILE: list[Writer] = [
    forged_receipts,
    zip_bomb,
    bomb_in_a_kernel,
    gzip_bomb,
    bzip2_bomb,
    xz_bomb,
    xz_that_wants_memory,
    nested_bomb,
    huge_pax_header,
    ten_thousand_members,
    ten_thousand_files,
    many_archives,
    many_kernels,
    many_large_kernels,
    many_kernels_in_archives,
    leads_out,
    leads_out_by_backslash,
    absolute_in_tar,
    absolute_in_zip,
    nul_in_a_name,
    symbolic_link,
    link_then_through_it,
    hard_link,
    fifo,
    device,
    link_in_a_zip,
    twice,
    names_without_end,
    names_of_four_thousand,
    deep,
    encrypted,
    cut_zip,
    cut_tar,
    cut_plain_tar,
    lies_about_sizes,
    noise,
    another_kind,
    empty_zip,
    empty_folder,
    nothing_in_a_file,
    link_in_a_folder,
    fifo_in_a_folder,
    folder_is_a_link,
    folder_is_a_fifo,
    zip_is_a_fifo,
    deep_folder,
    which_chapter,
    two_for_one_chapter,
    long_kernel,
    no_utf8_in_a_folder,
    no_utf8_in_a_tar,
    names_of_all_kinds,
    archive_in_a_folder,
]
