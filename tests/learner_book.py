"""Complete workbooks of made-up learners: real programs and real results, in separate folders."""

import os
import shutil
from pathlib import Path

from whole_kernels import kernel_text

from grader.authoring.clang_differences import compiled_by_clang, is_clang
from grader.core.workbook import Workbook
from grader.learner.grade import Options, judge

# What the second learner got wrong, by chapter: kernels of tests/wrong.
WRONG = {
    "ch01": "misspelt",  # BUILD
    "ch02": "managed_counter",  # REJECT
    "ch03": "no_barrier_between_levels",  # RACE
    "ch04": "early_return",  # SYNC
    "ch05": "a_tree_with_conflicts",  # SLOW, with bank conflicts
}
NEVER_RUN, EDITED, HOSTILE = "ch08", "ch07", "ch10"
EVIL = """\
// </script><script>window.evil = 1</script> <img src=x onerror="window.evil=1"> &amp; "quotes" ' <!-- ]]>
// </code></summary></details></section><h1>taken over</h1>
"""


def solved(built: Path, folder: Path) -> Path:
    """A learner whose every kernel is the reference, judged."""
    folder.mkdir()
    for name in ("common", "bench", "docs", ".venv"):  # the last may hold the compiler
        if (built / name).exists():
            (folder / name).symlink_to(built / name)
    shutil.copy2(built / "Makefile", folder)
    shutil.copytree(built / "solutions", folder / "solutions")
    (folder / "build" / "bin").mkdir(parents=True)
    for tool in ("compile", "run_program"):
        shutil.copy2(built / "build" / "bin" / tool, folder / "build" / "bin")
    if (built / "build" / "lib" / "cudart").exists():  # not where there is no nvcc
        shutil.copytree(built / "build" / "lib" / "cudart", folder / "build" / "lib" / "cudart")
    for chapter in sorted((built / "chapters").glob("ch??_*")):
        shutil.copytree(chapter, folder / "chapters" / chapter.name)
        shutil.copy2(folder / "solutions" / chapter.name / "kernel.cu", folder / "chapters" / chapter.name)
        shutil.copy2(built / "build" / "programs" / chapter.name[:4], folder)
    judge_all(folder)
    return folder


def broken(finished: Path, folder: Path) -> Path:
    """A learner with the same progress except for the differences above, judged if it says so."""
    copied(finished, folder)
    workbook = Workbook(folder)
    shutil.rmtree(folder / "progress")
    kernels = {chapter.name: folder / chapter.kernel for chapter in workbook.chapters}
    for name, wrong in WRONG.items():
        kernels[name].write_text(kernel_text(f"wrong/{name}/{wrong}"))
    kernels[HOSTILE].write_text(EVIL + kernels[HOSTILE].read_text())
    for name in (NEVER_RUN, *WRONG, HOSTILE):
        for path in (folder / "build" / "results").glob(f"{name}.*"):
            path.unlink()
    shutil.rmtree(folder / "build" / NEVER_RUN)
    judge_all(folder, *(name for name in kernels if name != NEVER_RUN))
    kernels[EDITED].write_text(kernels[EDITED].read_text() + "// one more thought\n")
    return folder


def copied(book: Path, folder: Path) -> Path:
    """Another learner with the same files; the programs, which never change, are not copied."""

    def copy(source: str, target: str) -> str:
        if Path(source).parent == book and Path(source).name.startswith("ch"):
            os.link(source, target)
            return target
        return shutil.copy2(source, target)

    return Path(shutil.copytree(book, folder, symlinks=True, copy_function=copy))


def judge_all(folder: Path, *names: str) -> None:
    """Judges and records on the emulator; a whole program, which needs nvcc, is left out where there is none."""
    workbook = Workbook(folder)
    chapters = workbook.select(list(names))
    if is_clang(workbook):
        chapters = compiled_by_clang(workbook, chapters)
    graded = judge(workbook, chapters, Options(device="auto"))
    assert not graded.troubles, graded.troubles
    infra = [outcome.result.message for outcome in graded.outcomes if outcome.result.verdict == "INFRA"]
    assert not infra, infra
