"""`make editor`: what editors need to know: how clang reads a kernel.cu, and how to judge the file on the screen.

docs/editors.md says how editors use it.
"""

import json
from pathlib import Path
from typing import Any

from ..core.errors import PASSED, MachineError, explain_os_error
from ..core.options import Json
from ..core.page import print_json
from ..core.workbook import Workbook, find_workbook, write_whole

# As common/driver/build/command_line.c calls clang, for a clang that only reads the file. Any release since 14 has this
# architecture; which one it is matters to no chapter's source.
_FLAGS = (
    "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-nostdinc", "-nostdinc++",
    "-Wno-unknown-cuda-version", "-std=c++17", "--cuda-gpu-arch=sm_80", "-include", "warpbook/cuda.h",
)  # fmt: skip
_CLANGD = """\
# For clangd, which shows errors in kernels while you type. Written by {command}; docs/editors.md.
CompileFlags:
  CompilationDatabase: .
Diagnostics:
  UnusedIncludes: None
"""
# A whole program is compiled against NVIDIA's headers, which clangd of most releases cannot read.
_SILENT = """\
---
If:
  PathMatch: .*/{folder}/.*
Diagnostics:
  Suppress: '*'
"""
# What ./chNN --format gcc prints for each finding.
_MATCHER = {
    "owner": "warpbook",
    "source": "warpbook",
    "fileLocation": ["relative", "${workspaceFolder}"],
    "pattern": {
        "regexp": r"^(.+?):(\d+):(?:(\d+):)?\s+(error|warning|note):\s+(.*)$",
        "file": 1, "line": 2, "column": 3, "severity": 4, "message": 5,
    },
}  # fmt: skip


def editor_files(workbook: Workbook, root: Path, *, packaged: bool) -> dict[str, str]:
    """The files for the folder `root`, by name: of a checkout, or one made from the package's tree `workbook`."""
    include = workbook.tree / "common" / "include"
    paths = ["-isystem", str(include / "clang"), "-I", str(include)]
    files = [chapter.kernel for chapter in workbook.chapters]
    files += [] if packaged else [chapter.solution / "kernel.cu" for chapter in workbook.chapters]
    commands = [
        {"directory": str(root), "file": str(file), "arguments": ["clang++", *_FLAGS, *paths, str(file)]}
        for file in files
    ]
    command = "warpbook update" if packaged else "make editor"
    programs = [chapter.folder.name for chapter in workbook.chapters if workbook.is_program(chapter)]
    return {
        ".clangd": _CLANGD.format(command=command)
        + "".join(_SILENT.format(folder=name) for name in programs),
        "compile_commands.json": _text(commands),
        ".vscode/tasks.json": _text({"version": "2.0.0", "tasks": _tasks(packaged=packaged)}),
    }


def _tasks(*, packaged: bool) -> list[dict[str, Any]]:
    """Tasks for the kernel.cu on the screen, whose folder is named like ch04_warp_shuffle."""
    folder = "${fileDirnameBasename}"
    judge = ["warpbook", folder] if packaged else _through_make('make -s "$c" && "./$c" "$@"', folder)
    hint = ["warpbook", "hint", folder] if packaged else _through_make('make -s "hint-$c"', folder)
    return [
        _task(
            "Warpbook: judge this kernel",
            [*judge, "--format", "gcc"],
            group={"kind": "build", "isDefault": True},
        )
        | {"problemMatcher": _MATCHER},
        _task("Warpbook: show this kernel's verdict", judge),
        _task("Warpbook: hint", hint),
    ]


def _task(label: str, command: list[str], **more: Any) -> dict[str, Any]:
    return {
        "label": label,
        "type": "process",
        "command": command[0],
        "args": command[1:],
        "options": {"cwd": "${workspaceFolder}"},
        "presentation": {"clear": True, "panel": "shared"},
        "problemMatcher": [],
        **more,
    }


def _through_make(script: str, folder: str) -> list[str]:
    return ["sh", "-c", f"c=${{0%%_*}}; {script}", folder]


def _text(document: Any) -> str:
    return json.dumps(document, indent=2) + "\n"


def editor(as_json: Json = False) -> int:
    """Write settings for editors: .clangd, compile_commands.json and .vscode/tasks.json."""
    workbook = find_workbook()
    written, kept = [], []
    try:
        for name, text in editor_files(workbook, workbook.root, packaged=workbook.is_packaged).items():
            path = workbook.root / name
            if path.exists() and path.read_text("utf-8", errors="replace") != text and _is_yours(name, path):
                kept.append(name)
                continue
            write_whole(path, text)
            written.append(name)
    except OSError as error:
        raise MachineError(f"the settings could not be written: {explain_os_error(error)}") from None
    if as_json:
        print_json({"schema": "warpbook/editor/1", "written": written, "kept": kept})
        return PASSED
    print(
        f"{', '.join(written) or 'Nothing'} written; docs/editors.md says how VS Code, Vim and Emacs use them."
    )
    for name in kept:
        print(f"{name} is yours and was kept; remove it to get the workbook's")
    return PASSED


def _is_yours(name: str, path: Path) -> bool:
    """Whether somebody else wrote the file: it says nothing of the workbook."""
    return name != "compile_commands.json" and "arpbook" not in path.read_text("utf-8", errors="replace")
