"""Builds the small C programs under tests/native from the workbook's sources, with the sanitizers."""

import functools
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMMON = ROOT / "common"
SUPPORT = sorted((COMMON / "support").glob("*.c"))
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer"]
UNDEFINED = ["-fsanitize=undefined", "-fno-sanitize-recover=undefined"]


@functools.cache
def compiler() -> list[str]:
    """The C compiler that the Makefile would take: CC, or the first of cc, gcc and clang that exists."""
    asked = shlex.split(os.environ.get("CC", ""))
    return asked or [next(filter(shutil.which, ("cc", "gcc", "clang")), "cc")]


@functools.cache
def sanitizers() -> tuple[str, ...]:
    """The flags with which this compiler can link a program, and the program runs.

    The search for leaks ends every program below qemu-user.
    """
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program"
        for flags in (SANITIZE, UNDEFINED):
            command = [*compiler(), *flags, "-x", "c", "-", "-o", str(program)]
            linked = subprocess.run(
                command, input="int main(void) { return 0; }", text=True, capture_output=True
            )
            if linked.returncode == 0 and subprocess.run([program], capture_output=True).returncode == 0:
                return tuple(flags)
    return ()


def build(output: Path, sources: list[Path], *flags: str, sanitize: bool = True) -> Path:
    """Compiles and links `sources` into `output`, which is whole at any moment, as tests run side by side."""
    scratch = output.with_name(f"{output.name}.{os.getpid()}")
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
        str(scratch),
        "-ldl",
        "-lm",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return scratch.replace(output)
