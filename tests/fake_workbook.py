"""A checkout in small: chapters whose ./chNN is a script, for tests of the grader."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

# As in the workbook's Makefile, a program that another grader is starting is replaced, not written into.
MAKEFILE = """\
put = cp -p $1 $2.$$$$ && mv -f $2.$$$$ $2
programs := $(notdir $(wildcard programs/*))
.PHONY: tools $(addprefix program-,$(programs))
tools:
\t@mkdir -p build/bin; $(call put,compile,build/bin/compile)
$(addprefix program-,$(programs)): program-%: build/programs/%
\t@$(call put,$<,$*)
build/programs/%: programs/%
\t@grep -q BROKEN $< && { echo "$<:1:1: error: expected ';'"; exit 1; }; mkdir -p build/programs; $(call put,$<,$@)
"""

PROGRAM = """\
#!{python}
import json, os, signal, subprocess, sys, time
name = {name!r}
arguments = dict(zip(sys.argv[1::1], sys.argv[2::1]))
with open("ran", "a") as log:
    log.write(name + "\\n")
kernel = arguments.get("--kernel", {kernel!r})
text = "".join(line for line in open(kernel) if not line.startswith("//"))
result = {{"schema": "warpbook/result/1", "chapter": name, "title": name, "device": {{"kind": "emulator"}},
          "verdict": "PASS", "points": {{"earned": 10, "possible": 10}}, "build": {{}}, "findings": [],
          "counters": {{"barriers": 3}}, "lines": [], "goals": [],
          "bandwidth": {{"gb_per_s": 1412.0, "kind": "modelled", "device": "H200", "ratio": 1.0}}}}
status = 0
def write():
    path = arguments["--json"]
    points = result.get("points")
    if result.get("verdict") not in ("PASS", "SLOW") and points == {{"earned": 10, "possible": 10}}:
        points["earned"] = 0  # as ./chNN does
    open(path + ".new", "w").write(json.dumps(result))
    os.rename(path + ".new", path)
exec(text)
write()
sys.exit(status)
"""


SOLUTION = """\
// SKELETON VERDICT: WRONG
// BEGIN SOLUTION
// TODO 1: think
hidden = "a solution"
// END SOLUTION
"""


class FakeWorkbook:
    """A folder with chapters; what a chapter's kernel.cu holds is Python that its ./chNN runs."""

    def __init__(self, folder: Path, kernels: dict[str, str]) -> None:
        self.folder = folder
        (folder / "programs").mkdir(parents=True)
        (folder / "common" / "include").mkdir(parents=True)
        (folder / "Makefile").write_text(MAKEFILE)
        (folder / "compile").write_text(
            '#!/bin/sh\nmkdir -p "$2" && cp "$1" "$2/$$" && mv "$2/$$" "$2/kernel.ptx"\n'
        )
        (folder / "compile").chmod(0o755)
        (folder / "common" / "include" / "warpbook.cuh").write_text("// header\n")
        for name, kernel in kernels.items():
            chapter = folder / "chapters" / f"{name}_fake"
            chapter.mkdir(parents=True)
            (chapter / "chapter.c").write_text("")
            (chapter / "README.md").write_text(f"# Chapter {int(name[2:])}: Fake {name}\n")
            (chapter / "hints.md").write_text("# Hints\n\n## 1\n\nfirst\n\n## 2\n\nsecond\n\n## 3\n\nthird\n")
            (chapter / "kernel.cu").write_text(kernel)
            solution = folder / "solutions" / f"{name}_fake"
            solution.mkdir(parents=True)
            (solution / "kernel.cu").write_text(SOLUTION)
            program = folder / "programs" / name
            path = f"chapters/{name}_fake/kernel.cu"
            program.write_text(PROGRAM.format(python=sys.executable, name=name, kernel=path))
            program.chmod(0o755)

    def kernel(self, name: str) -> Path:
        return self.folder / "chapters" / f"{name}_fake" / "kernel.cu"

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "grader", *arguments]

    def environment(self) -> dict[str, str]:
        return os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}

    def run(self, *arguments: str, timeout: float = 60, **more: Any) -> subprocess.CompletedProcess[str]:
        """Runs the grader here; what it prints never holds a traceback."""
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=timeout,
            **({"stdin": subprocess.DEVNULL, "env": self.environment()} | more),
        )
        assert "Traceback" not in done.stderr + done.stdout, done.stderr
        return done

    def document(self, *arguments: str, **more: Any) -> tuple[int, dict[str, Any]]:
        """Runs the grader with --json; its exit status and document."""
        done = self.run(arguments[0], "--json", *arguments[1:], **more)
        return done.returncode, json.loads(done.stdout)

    def ran(self) -> list[str]:
        """Which programs ran since last asked."""
        log = self.folder / "ran"
        names = log.read_text().split() if log.exists() else []
        log.unlink(missing_ok=True)
        return sorted(names)

    def remove(self) -> None:
        shutil.rmtree(self.folder)
