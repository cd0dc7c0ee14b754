"""Applies a proved change to the text of a kernel: the ways in which a learner would write it."""

import re
from collections.abc import Iterator
from typing import Any

_STATEMENTS = {
    "barrier": "__syncthreads();",
    "moved-barrier": "__syncthreads();",
    "warp-barrier": "__syncwarp();",
    "fence": "__threadfence();",
    "async-wait": 'asm volatile("cp.async.wait_all;" ::: "memory");',
}
_FLOATS = {"0": "0.0f", "1": "1.0f"}
_WARP_FUNCTION = re.compile(
    r"(__(?:shfl\w*|ballot|any|all|syncwarp|reduce\w*|match\w*)(?:_sync)?\()([^,()]+)"
)
_NUMBERS = {
    "the thread's number in the grid for its number in the block": (
        "threadIdx.x",
        "(blockIdx.x * blockDim.x + threadIdx.x)",
    ),
    "the grid's number of threads for the block's": ("blockDim.x", "(gridDim.x * blockDim.x)"),
    "the block's number for the thread's": ("threadIdx.x", "blockIdx.x"),
    "the thread's number in the grid for the block's number": (
        "blockIdx.x",
        "(blockIdx.x * blockDim.x + threadIdx.x)",
    ),
    "the warp's number for the lane's": ("lane", "(threadIdx.x / 32)"),
    "the lane's number for the warp's": ("warp", "(threadIdx.x % 32)"),
    "the warp's number in the grid for its number in the block": (
        "warp",
        "((blockIdx.x * blockDim.x + threadIdx.x) / 32)",
    ),
    "the thread's number in the block for the lane's": ("lane", "threadIdx.x"),
}


def applied(change: dict[str, Any], text: str, finding_line: int) -> Iterator[str]:
    """Texts with the change, the likeliest first; none for a change that no single edit can express."""
    lines = text.split("\n")
    kind, at = change["change"], change["line"]
    if kind in _STATEMENTS and at and change["place"] != "within":
        if kind == "moved-barrier":
            lines[finding_line - 1] = lines[finding_line - 1].replace("__syncthreads();", "")
        if change["words"].startswith("no __syncthreads()"):
            yield "\n".join(lines)
            return
        yield from _inserted(lines, at, change["place"], _STATEMENTS[kind])
    elif kind in ("constant", "comparison", "operator"):
        now, was = re.fullmatch(r"(.+?) instead of (.+) in line \d+", change["words"]).groups()  # type: ignore[union-attr]
        bounds = r"(?<![\w.<>=!]){}(?![\w.=])" if kind == "constant" else r"(?<![<>=!\-]){}(?![<>=])"
        for found in re.finditer(bounds.format(r"\s*".join(map(re.escape, was.split()))), lines[at - 1]):
            yield _with(lines, at, lines[at - 1][: found.start()] + now + lines[at - 1][found.end() :])
    elif kind == "start":
        now, was = re.fullmatch(r"(\S+) in place of (\S+) in line \d+", change["words"]).groups()  # type: ignore[union-attr]
        begin = lines[at - 1].find(_FLOATS.get(was, was))
        if begin >= 0:
            rest = lines[at - 1][begin + len(_FLOATS.get(was, was)) :]
            yield _with(lines, at, lines[at - 1][:begin] + _FLOATS.get(now, now) + rest)
    elif kind == "scope":
        yield _with(lines, at, re.sub(r"(__threadfence|atomic\w+)_block\(", r"\1(", lines[at - 1]))
    elif kind == "exchanged":
        yield _with(lines, at, re.sub(r"([\w.]+) - ([\w.]+)", r"\2 - \1", lines[at - 1]))
    elif kind == "full-mask":
        chosen = range(len(lines)) if at is None else [at - 1]
        for i in chosen:
            lines[i] = _WARP_FUNCTION.sub(r"\g<1>0xffffffff", lines[i])
            lines[i] = lines[i].replace("__activemask()", "0xffffffff")
        yield "\n".join(lines)
    elif kind == "number":
        said = change["words"].partition(" in line ")[0]
        now, _, was = said.partition(" instead of ")
        if said in _NUMBERS:
            was, now = _NUMBERS[said]
        changed = [at, *(int(line) for line in re.findall(r"and for line (\d+)", change["words"]))]
        for line in changed:
            lines[line - 1] = re.sub(rf"(?<![\w.]){re.escape(was)}\b", now, lines[line - 1])
        yield "\n".join(lines)
    elif kind == "guard":
        for name, bound in (("in", "n"), ("a", "n"), ("b", "n"), ("partial", "gridDim.x"), ("out", "n")):
            read = rf"(?<![\w.])({name})\[([^\[\]]+)\](?!\s*[-+*/]?=[^=])"
            inside = rf"((long long)(\2) >= 0 && (long long)(\2) < {bound} ? \1[\2] : 0)"
            if re.search(read, lines[at - 1]):
                yield _with(lines, at, re.sub(read, inside, lines[at - 1]))
    elif kind == "zero-shared":
        last = max(i for i, line in enumerate(lines[: finding_line or len(lines)]) if "__shared__" in line)
        found = re.search(r"__shared__ \w+ (\w+)\[", lines[last])
        if found:
            slots = f"sizeof {found[1]} / sizeof {found[1]}[0]"
            clear = f"if (threadIdx.x == 0) for (int k = 0; k < {slots}; k++) {found[1]}[k] = 0;"
            yield "\n".join([*lines[: last + 1], clear, "__syncthreads();", *lines[last + 1 :]])
    elif kind == "more-shared":
        yield re.sub(r"(__shared__ \w+ \w+\[)([^\]]+)\]", r"\g<1>2 * (\2)]", text)
    elif kind == "zero":
        yield re.sub(r"\b(float|double|int|unsigned)( \w+);", r"\1\2 = 0;", text)
    elif kind in ("one-lane", "one-thread"):
        one = "threadIdx.x % 32 == 0" if kind == "one-lane" else "threadIdx.x == 0"
        yield _with(lines, at, f"if ({one}) {{ {lines[at - 1]} }}")
    elif kind == "atomic":
        found = re.fullmatch(r"(\s*)(.*?)\s*\+=\s*(.*);(.*)", lines[at - 1])
        if found:
            yield _with(lines, at, f"{found[1]}atomicAdd((float *)&{found[2]}, {found[3]});{found[4]}")

    elif kind == "wide":
        yield _wide(lines, [int(line) for line in re.findall(r"line (\d+)", change["words"])])
    elif kind == "more-blocks" and "one more" in change["words"]:
        for grid in re.finditer(r"launch->grid = .*;", text):
            yield text[: grid.end()] + " launch->grid.x += 1;" + text[grid.end() :]
    elif kind == "larger-launch" and change["words"].startswith("blocks of"):
        size = re.search(r"blocks of (\d+) threads", change["words"])
        assert size
        yield re.sub(r"(LAUNCH\(\w+\) \{[^{}]*)\}", rf"\1launch->block = {size[1]}; }}", text)
    elif kind == "larger-launch" and (
        times := re.match(r"(twice|\d+ times) as many blocks", change["words"])
    ):
        factor = "2" if times[1] == "twice" else times[1].split()[0]
        for grid in re.finditer(r"launch->grid = .*;", text):
            yield f"{text[: grid.end()]} launch->grid.x *= {factor};{text[grid.end() :]}"
    elif kind == "block-size":
        size = re.search(r"blocks of (\d+) threads", change["words"])
        assert size
        threads = "launch->grid.x * launch->block.x"
        shape = f"launch->grid = ceil_div({threads}, {size[1]}); launch->block = {size[1]};"
        yield re.sub(r"(LAUNCH\(\w+\) \{[^{}]*)\}", rf"\1{shape} }}", text)
    elif kind == "more-blocks":
        share = re.search(r"every (\d+) elements", change["words"])
        least = (
            "rows"
            if "rows" in change["words"]
            else f"ceil_div(n, {share[1] if share else 1} * launch->block.x)"
        )
        more = "launch->grid = max((long long)launch->grid.x, (long long)({}));"
        yield re.sub(r"(launch->grid = .*;)", rf"\1 {more.format(least)}", text)


def _wide(lines: list[str], chosen: list[int]) -> str:
    """The whole numbers of some lines as long long: what they declare, cast to, multiply and assign to."""
    narrow = r"\b(?:unsigned int|unsigned|short|int)\b"
    for at in chosen:
        line = lines[at - 1]
        assigned = re.search(r"(\w+) \+?= ", line)
        line = re.sub(rf"{narrow}( \w+ = )", r"long long\1", line)
        line = re.sub(rf"\({narrow}\)", "(long long)", line)
        line = re.sub(r" \* (\w)", r" * (long long)\1", line)
        lines[at - 1] = line
        for i in range(at - 1) if assigned else ():
            lines[i] = re.sub(rf"{narrow}( {assigned[1]} = )", r"long long\1", lines[i])
    return "\n".join(lines)


def _with(lines: list[str], at: int, line: str) -> str:
    return "\n".join([*lines[: at - 1], line, *lines[at:]])


def _inserted(lines: list[str], at: int, place: str, statement: str) -> Iterator[str]:
    """At the place that the page names, and nowhere else."""
    before = at if place == "after" else at - 1
    yield "\n".join([*lines[:before], statement, *lines[before:]])
