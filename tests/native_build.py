"""Builds the small C programs under tests/native from the workbook's sources, with the sanitizers."""

import functools
import os
import shlex
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMMON = ROOT / "common"
SUPPORT = sorted((COMMON / "support").glob("*.c"))
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer"]


@functools.cache
def compiler() -> list[str]:
    """The C compiler that the Makefile would take: CC, or the first of cc, gcc and clang that exists."""
    asked = shlex.split(os.environ.get("CC", ""))
    return asked or [next(filter(shutil.which, ("cc", "gcc", "clang")), "cc")]


@functools.cache
def sanitizers() -> tuple[str, ...]:
    """The flags, where this compiler can link a program with them."""
    probe = subprocess.run(
        [*compiler(), *SANITIZE, "-x", "c", "-", "-o", os.devnull],
        input="int main(void) { return 0; }",
        text=True,
        capture_output=True,
    )
    return tuple(SANITIZE) if probe.returncode == 0 else ()


def build(output: Path, sources: list[Path], *flags: str, sanitize: bool = True) -> Path:
    """Compiles and links `sources` into `output`."""
    command = [
        *compiler(),
        "-std=gnu17",
        "-g",
        "-O1",
        f"-I{COMMON}",
        "-Wall",
        "-Wextra",
    ]
    command += [
        *(sanitizers() if sanitize else ()),
        *flags,
        *map(str, sources),
        "-o",
        str(output),
        "-ldl",
        "-lm",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return output
