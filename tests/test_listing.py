"""PTX and machine code beside the source: ./chNN --ptx and --sass, build/bin/listing, the columns of the profile.

tests/data/listing holds a kernel, its PTX and what nvdisasm printed of its machine code (-gi -c, without NOP), so
that neither ptxas nor nvdisasm is needed here. If both are there, every solution is listed as well.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

DATA = ROOT / "tests" / "data" / "listing"
MEANINGS = ROOT / "common" / "driver" / "listing"
NARROW, LONGEST_MEANING = 80, 39


def listing(built: Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
    command = [str(built / "build/bin/listing"), str(DATA / "kernel.ptx"), "--source", "kernel.cu"]
    return subprocess.run([*command, *map(str, options)], capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module")
def document(built: Path) -> dict[str, Any]:
    done = listing(built, "--sass", DATA / "kernel.sass", "--hide", "launch_")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_each_line_has_its_instructions(document: dict[str, Any]) -> None:
    (function,) = document["functions"]
    assert function["name"] == "_Z11sum_shufflePKfPfi"
    source = (DATA / "kernel.cu").read_text().splitlines()
    loads = [line for line in function["lines"] if any("LDG" in one["text"] for one in line["sass"])]
    (load,) = loads
    assert source[load["line"] - 1].strip() == "sum += in[i];"
    assert all(
        one["text"].startswith("ld.global") for one in load["ptx"] if "global memory" in one["meaning"]
    )
    words = {one["meaning"] for one in load["sass"] if one["text"].startswith("LDG.E R")}
    assert words == {"loads from global memory, 32 bits"}
    # Code of a header belongs to the line that calls it.
    (shuffle,) = (line for line in function["lines"] if any("SHFL" in one["text"] for one in line["sass"]))
    assert "__shfl_down_sync" in source[shuffle["line"] - 1]
    offsets = [one["offset"] for one in shuffle["sass"]]
    assert offsets == sorted(offsets)


def test_nothing_is_left_out(document: dict[str, Any]) -> None:
    (function,) = document["functions"]
    text = (DATA / "kernel.sass").read_text()
    body = text[text.index(".text._Z11sum_shuffle") :].split("\n.text.")[1]
    machine = re.findall(r"^\s+/\*([0-9a-f]{4})\*/", body, re.MULTILINE)
    listed = [one["offset"] for line in function["lines"] for one in line["sass"]]
    assert sorted(listed) == sorted(int(offset, 16) for offset in machine)
    assert all(one["meaning"] for line in function["lines"] for one in line["ptx"] + line["sass"])


def test_page_fits_the_terminal(built: Path) -> None:
    for columns in (NARROW, 120):
        command = [str(built / "build/bin/listing"), str(DATA / "kernel.ptx"), "--source", "kernel.cu"]
        command += ["--sass", str(DATA / "kernel.sass"), "--page", str(DATA / "kernel.cu")]
        environment = os.environ | {"COLUMNS": str(columns)}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
        assert max(map(len, done.stdout.splitlines())) <= columns
        assert "sum += in[i];" in done.stdout
    assert re.search(r"LDG\.E R\d+, \S+ +loads from global memory, 32 bits", done.stdout)


def test_without_a_disassembler(built: Path, tmp_path: Path) -> None:
    """PTX anyway, and what to do about the machine code."""
    program = tmp_path / "nothing"
    environment = os.environ | {"WARPBOOK_NVDISASM": str(program)}
    command = [str(built / "build/bin/listing"), str(DATA / "kernel.ptx"), "--source", "kernel.cu"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert found["why"] == f"WARPBOOK_NVDISASM is {program}, which is not a program: correct or unset it"
    assert all(not line["sass"] for function in found["functions"] for line in function["lines"])
    kernel = ["--kernel", str(DATA / "kernel.cu")]
    shown = subprocess.run(
        [built / "build/programs/ch04", *kernel, "--sass"],
        cwd=built, capture_output=True, text=True, env=environment, timeout=100,
    )  # fmt: skip
    assert (shown.returncode, shown.stdout) == (3, "")
    assert str(program) in shown.stderr


def test_bad_input(built: Path, tmp_path: Path) -> None:
    assert listing(built, "--nonsense", "x").returncode == 2
    assert listing(built, "--sass", tmp_path / "none").returncode == 3
    broken = tmp_path / "broken.ptx"
    broken.write_text(".version 8.0\n.target sm_80\n.address_size 64\n.entry k( {")
    done = subprocess.run(
        [built / "build/bin/listing", broken, "--source", "k.cu"], capture_output=True, text=True
    )
    assert done.returncode == 3
    assert "line 4" in done.stderr or ":4:" in done.stderr


def rows(name: str) -> dict[str, str]:
    text = (MEANINGS / f"{name}_meanings.def").read_text()
    found = re.findall(r'^MEANING\("([^"]+)", "([^"]+)"\)$', text, re.MULTILINE)
    assert len(found) == len(dict(found)) == text.count("\nMEANING(")
    return dict(found)


def test_every_opcode_of_the_emulator_has_a_meaning() -> None:
    text = (ROOT / "common/emulator/program/opcodes.def").read_text()
    opcodes = set(re.findall(r"^(?:OPCODE|ARITHMETIC|ALIKE)\((\w+)", text, re.MULTILINE))
    assert len(opcodes) > 100
    assert opcodes <= set(rows("ptx"))


def test_meanings_fit_beside_an_instruction() -> None:
    accesses = {"LDG", "STG", "LDS", "STS", "LDL", "STL", "LD", "ST", "LDGSTS", "ld", "st", "atom", "red"}
    for name in ("ptx", "machine"):
        for mnemonic, words in rows(name).items():
            bits = len(", 64 bits") if mnemonic.partition(".")[0] in accesses else 0
            assert len(words) + bits <= LONGEST_MEANING, f"{mnemonic}: {words}"


def test_every_recorded_form_has_a_meaning() -> None:
    """The memory instructions that ptxas generated for the patterns of tests/hardware_truth."""
    text = (ROOT / "tests/hardware_truth/sass.csv").read_text()
    forms = {form.partition(":")[0] for line in text.splitlines()[1:] for form in line.split(",")[-1].split()}
    known = rows("machine")
    assert len(forms) > 60
    assert not [form for form in forms if form.partition(".")[0] not in known]


def test_the_ptx_of_a_whole_program(built: Path, nvcc: str) -> None:
    solution = next((built / "solutions").glob("ch20_*/kernel.cu"))
    command = [built / "build/programs/ch20", "--kernel", solution, "--ptx"]
    done = subprocess.run(command, cwd=built, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert "ld.param.u64" in done.stdout


@pytest.mark.by_turns
def test_every_solution(built: Path, nvcc: str) -> None:
    if not shutil.which(os.environ.get("WARPBOOK_NVDISASM") or "nvdisasm"):
        pytest.skip("needs nvdisasm: make nvdisasm")
    for solution in sorted((built / "solutions").glob("ch*/kernel.cu")):
        program = built / "build/programs" / solution.parent.name[:4]
        done = subprocess.run(
            [program, "--kernel", solution, "--sass"], cwd=built, capture_output=True, text=True, timeout=100
        )
        assert done.returncode == 0, done.stderr
        assert "loads from global memory" in done.stdout
        plain = [line for line in done.stdout.splitlines() if re.match(r" ?[0-9a-f]{4,5} \S+ *$", line)]
        assert not plain, "an instruction without a meaning"


def test_profile_of_what_does_not_end(built: Path, tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.cu"
    kernel.write_text((DATA / "kernel.cu").read_text().replace("i += threads", "i += 0"))
    environment = os.environ | {"COLUMNS": "120"}
    done = subprocess.run(
        [built / "build/programs/ch04", "--kernel", kernel, "--profile", "--repair", "0"],
        cwd=built, capture_output=True, text=True, env=environment, timeout=100,
    )  # fmt: skip
    assert "TIMEOUT" in done.stdout
    assert "at n = 1, until it was stopped" in " ".join(done.stdout.split())
    table = done.stdout[done.stdout.index("  line      warp") :]
    counted = re.search(r"^ +20 +([\d,]+) ", table, re.MULTILINE)
    assert counted
    assert int(counted[1].replace(",", "")) > 1000
