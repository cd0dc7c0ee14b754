"""Submissions made to harm: none leaves anything but kernels, and each is refused in words that name it."""

import io
import os
import stat
import sys
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent / "class"))

from hostile_archives import HOSTILE, Writer, tar_of, zip_of

from grader.classroom.submissions.contents import Gathered, chapter_of, gather
from grader.classroom.submissions.extraction import check_name, is_wanted, unpack
from grader.classroom.submissions.submission import Piece, Submission, file_name
from grader.classroom.submissions.untrusted import LIMITS, Refused, open_regular, printable
from grader.core.processes import Processes

SKELETON = "// TODO 1: add all of them up\n__global__ void sum(float *out) { out[0] = 0; }\n"
CHAPTERS = [f"ch{number:02}" for number in range(1, 9)]


def gathered(entries: list[Path], work: Path, chapters: list[str] = CHAPTERS) -> Gathered:
    work.mkdir(exist_ok=True)
    pieces = tuple(Piece(path, path.name) for path in entries)
    return gather(Submission("s", pieces=pieces), dict.fromkeys(chapters, SKELETON), work, Processes())


def check_words(refused: Refused) -> None:
    assert str(refused).isprintable() and 0 < len(str(refused)) < 600


def everything(folder: Path) -> list[tuple[str, int]]:
    return sorted((str(path), path.lstat().st_mode) for path in folder.rglob("*"))


WORDS = {
    "zip_bomb": "unpacks to more than 67,108,864 bytes, by the member notes.txt",
    "bomb_in_a_kernel": "unpacks to more than 200 times its size, by the member ch01.cu",
    "gzip_bomb": "unpacks to more than 67,108,864 bytes, by the member ch01.cu",
    "huge_pax_header": "unpacks to more than 67,108,864 bytes",
    "ten_thousand_members": "has more than 2,000 members",
    "ten_thousand_files": "the folder student has more than 2,000 files",
    "many_archives": "there are more than 20 archives",
    "many_kernels": "student: there are more than 200 kernels",
    "many_large_kernels": "student: there are more than 67,108,864 bytes of kernels",
    "many_kernels_in_archives": "student: there are more than 200 kernels",
    "leads_out": "the member ../../../canary leads out of the archive",
    "absolute_in_tar": "canary has an absolute path",
    "nul_in_a_name": "the member ch01.cu\\x00/kernel has a NUL byte in its name",
    "symbolic_link": "the member ch01/kernel.cu is a symbolic link",
    "hard_link": "the member a is a hard link",
    "device": "the member ch01.cu is a device",
    "fifo": "the member ch01.cu is a FIFO",
    "names_without_end": "has a name of 60,007 characters",
    "twice": "the member ./ch01.cu is there twice",
    "encrypted": "the member ch01_x/kernel.cu is encrypted",
    "cut_zip": "damaged, cut short",
    "cut_tar": "damaged, cut short",
    "cut_plain_tar": "is cut short: the end of a tar archive is missing",
    "noise": "no zip or tar archive",
    "folder_is_a_fifo": "student is a FIFO, not a file",
    "which_chapter": "nothing says which chapter my kernel.cu belongs to",
}


@pytest.mark.parametrize("writer", HOSTILE, ids=lambda writer: writer.__name__)
def test_hostile_submission(writer: Writer, tmp_path: Path) -> None:
    theirs = tmp_path / "submissions"
    theirs.mkdir()
    kernels = {"ch01": b"// one\n", "ch02": b"// two\n"}
    expected = writer(theirs / "student", kernels, tmp_path / "canary")
    before = everything(theirs)
    found = gathered(list(theirs.iterdir()), tmp_path / "work")
    assert (found.trouble.verdict if found.trouble else "") == expected.trouble, found
    if found.trouble:
        message = found.trouble.message
        assert WORDS.get(writer.__name__, "") in message
        nameless = ("which_chapter", "zip_is_a_fifo", "many_archives")
        assert "student" in message or writer.__name__ in nameless, message
        assert message.isprintable() and len(message) < 400
    else:
        allowed = {name: verdicts[0] for name, verdicts in expected.chapters.items()}
        kept = dict.fromkeys(found.kernels, "PASS") | dict.fromkeys(found.refused, "REJECT")
        assert kept == allowed, found
        assert all(why.isprintable() and len(why) < 600 for why in found.refused.values())
        assert all(found.kernels[name].content == kernels[name] for name in kept if kept[name] == "PASS")
    assert everything(theirs) == before
    assert list((tmp_path / "work").iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["submissions", "work"]


# ---- Names nobody thought of -----------------------------------------------------------------------------------

parts = st.sampled_from(
    [
        "..",
        ".",
        "",
        "/",
        "\\",
        "ch01",
        "ch02.cu",
        "kernel.cu",
        "C:",
        "~",
        "a" * 300,
        "\udcff",
        "\0",
        "é",
        "\n",
    ]
)
names = st.lists(st.one_of(parts, st.text(max_size=8)), min_size=1, max_size=6).map("/".join)


@given(names)
def test_a_name_that_passes_stays_inside(name: str) -> None:
    try:
        checked = check_name(name)
    except Refused as refused:
        check_words(refused)
        return
    assert not checked.startswith("/")
    assert ".." not in checked.replace("\\", "/").split("/")
    assert "\0" not in checked


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(names, st.binary(max_size=40), max_size=6), st.booleans())
def test_archives_of_any_names_leave_only_numbered_files(
    tmp_path_factory: pytest.TempPathFactory, members: dict[str, bytes], is_zip: bool
) -> None:
    top = tmp_path_factory.mktemp("any")
    folder = top / "in" / "folder"
    folder.mkdir(parents=True)
    archive = top / ("a.zip" if is_zip else "a.tar")
    try:
        if is_zip:
            zip_of(archive, members)
        else:
            tar_of(archive, members, mode="w")
    except (UnicodeEncodeError, ValueError, IndexError, tarfile.TarError):
        return  # such a name cannot be written at all
    try:
        for taken in unpack(archive, folder):
            assert taken.path is None or taken.path.parent == folder
            assert is_wanted(taken.name) or not taken.name.isascii()
    except Refused as refused:
        check_words(refused)
    left = [path for path in top.rglob("*") if path not in (archive, folder, folder.parent)]
    assert all(path.parent == folder and path.name.isdecimal() for path in left)
    assert all(stat.S_ISREG(path.lstat().st_mode) for path in left)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_archives_are_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Any bytes changed anywhere: refused in words, or read; never another exception."""
    top = tmp_path_factory.mktemp("damaged")
    (top / "folder").mkdir()
    archive = top / "a"
    kind = data.draw(st.sampled_from(["zip", "w", "w:gz", "w:xz", "w:bz2"]))
    members = {"ch01/kernel.cu": b"// one\n" * 9, "ch02.cu": b"// two"}
    zip_of(archive, members) if kind == "zip" else tar_of(archive, members, mode=kind)
    content = bytearray(archive.read_bytes())
    for _ in range(data.draw(st.integers(0, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    archive.write_bytes(content[: data.draw(st.integers(len(content) // 2, len(content)))])
    try:
        for taken in unpack(archive, top / "folder"):
            assert taken.path is None or taken.path.stat().st_size <= LIMITS.file_bytes
    except Refused as refused:
        check_words(refused)


@given(st.one_of(st.text(max_size=80), st.binary(max_size=80).map(os.fsdecode)))
def test_any_name_can_be_shown_and_kept(name: str) -> None:
    try:
        name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return  # no name of a file
    assert printable(name).isprintable()
    kept = file_name(name)
    assert kept not in ("", ".", "..") and not kept.startswith(".") and len(kept) < 100
    assert all(c.isascii() and (c.isalnum() or c in "._@+-") for c in kept)


@given(st.text(max_size=30), st.text(max_size=30))
def test_two_students_never_share_a_folder(one: str, other: str) -> None:
    assert (file_name(one) == file_name(other)) == (one == other)


def test_no_name_is_made_to_be_what_another_becomes() -> None:
    made = file_name("ada l")
    assert made.startswith("ada_l-") and file_name(made) != made


# ---- Which file is which chapter's -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "chapter"),
    [
        ("ch04_warp_shuffle/kernel.cu", "ch04"),
        ("chapters/ch04_warp_shuffle/kernel.cu", "ch04"),
        ("ch04.cu", "ch04"),
        ("CH4.CU", "ch04"),
        ("ch04_kernel.cu", "ch04"),
        ("my-ch4.cu", "ch04"),
        ("Chapter 4/kernel.cu", "ch04"),
        ("week 1/chapter_04/solution.cu", "ch04"),
        ("ch01/ch02.cu", "ch02"),
        ("ch01/ch02/kernel.cu", "ch02"),
        ("ch12/kernel.cu", "ch12"),
        ("ch123.cu", ""),
        ("kernel.cu", ""),
        ("epoch04.cu", ""),
        ("branch4.cu", ""),
    ],
)
def test_chapter_of_a_name(name: str, chapter: str) -> None:
    assert chapter_of(name) == chapter


@pytest.mark.parametrize(
    "name",
    [
        "__MACOSX/ch01/._kernel.cu",
        ".git/ch01.cu",
        "solutions/ch01_x/kernel.cu",
        "ch01/kernel.c",
        "build/ch01.cu",
    ],
)
def test_what_is_no_kernel(name: str) -> None:
    assert not is_wanted(name)


@pytest.mark.parametrize(
    ("members", "words"),
    [
        (
            {"hw/inner.zip": b"PK", "notes.txt": b""},
            "hw/inner.zip is an archive in an archive, and not opened",
        ),
        ({"in\x1bner.tar.gz": b"", "ch01.cu": b"//"}, "in\\x1bner.tar.gz is an archive in an archive"),
        ({"notes.txt": b"", "ch01.cu.txt": b"//"}, "there is no kernel in what was handed in"),
        ({}, "there is no kernel in what was handed in"),
        ({"__MACOSX/._ch01.zip": b""}, "there is no kernel in what was handed in"),
        ({"ch01.cu": b"//"}, ""),
    ],
    ids=["archive", "archive beside a kernel", "another name", "nothing", "hidden", "a kernel"],
)
def test_what_is_missing_is_missing_for_a_reason(
    tmp_path: Path, members: dict[str, bytes], words: str
) -> None:
    zip_of(tmp_path / "s.zip", members)
    found = gathered([tmp_path / "s.zip"], tmp_path / "work")
    assert not found.trouble and found.missing.startswith(words) and bool(words) == bool(found.missing)


def test_one_chapter_needs_no_number(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "main.cu").write_bytes(b"// mine\n")
    assert gathered([tmp_path / "s"], tmp_path / "work", ["ch04"]).kernels["ch04"].content == b"// mine\n"


def test_the_same_kernel_twice_is_one(tmp_path: Path) -> None:
    (tmp_path / "s" / "ch04").mkdir(parents=True)
    for name in ("ch04/kernel.cu", "ch04.cu"):
        (tmp_path / "s" / name).write_bytes(b"// mine\n")
    found = gathered([tmp_path / "s"], tmp_path / "work")
    assert found.kernels["ch04"].content == b"// mine\n" and not found.refused


@pytest.mark.parametrize(
    "text",
    [
        SKELETON,
        SKELETON.replace("\n", "\r\n"),
        f"// Ada Lovelace\n{SKELETON}",
        SKELETON.split("\n", 1)[1].replace("{ ", "{\n    /* later */ "),
    ],
    ids=["as it was", "another line end", "a name", "another layout"],
)
def test_an_unchanged_skeleton_is_not_handed_in(text: str, tmp_path: Path) -> None:
    zip_of(tmp_path / "s.zip", {"ch02_x/kernel.cu": text.encode(), "ch03.cu": b"// mine\n"})
    found = gathered([tmp_path / "s.zip"], tmp_path / "work")
    assert sorted(found.kernels) == ["ch03"] and not found.refused and not found.trouble
    assert found.unchanged == {"ch02": "ch02_x/kernel.cu is the skeleton, unchanged"}


@pytest.mark.parametrize(
    "text",
    [SKELETON.replace("0;", "1;"), SKELETON + "int more;\n", "", SKELETON.replace("sum", "add"), "\xff"],
)
def test_a_changed_skeleton_is_handed_in(text: str, tmp_path: Path) -> None:
    zip_of(tmp_path / "s.zip", {"ch02_x/kernel.cu": text.encode("latin-1")})
    found = gathered([tmp_path / "s.zip"], tmp_path / "work")
    assert sorted(found.kernels) == ["ch02"] and not found.unchanged


def test_a_kernel_beside_the_skeleton_is_the_one(tmp_path: Path) -> None:
    members = {"warpbook/chapters/ch02_x/kernel.cu": SKELETON.encode(), "ch02.cu": b"int mine;\n"}
    zip_of(tmp_path / "s.zip", members)
    found = gathered([tmp_path / "s.zip"], tmp_path / "work")
    assert found.kernels["ch02"].content == b"int mine;\n" and not found.refused


def test_a_student_may_have_a_folder_and_an_archive(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "ch01.cu").write_bytes(b"// one\n")
    zip_of(tmp_path / "s.zip", {"ch02.cu": b"// two\n", "receipts/ch02.json": b"{}"})
    found = gathered([tmp_path / "s", tmp_path / "s.zip"], tmp_path / "work")
    assert sorted(found.kernels) == ["ch01", "ch02"]
    assert found.receipts == {"ch02": b"{}"}


def test_limits_hold_at_their_border(tmp_path: Path) -> None:
    limits = replace(LIMITS, members=3, file_bytes=10, total_bytes=25, kernels=2)
    (tmp_path / "out").mkdir()
    archive = tmp_path / "a.zip"
    for members, words in [
        ({"ch01.cu": b"x" * 10, "a": b"y" * 15}, None),
        ({"ch01.cu": b"x" * 10, "a": b"y" * 16}, "unpacks to more than 25 bytes, by the member a"),
        ({f"{n}.txt": b"" for n in range(3)}, None),
        ({f"{n}.txt": b"" for n in range(4)}, "has more than 3 members"),
        ({f"ch0{n}.cu": b"" for n in (1, 2, 3)}, "has more than 2 kernels"),
    ]:
        zip_of(archive, members)
        if words is None:
            unpack(archive, tmp_path / "out", limits)
        else:
            with pytest.raises(Refused, match=words):
                unpack(archive, tmp_path / "out", limits)
    zip_of(archive, {"ch01.cu": b"x" * 11})
    assert unpack(archive, tmp_path / "out", limits)[0].refused == "has 11 bytes; at most 10 are taken"


def test_regular_files_alone_are_opened(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    with open_regular(tmp_path / "file", 5) as file:
        assert file.read() == b"12345"
    for name, words in (
        ("link", "symbolic link"),
        ("folder", "a folder"),
        ("fifo", "a FIFO"),
        ("file", "at most 4"),
    ):
        with pytest.raises(Refused, match=words):
            open_regular(tmp_path / name, 4)
    with pytest.raises(Refused, match="a device"):
        open_regular("/dev/zero", 4)
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "none", 4)


def test_what_the_machine_refuses_is_nobodys_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zip_of(tmp_path / "s.zip", {"ch01.cu": b"//"})
    monkeypatch.setattr("sys.executable", "/nonexistent/python")
    found = gathered([tmp_path / "s.zip"], tmp_path / "work")
    assert found.trouble is not None and found.trouble.verdict == "INFRA"


def test_all_archives_of_a_submission_share_one_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archives = [tmp_path / f"ch0{number}.zip" for number in (1, 2)]
    for archive in archives:
        zip_of(archive, {f"{archive.stem}.cu": b"//"})
    assert len(gathered(archives, tmp_path / "work").kernels) == 2
    monkeypatch.setattr("grader.classroom.submissions.contents.LIMITS", replace(LIMITS, seconds=0))
    found = gathered(archives, tmp_path / "work")  # the first has its one second, the least there is
    assert found.trouble is not None and found.trouble.verdict == "REJECT"
    assert "the archives take more than 0 s of computing" in found.trouble.message


def test_a_stopped_run_refuses_nobody(tmp_path: Path) -> None:
    zip_of(tmp_path / "s.zip", {"ch01.cu": b"//"})
    (tmp_path / "work").mkdir()
    processes = Processes()
    processes.stop()
    with pytest.raises(KeyboardInterrupt):
        gather(
            Submission("s", pieces=(Piece(tmp_path / "s.zip", "s.zip"),)),
            dict.fromkeys(CHAPTERS, SKELETON),
            tmp_path / "work",
            processes,
        )
    assert list((tmp_path / "work").iterdir()) == []


def test_zip_written_by_another_hand_is_read(tmp_path: Path) -> None:
    """Without Unix modes, with folders as separate members, as Windows writes them."""
    with zipfile.ZipFile(tmp_path / "s.zip", "w") as archive:
        for name, content in (("ch01_a\\", b""), ("ch01_a\\kernel.cu", b"// one\n")):
            info = zipfile.ZipInfo(name)
            info.filename = info.orig_filename = name
            info.create_system, info.external_attr = 0, 0
            archive.writestr(info, content)
    found = gathered([tmp_path / "s.zip"], tmp_path / "work")
    assert found.kernels["ch01"].content == b"// one\n", found


def test_several_tars_after_each_other_are_refused_not_guessed(tmp_path: Path) -> None:
    parts = []
    for content in (b"// one\n", b"// another\n"):
        tar_of(tmp_path / "part", {"ch01.cu": content}, mode="w")
        parts.append((tmp_path / "part").read_bytes())
    (tmp_path / "s.tar").write_bytes(io.BytesIO(b"".join(parts)).getvalue())
    found = gathered([tmp_path / "s.tar"], tmp_path / "work")
    assert found.kernels["ch01"].content == b"// one\n" and not found.trouble
