"""`./warpbook run prog.cu`, `check` and `profile`."""

import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from ...core.errors import UsageError
from ...core.workbook import write_whole
from .build import built, read_request, run_program
from .findings import Checked, read_findings
from .findings import junit as junit_text
from .findings import sarif as sarif_text

Words = Annotated[
    list[str],
    typer.Argument(
        metavar="PROG.CU [FILES AND OPTIONS OF NVCC] [-- ARGUMENTS]", help="The program, and its arguments."
    ),
]
ProfileName = Annotated[str | None, typer.Option(help="The GPU to imitate; default H200.")]
Devices = Annotated[int, typer.Option(min=1, max=8, help="How many such GPUs the program sees.")]
Keep = Annotated[Path | None, typer.Option(help="Also leave the compiled program here.")]
SarifFile = Annotated[
    Path | None, typer.Option("--sarif", help="Also write the findings here, as SARIF 2.1.0.")
]
JunitFile = Annotated[
    Path | None, typer.Option("--junit", help="Also write the findings here, as JUnit XML.")
]
Seed = Annotated[
    int,
    typer.Option(
        min=0,
        help="Run asynchronous work and threads in an order chosen by this number; 0: as late as possible.",
    ),
]


def _run(words: list[str], gpu: str | None, keep: Path | None, settings: dict[str, str]) -> int:
    os.chdir(os.environ.get("WARPBOOK_FOLDER", "."))  # where the command was typed
    request = read_request(words)
    with built(request, gpu=gpu, keep=keep) as (program, environment):
        return run_program(program, request.arguments, environment | settings)


def run(
    words: Words, gpu: ProfileName = None, seed: Seed = 0, keep: Keep = None, devices: Devices = 1
) -> int:
    """Compile a whole CUDA program and run it without a GPU."""
    return _run(words, gpu, keep, {"WARPBOOK_SEED": str(seed), "WARPBOOK_DEVICES": str(devices)})


def check(
    words: Words,
    gpu: ProfileName = None,
    seed: Seed = 0,
    keep: Keep = None,
    error_exitcode: Annotated[
        int, typer.Option(min=0, max=255, help="The exit status if there are findings; 0: the program's own.")
    ] = 1,
    findings: Annotated[Path | None, typer.Option(help="Also write the findings here, as JSON.")] = None,
    sarif: SarifFile = None,
    junit: JunitFile = None,
    devices: Devices = 1,
) -> int:
    """Run a whole CUDA program with all checks of its kernels and of its host code."""
    settings = {
        "WARPBOOK_CHECK": "1",
        "WARPBOOK_SEED": str(seed),
        "WARPBOOK_DEVICES": str(devices),
        "WARPBOOK_ERROR_EXITCODE": str(error_exitcode),
    }
    with tempfile.TemporaryDirectory(prefix="warpbook-") as folder:
        start = Path(os.environ.get("WARPBOOK_FOLDER", "."))  # where the command was typed
        document = start / findings if findings else Path(folder) / "findings.json"
        document.parent.mkdir(parents=True, exist_ok=True)
        document.unlink(missing_ok=True)
        settings["WARPBOOK_FINDINGS"] = str(document.absolute())
        status = _run(words, gpu, keep, settings)
        if sarif or junit:
            if document.is_file():
                runs = [read_findings(document)]
            else:  # it left before its handlers of exit() could run
                runs = [Checked(Path(words[0]).stem, status, [])]
            _write(runs, sarif, junit)
    return status


def findings(
    files: Annotated[list[Path], typer.Argument(help="What WARPBOOK_FINDINGS named, one file a program.")],
    error_exitcode: Annotated[
        int, typer.Option(min=0, max=255, help="The exit status if there are findings.")
    ] = 1,
    sarif: SarifFile = None,
    junit: JunitFile = None,
) -> int:
    """List what several checked programs have found, and write it for continuous integration."""
    os.chdir(os.environ.get("WARPBOOK_FOLDER", "."))  # where the command was typed
    runs = []
    for file in files:
        if not file.is_file():
            raise UsageError(f"{file}: no such file")
        runs.append(read_findings(file))
    _write(runs, sarif, junit)
    found = [finding for run in runs for finding in run.findings]
    for line in dict.fromkeys(
        f"{one.place}: {one.verdict}: {one.message.partition(chr(10))[0]}" for one in found
    ):
        print(line)
    programs = f"{len(runs):,} program" + ("s" if len(runs) != 1 else "")
    print(f"{len(found):,} finding" + ("s" if len(found) != 1 else ""), "in", programs)
    return error_exitcode if found else 0


def _write(runs: list[Checked], sarif_file: Path | None, junit_file: Path | None) -> None:
    if sarif_file:
        write_whole(sarif_file, sarif_text(runs, Path.cwd()).encode())
    if junit_file:
        write_whole(junit_file, junit_text(runs).encode())


def profile(
    words: Words,
    gpu: ProfileName = None,
    keep: Keep = None,
    out: Annotated[
        Path | None, typer.Option(help="Also write everything here, as CSV or JSON by the file's suffix.")
    ] = None,
    lines: Annotated[int, typer.Option(min=0, help="How many source lines to show for each kernel.")] = 5,
) -> int:
    """Run a whole CUDA program; show counters, modelled time and limiter of each kernel, and its busiest lines."""
    from .profile import add_listings, print_page, read_profile, write_profile  # tables are needed here only

    if out and out.suffix not in (".csv", ".json"):
        raise UsageError(f"{out}: name a file that ends in .csv or .json")
    with tempfile.TemporaryDirectory(prefix="warpbook-") as folder:
        document = Path(folder) / "profile.json"
        settings = {"WARPBOOK_PROFILE": str(document), "WARPBOOK_PTX": folder}
        status = _run(words, gpu, keep, settings)
        profiled = read_profile(document)
        add_listings(profiled, sorted(Path(folder).glob("*.ptx")))
    print_page(profiled, lines)
    if out:
        write_profile(profiled, out)
    return status
