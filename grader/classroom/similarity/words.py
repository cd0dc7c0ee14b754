"""Kernels as sequences of words to compare: of a source, and of the PTX that it compiles to.

A word keeps what an author decides and drops what costs nothing to change: names, brackets, the form of a number,
registers.
"""

import re

from .preprocess import preprocessed

MOST_INSTRUCTIONS = 12_000  # of an image; the largest reference has a twentieth of that
LONGEST_WORD = 128  # characters of a word, and the blank after it
_LONGEST_OPCODE = 60  # characters, and the most operands: of instructions that exist
_MOST_OPERANDS = 40
MOST_PTX = 4 << 20  # bytes that are looked at
INLINE = "!"  # in front of an instruction that the author wrote as inline assembly

_KEPT = {
    # C++
    "alignas", "asm", "auto", "bool", "break", "case", "char", "constexpr", "continue", "decltype", "default", "do",
    "double", "else", "enum", "extern", "float", "for", "goto", "if", "int", "long", "operator", "return", "short",
    "signed", "sizeof", "static_assert", "struct", "switch", "template", "this", "typename", "union", "unsigned",
    "using", "void", "volatile", "while",
    # CUDA
    "LAUNCH", "__device__", "__global__", "__shared__", "__constant__", "__syncthreads", "__syncwarp",
    "__shfl_down_sync", "__shfl_up_sync", "__shfl_xor_sync", "__shfl_sync", "__ballot_sync", "__activemask",
    "__any_sync", "__all_sync", "__reduce_add_sync", "__threadfence", "__threadfence_block", "__ldg", "__ldcs",
    "__ldcg", "__stcs", "atomicAdd", "atomicCAS", "atomicExch", "atomicInc", "atomicMax", "atomicMin", "threadIdx",
    "blockIdx", "blockDim", "gridDim", "float2", "float3", "float4", "make_float4", "int4", "min", "max", "fmaf",
}  # fmt: skip
_DROPPED = {
    ";", "{", "}", "(", ")", "const", "static", "inline", "__restrict__", "__forceinline__", "__noinline__",
    "register", "#", "##",
}  # fmt: skip
_MARKS = ("// begin inline asm", "// end inline asm")
_INSTRUCTION = re.compile(r"[\s{]*(?:@!?[%\w$]+\s+)?([a-z][\w.:]*)(?:\s+(.*))?")
# Which operands an instruction has, not which registers or numbers.
_OPERAND = re.compile(r"%?[A-Za-z_$][\w$.]*|-?[0-9][\w.]*|[\[{]")
# What the compiler writes around every kernel, whatever is in it.
_COMMON = ("ld.param", "cvta.", "mov.b", "mov.u", "mov.f", "ret")


def source_words(content: bytes) -> list[str]:
    """A kernel.cu in words. Raises TooLongError."""
    made = []
    for token in preprocessed(content.decode("utf-8", "replace")):
        if token in _DROPPED:
            continue
        if token in _KEPT:
            made.append(token)
        elif token[0].isdigit() or (token[0] == "." and len(token) > 1 and token[1].isdigit()):
            made.append(token.lower().replace("'", "").rstrip("ful" if "x" not in token.lower() else "ul"))
        else:
            made.append("a" if token[0].isalpha() or token[0] == "_" else token)
    return made


def image_words(ptx: bytes) -> list[str] | None:
    """An image in words, one for each instruction that says something; None for one too long to compare."""
    if len(ptx) > MOST_PTX:
        return None
    made = []
    inline = ""
    for line in ptx.decode("utf-8", "replace").splitlines():
        text = line.strip()
        if text in _MARKS:
            inline = INLINE if text == _MARKS[0] else ""
            continue
        for statement in text.partition("//")[0].split(";")[:-1]:
            found = _INSTRUCTION.match(statement)
            if not found or found[1].startswith(_COMMON):
                continue
            operands = _OPERAND.findall(found[2] or "")[:_MOST_OPERANDS]
            kinds = "".join(
                one if one in "[{" else "0" if one[0] in "-0123456789" else "r" for one in operands
            )
            made.append(f"{inline}{found[1][:_LONGEST_OPCODE]}/{kinds}")
            if len(made) > MOST_INSTRUCTIONS:
                return None
    return made
