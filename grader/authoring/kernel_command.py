"""`make kernel` writes kernels of tests/wrong and tests/right in full; `make kernel-edit` stores them as edits."""

import difflib
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..core.errors import PASSED, UsageError
from ..core.options import Json
from ..core.page import print_json
from ..core.workbook import Workbook, find_workbook, write_whole
from . import edits, kernels

_WORTH_IT = 2 / 3  # an edit has at most this share of the lines of its kernel

Names = Annotated[
    list[str] | None, typer.Argument(help="Kernels such as wrong/ch09/NAME, or folders such as wrong/ch09.")
]


def kernel_command(asked: Names = None, as_json: Json = False) -> int:
    """Write kernels of tests/wrong and tests/right, or bases of edits, in full to build/kernels."""
    workbook = find_workbook()
    bases = [name for name in asked or [] if name.partition("/")[0] in kernels.FORMS]
    others = [name for name in asked or [] if name not in bases]
    written = {name: kernels.write(workbook, name, kernels.base(workbook, name).encode()) for name in bases}
    if others or not bases:
        for kernel in kernels.read_all(workbook, _chosen(workbook, others)):
            written[kernel.name] = kernels.write(workbook, kernel.name, kernel.content)
    rows = [{"name": name, "path": _shown(workbook, path)} for name, path in written.items()]
    if as_json:
        print_json({"schema": "warpbook/kernel/1", "kernels": rows})
    else:
        print(*(row["path"] for row in rows), sep="\n")
    return PASSED


def _chosen(workbook: Workbook, asked: list[str]) -> list[str]:
    """The names of the kernels that `asked` stands for; raises UsageError for an unknown name, or for none."""
    known = kernels.names(workbook, [chapter.name for chapter in workbook.chapters])
    chosen: dict[str, None] = {}
    for word in asked:
        name = re.sub(r"^(\./)?(tests/)?|(\.cu|\.patch|/)$", "", word)
        matching = [other for other in known if other == name or other.startswith(f"{name}/")]
        if not matching:
            like = _like(name, known)
            remark = f"did you mean {', '.join(like)}?" if like else "names have the form wrong/ch09/NAME"
            shown = word if word.isprintable() and len(word) <= 80 else ascii(word)[:80]
            raise UsageError(f"there is no kernel {shown}; {remark}")
        chosen |= dict.fromkeys(matching)
    if not chosen:
        raise UsageError("no kernel is named: say K=wrong/ch09/NAME, or K=wrong/ch09 for a folder")
    return list(chosen)


def _like(name: str, known: list[str]) -> list[str]:
    """Up to three kernels, or folders of kernels, with names like that one."""
    if name.count("/") < 2:
        folders = sorted({other.rpartition("/")[0] for other in known})
        if close := difflib.get_close_matches(name, folders):
            return close
    last = name.rpartition("/")[2]
    close = difflib.get_close_matches(last, {other.rpartition("/")[2] for other in known})
    return difflib.get_close_matches(name, known) or [k for k in known if k.rpartition("/")[2] in close][:3]


def _shown(workbook: Workbook, path: Path) -> str:
    return str(path.relative_to(workbook.root))


# ---- make kernel-edit --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Stored:
    """How a kernel is stored now."""

    name: str
    path: str
    lines: int  # of the kernel; 0 if it was an edit before
    base: str  # of the shortest edit; "" if there is none
    edit_lines: int  # of that edit
    remark: str


def kernel_edit_command(
    asked: Names = None,
    base: Annotated[str, typer.Option(help="The kernel to edit; by default the best one.")] = "",
    as_json: Json = False,
) -> int:
    """Store kernels of tests/wrong and tests/right as edits of other kernels, if that is shorter."""
    workbook = find_workbook()
    outcomes = [_store(workbook, name, base) for name in _chosen(workbook, asked or [])]
    if as_json:
        print_json({"schema": "warpbook/kernel-edit/1", "kernels": [asdict(outcome) for outcome in outcomes]})
    else:
        print(*(f"{outcome.path}: {outcome.remark}" for outcome in outcomes), sep="\n")
    return PASSED


def _store(workbook: Workbook, name: str, asked_base: str) -> _Stored:
    """Turns NAME.cu into an edit, or leaves it in full; removes a former edit of that name."""
    path = kernels.stored(workbook, name)
    patch = path.with_suffix(".patch")
    if not path.is_file():
        return _Stored(name, _shown(workbook, patch), 0, "", 0, "already an edit")
    content = path.read_bytes()
    kernels.declared(name, content, path.name)
    lines, base, text = content.count(b"\n"), "", ""
    in_use = _bases_in_use(workbook, name.split("/")[1])
    if name in in_use:
        count = in_use.count(name)
        remark = f"stays in full: the base of {count} {'edit' if count == 1 else 'edits'}"
    else:
        bases = [asked_base] if asked_base else _usual(workbook, name, in_use)
        base, text = _shortest(workbook, name, content, bases)
        remark = f"stays in full, {lines} lines: the shortest edit, of {base}, has {_lines(text)}"
        remark = remark if text else f"stays in full: it differs from {' '.join(bases)} only in its header"
    if not text or _lines(text) > _WORTH_IT * lines:
        patch.unlink(missing_ok=True)
        return _Stored(name, _shown(workbook, path), lines, base, _lines(text), remark)
    write_whole(patch, kernels.bytes_of(text))
    path.unlink()
    remark = f"now an edit of {base}, {_lines(text)} lines instead of {lines}"
    return _Stored(name, _shown(workbook, patch), lines, base, _lines(text), remark)


def _lines(text: str) -> int:
    return text.count("\n")


def _bases_in_use(workbook: Workbook, chapter: str) -> list[str]:
    """The base that each edit of a chapter names, "" for none."""
    return [
        edits.parse(kernels.text_of(path.read_bytes()), _shown(workbook, path)).base
        for path in sorted((workbook.root / "tests").glob(f"*/{chapter}/*.patch"))
    ]


def _usual(workbook: Workbook, name: str, in_use: list[str]) -> list[str]:
    """The bases to try: the forms of the solution, the right kernel called plain, and the bases of other edits."""
    chapter = name.split("/")[1]
    plain = f"right/{chapter}/plain"
    tried = [f"{form}/{chapter}" for form in kernels.FORMS]
    tried += [plain] if kernels.stored(workbook, plain).is_file() else []
    return [base for base in dict.fromkeys(tried + in_use) if base not in ("", name)]


def _shortest(workbook: Workbook, name: str, content: bytes, bases: list[str]) -> tuple[str, str]:
    """The base of the shortest edit for a kernel, and the edit; both "" if every base is the same kernel."""
    own = f"solution/{name.split('/')[1]}"
    target, best = kernels.text_of(content), ("", "")
    for base in bases:
        text = kernels.base(workbook, base)
        try:
            edit = edits.make(text, target, "" if base == own else base)
        except edits.EditError:  # the same kernel
            continue
        written = edits.write(edit)
        if edits.apply(edits.parse(written, name), text, name, base) != target:
            raise AssertionError(f"the edit of {base} does not give {name}")
        if not best[1] or _lines(written) < _lines(best[1]):
            best = base, written
    return best
