"""Building the programs with make. Those of the package are ready, and there is no make."""

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Callable

from .errors import MachineError
from .processes import Processes, clean_environment
from .workbook import Chapter, Workbook


def to_standard_error(line: str) -> None:
    """Receives each line of make's output."""
    sys.stderr.write(line)
    sys.stderr.flush()


def make(
    workbook: Workbook,
    *goals: str,
    jobs: int,
    hear: Callable[[str], None] = to_standard_error,
    processes: Processes | None = None,
) -> tuple[int, str]:
    """Run make; `hear` gets each line as it is printed. Returns exit status and output.

    If `processes` is given, its `stop` ends make, and Ctrl-C does not reach it.
    """
    variables = _variables()
    quiet = [] if any(variable.startswith("V=") for variable in variables) else ["-s"]
    command = ["make", "-k", *quiet, f"-j{jobs}", *variables, *goals]
    if workbook.is_packaged:
        commands = [goal for goal in goals if not re.match(r"program-|tools$|cudart$", goal)]
        if not commands:
            return 0, ""
        command = [sys.executable, "-m", "grader", *commands]
    try:
        process = subprocess.Popen(
            command,
            cwd=workbook.root,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=processes is not None,
        )
    except FileNotFoundError:
        raise MachineError("make is not on PATH. On Debian or Ubuntu: apt-get install make") from None
    lines = []
    with process, processes.holding(process) if processes else contextlib.nullcontext():
        try:
            for line in process.stdout or ():
                lines.append(line)
                hear(line)
        except BaseException:
            process.terminate()
            raise
    return process.returncode, "".join(lines[-400:])


def _variables() -> list[str]:
    """The variables on the command line of the make above, as $(MAKEOVERRIDES) holds them.

    make puts a backslash before each blank and backslash, and doubles each dollar.
    """
    words = re.findall(r"(?:\\.|[^\\ \t])+", os.environ.get("WARPBOOK_MAKE_VARIABLES", ""), re.DOTALL)
    return [re.sub(r"\\(.)|\$(\$)", r"\1\2", word, flags=re.DOTALL) for word in words]


def has_target(workbook: Workbook, name: str) -> bool:
    """Whether the Makefile, or a file that it includes, has a rule for `name`."""
    if workbook.is_packaged:
        return True  # every command is part of the package
    files = [workbook.root / "Makefile", *(workbook.root / "mk").glob("*.mk")]
    return any(re.search(rf"^{name}\b[^=\n]*:", path.read_text("utf-8"), re.MULTILINE) for path in files)


def build_programs(
    workbook: Workbook,
    chapters: list[Chapter],
    *,
    jobs: int,
    hear: Callable[[str], None] = to_standard_error,
    processes: Processes | None = None,
) -> dict[str, str]:
    """Build ./chNN for `chapters`; returns the reason for each that could not be built."""
    goals = [*(f"program-{chapter.name}" for chapter in chapters), "tools"]
    status, output = make(workbook, *goals, jobs=jobs, hear=hear, processes=processes)
    if status == 0:
        return {}
    failed = {}
    for chapter in chapters:
        query = ["make", "-q", *_variables()]
        query += [str((workbook.out / "programs" / chapter.name).relative_to(workbook.root))]
        if (
            subprocess.run(query, cwd=workbook.root, env=clean_environment(), capture_output=True).returncode
            != 0
        ):
            failed[chapter.name] = _last_words(output)
    if len(failed) == len(chapters):
        raise MachineError(f"the programs could not be built: {_last_words(output)}")
    return failed


def need_programs(
    workbook: Workbook,
    chapters: list[Chapter],
    *,
    jobs: int,
    hear: Callable[[str], None] = to_standard_error,
    processes: Processes | None = None,
) -> None:
    """Call `build_programs`; raises MachineError for the first program that could not be built."""
    for name, why in build_programs(workbook, chapters, jobs=jobs, hear=hear, processes=processes).items():
        raise MachineError(f"./{name} could not be built: {why}")


def _last_words(output: str) -> str:
    """The most informative line of make's output: our own message, or else the first error."""
    lines = [line.strip() for line in output.splitlines()]
    for wanted in ("warpbook: ", " error: ", "error:", "undefined reference", "***"):
        for line in lines:
            if wanted in line:
                return line.removeprefix("warpbook: ")
    return lines[-1] if lines else "make printed nothing"
