"""`./warpbook run prog.cu`, `check` and `profile`."""

import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from ...core.errors import UsageError
from .build import built, read_request, run_program

Words = Annotated[
    list[str],
    typer.Argument(
        metavar="PROG.CU [FILES AND OPTIONS OF NVCC] [-- ARGUMENTS]", help="The program, and its arguments."
    ),
]
ProfileName = Annotated[str | None, typer.Option(help="The GPU to imitate; default H200.")]
Keep = Annotated[Path | None, typer.Option(help="Also leave the compiled program here.")]
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


def run(words: Words, gpu: ProfileName = None, seed: Seed = 0, keep: Keep = None) -> int:
    """Compile a whole CUDA program and run it without a GPU."""
    return _run(words, gpu, keep, {"WARPBOOK_SEED": str(seed)})


def check(
    words: Words,
    gpu: ProfileName = None,
    seed: Seed = 0,
    keep: Keep = None,
    error_exitcode: Annotated[
        int, typer.Option(min=0, max=255, help="The exit status if there are findings; 0: the program's own.")
    ] = 1,
    findings: Annotated[Path | None, typer.Option(help="Also write the findings here, as JSON.")] = None,
) -> int:
    """Run a whole CUDA program with all checks of its kernels and of its host code."""
    settings = {
        "WARPBOOK_CHECK": "1",
        "WARPBOOK_SEED": str(seed),
        "WARPBOOK_ERROR_EXITCODE": str(error_exitcode),
    }
    if findings:
        settings["WARPBOOK_FINDINGS"] = str(findings.absolute())
    return _run(words, gpu, keep, settings)


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
    from .profile import print_page, read_profile, write_profile  # tables are needed here only

    if out and out.suffix not in (".csv", ".json"):
        raise UsageError(f"{out}: name a file that ends in .csv or .json")
    with tempfile.TemporaryDirectory(prefix="warpbook-") as folder:
        document = Path(folder) / "profile.json"
        status = _run(words, gpu, keep, {"WARPBOOK_PROFILE": str(document)})
        profiled = read_profile(document)
    print_page(profiled, lines)
    if out:
        write_profile(profiled, out)
    return status
