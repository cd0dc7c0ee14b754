"""Makes the virtual environment and installs one lock file into it: environment.py VENV LOCK STAMP.

Runs on the interpreter that the environment is made from, with nothing but its standard library. Two
makes at once wait for each other; an incomplete environment is created again.
"""

import fcntl
import os
import subprocess
import sys
from pathlib import Path


def fail(message: str) -> None:
    """Ends the program: the machine's fault, said in a sentence."""
    print(f"warpbook: {message}", file=sys.stderr)
    sys.exit(3)


def works(python: Path) -> bool:
    """Whether the environment's interpreter starts, is new enough and has pip."""
    probe = "import sys, pip; sys.exit(sys.version_info < (3, 11))"
    try:
        return subprocess.run([python, "-c", probe], capture_output=True).returncode == 0
    except OSError:
        return False


def make_environment(folder: Path) -> Path:
    """The interpreter of the environment in `folder`, made when it is absent or broken."""
    python = folder / "bin" / "python"
    if works(python):
        return python
    for stamp in folder.glob(".installed-*"):
        stamp.unlink()
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", folder], capture_output=True, text=True)
    if made.returncode != 0 or not works(python):
        print(made.stdout + made.stderr, file=sys.stderr)
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        fail(
            f"could not make the virtual environment {folder} with {sys.executable}. On Debian or Ubuntu: "
            f"apt-get install python3-venv (or python{version}-venv); elsewhere see the lines above"
        )
    return python


def install(python: Path, lock: Path, *, verbose: bool) -> None:
    """Installs exactly what `lock` lists, each file checked against its hash."""
    command = [python, "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    command += ["--require-hashes", "--no-deps", "-r", lock]
    clean = {
        k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_USER")
    }
    done = subprocess.run(command, text=True, env=clean, capture_output=not verbose)
    if done.returncode != 0:
        print((done.stdout or "") + (done.stderr or ""), file=sys.stderr)
        fail(
            f"pip could not install {lock} (see above). Without a network: make PYTHON=python3 VENV= uses "
            "the packages of an interpreter that has them"
        )


def main(arguments: list[str]) -> None:
    """Installs a lock file and leaves the stamp that says so."""
    verbose = "--verbose" in arguments
    folder, lock, stamp = (Path(name) for name in arguments if name != "--verbose")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        guard = os.open(folder, os.O_RDONLY)
        fcntl.flock(guard, fcntl.LOCK_EX)
        install(make_environment(folder.absolute()), lock, verbose=verbose)
        stamp.write_text(lock.read_text())
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        fail(f"cannot write the virtual environment {folder}: {error.strerror}{where}")
    except KeyboardInterrupt:
        sys.exit(130)


main(sys.argv[1:])
