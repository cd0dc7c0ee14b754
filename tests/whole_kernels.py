"""The kernels of tests/wrong and tests/right in full, whether they are stored as edits or not."""

from pathlib import Path

from conftest import ROOT

from grader.authoring import kernels
from grader.core.workbook import Workbook


def kernel_names(chapter: str) -> list[str]:
    """The kernels of a chapter, the wrong ones first."""
    return kernels.names(Workbook(ROOT), [chapter])


def kernel_text(name: str) -> str:
    """The text of a kernel such as wrong/ch09/last_row."""
    return kernels.read(Workbook(ROOT), name).content.decode()


def kernel_file(name: str) -> Path:
    """A file in build/kernels with the text of a kernel."""
    return kernels.write(Workbook(ROOT), name, kernel_text(name).encode())
