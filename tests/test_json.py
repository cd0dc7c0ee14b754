"""common/support: JSON out and in, text made safe, SHA-256, files written atomically."""

import hashlib
import json
import math
import os
import pty
import stat
import subprocess
import sys
import tty
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from native_build import SUPPORT, build


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    return build(
        tmp_path_factory.mktemp("json") / "json_probe", [root / "tests/native/json_probe.c", *SUPPORT]
    )


def run(probe: Path, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([probe, *arguments], input=given, capture_output=True, timeout=60)


def round_trip(probe: Path, text: str | bytes) -> object:
    done = run(probe, "round", given=text.encode() if isinstance(text, str) else text)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_kind_of_value_is_written_as_python_reads_it(probe: Path) -> None:
    done = run(probe, "values")
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert value["text"] == 'quote " backslash \\ newline \n tab \t bell \a delete \x7f'
    assert value["broken"].startswith("a�") and value["broken"].endswith("�z")
    assert value["nul"] == "a\0b"
    assert value["none"] is None and value["nan"] is None and value["infinity"] is None
    assert (value["least"], value["most"]) == (-(2**63), 2**64 - 1)
    assert (value["third"], value["tenth"], value["tiny"], value["huge"]) == (
        1 / 3,
        0.1,
        5e-324,
        1.7976931348623157e308,
    )
    assert isinstance(value["four"], float)
    assert math.copysign(1, value["minus_zero"]) == -1
    assert (value["empty"], value["list"]) == ([], [{}, None])
    assert b'"tenth": 0.1,' in done.stdout


@pytest.mark.parametrize("case", range(8))
def test_calls_that_make_no_value_are_noticed(probe: Path, case: int) -> None:
    assert run(probe, "misuse", str(case)).returncode == 1


documents = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8).filter(lambda name: "\0" not in name), inner, max_size=4)
    ),
    max_leaves=20,
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(documents, max_size=20), st.booleans())
def test_what_is_read_is_written_again(probe: Path, value: list[object], ascii_only: bool) -> None:
    assert round_trip(probe, json.dumps(value, ensure_ascii=ascii_only)) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "nul",
        "[1,]",
        "{,}",
        '{"a" 1}',
        "{a: 1}",
        "01",
        "-",
        "1.",
        ".5",
        "1e",
        "+1",
        "1e999",
        "NaN",
        "Infinity",
        "[1] 2",
        '"',
        '"\n"',
        '"\\x"',
        '"\\u12"',
        '"\\ud800"',
        '"\\ud800\\u0041"',
        '"\\udc00"',
        "'a'",
        "[",
        "{",
        '{"a":',
        "[" * 70 + "]" * 70,
        '{"\\u0000": 1}',
        "/* */ 1",
        "tru",
        "[1 2]",
        '{"a":1 "b":2}',
        "9" * 600,
    ],
)
def test_what_is_no_json_is_refused_with_a_place(probe: Path, text: str) -> None:
    done = run(probe, "round", given=text.encode())
    assert done.returncode == 1
    assert b"line " in done.stderr


@pytest.mark.parametrize(
    "raw", [b'"\xff"', b'"\xc0\xaf"', b'"\xed\xa0\x80"', b'"\xf5\x80\x80\x80"', b'"\xe2\x82"', b"\x00"]
)
def test_bytes_that_are_no_utf8_are_refused(probe: Path, raw: bytes) -> None:
    assert run(probe, "round", given=raw).returncode == 1


def test_text_for_a_terminal_holds_no_control_characters(probe: Path) -> None:
    text = "plain é 漢\ttab\nline\r\nend \x1b[31m \x07 \x7f \u202e \u2066 \x9b".encode() + b"\xff"
    shown = run(probe, "printable", given=text).stdout.decode()
    assert shown == "plain é 漢\ttab\nline\nend \\x1b[31m \\x07 \\x7f \\u202e \\u2066 \\x9b\\xff"


@pytest.mark.parametrize("length", [0, 1, 55, 56, 63, 64, 65, 119, 128, 1000, 100000])
def test_sha256_is_hashlibs(probe: Path, length: int) -> None:
    data = bytes(i * 7 % 256 for i in range(length))
    assert run(probe, "sha256", given=data).stdout.decode().strip() == hashlib.sha256(data).hexdigest()


# ---- Files -------------------------------------------------------------------------------------------------


def test_a_file_is_replaced_whole_and_nothing_is_left_beside_it(probe: Path, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    for content in (b"first", b"second" * 10000, b""):
        assert run(probe, "write", str(path), given=content).returncode == 0
        assert path.read_bytes() == content
    assert [entry.name for entry in tmp_path.iterdir()] == ["result.json"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask()


def umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_write_that_fails_says_why_and_leaves_the_old_file(probe: Path, tmp_path: Path) -> None:
    missing = run(probe, "write", str(tmp_path / "none/result.json"), given=b"x")
    assert missing.returncode == 1 and b"no such file or folder" in missing.stderr
    (tmp_path / "folder").mkdir()
    onto_folder = run(probe, "write", str(tmp_path / "folder"), given=b"x")
    assert onto_folder.returncode == 1
    named_as_folder = run(probe, "write", f"{tmp_path}/folder/", given=b"x")
    assert named_as_folder.returncode == 1 and b"folder/: it names a folder" in named_as_folder.stderr
    nameless = run(probe, "write", "", given=b"x")
    assert nameless.returncode == 1 and b"the name of a file is empty" in nameless.stderr
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize("language", ["C", "Python"])
def test_devices_and_pipes_are_written_into(root: Path, probe: Path, tmp_path: Path, language: str) -> None:
    def write(path: Path) -> subprocess.CompletedProcess[bytes]:
        if language == "C":
            return run(probe, "write", str(path), given=b"12345")
        code = "import sys, pathlib; from grader.core.workbook import write_whole\n"
        code += "write_whole(pathlib.Path(sys.argv[1]), '12345')"
        return subprocess.run([sys.executable, "-c", code, path], capture_output=True, cwd=root)

    terminal, name = pty.openpty()
    tty.setraw(name)
    place = tmp_path / "device"
    place.symlink_to(os.ttyname(name))  # a folder where a new file could be made and renamed
    assert write(place).returncode == 0
    assert os.read(terminal, 100) == b"12345" and place.is_symlink()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    unread = write(pipe)
    assert unread.returncode == 1 and pipe.is_fifo()
    assert (b"a pipe without a reader" if language == "C" else b"No such device") in unread.stderr
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert write(pipe).returncode == 0
    assert os.read(reader, 100) == b"12345" and pipe.is_fifo()
    for descriptor in (terminal, name, reader):
        os.close(descriptor)
    assert sorted(tmp_path.iterdir()) == [place, pipe]


@pytest.mark.skipif(not os.access("/dev/full", os.W_OK), reason="needs /dev/full")
def test_only_regular_files_are_read(probe: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "big").write_bytes(b"x" * 11)
    (tmp_path / "link").symlink_to("big")
    for path, words in [
        (tmp_path / "pipe", b"not an ordinary file"),
        (Path("/dev/full"), b"not an ordinary file"),
        (tmp_path, b"a folder"),
        (tmp_path / "none", b"no such file"),
        (tmp_path / "big", b"more than 10 bytes"),
    ]:
        done = run(probe, "read", str(path), "10")
        assert done.returncode == 1 and words in done.stderr, (path, done.stderr)
    assert run(probe, "read", str(tmp_path / "link"), "11").stdout == b"x" * 11
