"""Writes what the fuzzers start from: the seeds in corpus/, one kernel a file, and the words of ptx.dict.

    python tests/fuzz/make_corpus.py                 ptx.dict, from the sources of the emulator
    python tests/fuzz/make_corpus.py FILE.ptx ...    and seeds: every kernel of those files with what it uses

The seeds in the repository come from seeds.cu and from tests/data/ptx.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
EMULATOR = HERE.parents[1] / "common" / "emulator"
LARGEST_SEED = 12_000  # bytes; a long seed makes every run of the fuzzer slow

NAME = re.compile(r"[A-Za-z_$%][\w$]*")
DECLARED = re.compile(r"\.(func|entry|global|const|shared)\b")
FUNCTION_NAME = re.compile(r"\.(?:func|entry)\s*(?:\([^)]*\)\s*)?([\w$]+)")
VARIABLE_NAME = re.compile(r"\.\w+\s+([A-Za-z_$%][\w$]*)(?=[\s\[;=])")


def dictionary() -> str:
    """libFuzzer's dictionary: every opcode, and every word that the parser or the lowering knows."""
    table = (EMULATOR / "program" / "opcodes.def").read_text()
    opcodes = re.findall(r"^(?:ARITHMETIC|OPCODE|ALIKE)\((\w+),", table, re.MULTILINE)
    words: set[str] = set()
    for folder in ("ptx", "alu", "program"):
        for source in (EMULATOR / folder).rglob("*.c"):
            words.update(re.findall(r'"([a-z%][a-z0-9_.:]*[a-z0-9_.])"', source.read_text()))
    lines = [f'"{opcode}."' for opcode in opcodes]
    lines += [f'"{word if word.startswith("%") else "." + word}"' for word in sorted(words)]
    return "# Written by make_corpus.py from the sources of the emulator.\n" + "\n".join(lines) + "\n"


def chunks(text: str) -> list[str]:
    """The declarations and definitions at the top of a file, without debug sections."""
    found, depth, start = [], 0, 0
    for at, char in enumerate(text):
        if char in "({[":
            depth += 1
        elif char in ")}]":
            depth -= 1
        whole = text[start : at + 1]
        ends = char == ";" or (char == "}" and not re.search(r"=\s*\{[^;]*$", whole))
        if depth == 0 and ends:
            found.append(whole.strip())
            start = at + 1
    return [chunk for chunk in found if DECLARED.search(chunk) and not chunk.startswith(".section")]


def names_declared(chunk: str) -> set[str]:
    """The function or variable that a chunk declares."""
    is_function = re.search(r"\.(func|entry)\b", chunk.split("{")[0])
    match = (FUNCTION_NAME if is_function else VARIABLE_NAME).search(chunk)
    return {match.group(1)} if match else set()


def seeds(text: str) -> dict[str, str]:
    """A PTX file as small files: each kernel with the functions and variables that it needs."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r",\s*function_name[^\n]*", "", text)  # goes with the debug sections
    head = re.findall(r"^\.(?:version|target|address_size)[^\n]*", text, re.MULTILINE)
    files = re.findall(r"^\s*(\.file[^\n]*)", text, re.MULTILINE)
    body = re.sub(r"^\s*\.(?:version|target|address_size|file)[^\n]*", "", text, flags=re.MULTILINE)
    parts = [(names_declared(chunk), chunk) for chunk in chunks(body)]
    made = {}
    for names, entry in parts:
        if not re.search(r"\.entry\b", entry.split("{")[0]) or "{" not in entry:
            continue
        wanted, grown = set(names), True
        while grown:
            used = {name for mine, chunk in parts if mine & wanted for name in NAME.findall(chunk)}
            grown = bool(used - wanted)
            wanted |= used
        kept = [chunk for mine, chunk in parts if mine & wanted]
        lines = [*head, *(re.sub(r'"[^"]*/', '"', line) for line in files), *kept, ""]
        made[next(iter(names))] = re.sub(r"\n\s*\n+", "\n", "\n".join(lines))
    return made


def main() -> None:
    """See above."""
    (HERE / "ptx.dict").write_text(dictionary())
    for path in map(Path, sys.argv[1:]):
        for name, text in seeds(path.read_text()).items():
            if len(text) <= LARGEST_SEED:
                (HERE / "corpus" / f"{path.stem}_{name}.ptx").write_text(text)
            else:
                print(f"{name} of {path.name} is left out: {len(text)} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
