"""Builds the driver's probes: the workbook's C files with a main of the tests' own, under the sanitizers."""

import fcntl
import os
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from native_build import COMMON, ROOT, compiler, sanitizers

BUILD = ROOT / "build" / "tests"
LOOPS = ("plan", "run", "judge")  # folders of the driver with loops over all elements


def build(name: str, *more: str) -> Path:
    """The program build/tests/NAME from tests/native/NAME.c and its neighbours.

    The workbook's files are in a library, from which the linker takes what is missing: functions of the probe
    replace those in it.
    """
    own = [ROOT / "tests" / "native" / f"{file}.c" for file in (name, *more)]
    folders = ("driver", "support", "emulator")
    rest = [path for folder in folders for path in sorted((COMMON / folder).rglob("*.c"))]
    rest.append(COMMON / "gpu" / "profiles.c")
    rest = [path for path in rest if not path.name.endswith("main.c") and path.name != "emulate.c"]
    program, library = BUILD / name, BUILD / f"{name}.a"
    fresh = program.with_suffix(".new")  # another process may be running the program that it replaces
    BUILD.mkdir(parents=True, exist_ok=True)
    with open(BUILD / "driver.lock", "w") as guard, ThreadPoolExecutor(os.cpu_count()) as pool:
        fcntl.flock(guard, fcntl.LOCK_EX)
        objects = list(pool.map(compile_one, [*own, *rest]))
        library.unlink(missing_ok=True)
        subprocess.run(["ar", "qcs", library, *objects[len(own) :]], check=True)
        link = [
            *compiler(),
            *sanitizers(),
            "-o",
            fresh,
            *objects[: len(own)],
            library,
            "-lm",
            "-lpthread",
            "-ldl",
        ]
        subprocess.run(link, check=True, timeout=300)
        fresh.replace(program)
    return program


def compile_one(source: Path) -> Path:
    """The object of a source file; compiled again when it, a header of its own or the flags changed."""
    made = BUILD / "objects" / ("_".join(source.relative_to(ROOT).parts) + ".o")
    recipe, needs = made.with_suffix(".flags"), made.with_suffix(".d")
    made.parent.mkdir(parents=True, exist_ok=True)
    # What runs once takes longer to optimise than to run.
    effort = "-O0" if source.is_relative_to(COMMON / "driver") and source.parent.name not in LOOPS else "-O1"
    command = [
        *compiler(),
        "-std=gnu17",
        "-g1",
        effort,
        "-ffp-contract=off",
        "-Wall",
        "-Wextra",
        "-Wno-unknown-pragmas",
    ]
    command += [*sanitizers(), f"-I{COMMON}", f"-I{ROOT / 'tests' / 'native'}"]
    command += ["-MMD", "-MF", str(needs), "-c", str(source), "-o", str(made)]
    if made.exists() and recipe.exists() and recipe.read_text() == shlex.join(command):
        paths = [Path(word) for word in needs.read_text().replace("\\\n", " ").split()[1:]]
        if all(path.exists() and path.stat().st_mtime < made.stat().st_mtime for path in paths):
            return made
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    recipe.write_text(shlex.join(command))
    return made
