"""The tokens of a kernel.cu after preprocessing: what its compiler reads, whatever its author's macros look like.

Comments, line splices, conditionals and macros are gone, as are digraphs. `#include` is dropped: what a header
gives, it gives to everybody. A difference from the real preprocessor can only hide a resemblance of sources; the
compiled code, which `image` compares, has none.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

MOST_TOKENS = 12_000  # of a kernel after preprocessing; the longest solution has a fifth of that
_MOST_STEPS = 40 * MOST_TOKENS  # of replacing macros, each of which looks at one token
_MOST_NESTED = 100  # conditionals, and macros within macros

# An unterminated comment or raw string lasts to the end of the file: each character is looked at once.
_QUOTED = re.compile(
    r"""//[^\n]*|/\*(?:.*?\*/|.*)|(?:u8|[uUL])?R"(?P<end>[^()\\\s"]{0,16})\((?:.*?\)(?P=end)"|.*)"""
    r"""|(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"|(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.){1,16}'""",
    re.DOTALL,
)
_TOKEN = re.compile(
    r"\.?[0-9](?:[eEpP][+-]|'[0-9A-Za-z_]|[\w.])*|[^\W\d]\w*|<<=|>>=|\.\.\.|%:%:|##"
    r"|<%|%>|<:|:>|%:|->|\+\+|--|<<|>>|[<>=!+\-*/%&|^]=|&&|\|\||::|\S"
)
_DIRECTIVE = re.compile(r"\s*(?:#|%:|\?\?=)\s*(\w*)(.*)", re.DOTALL)
_SAME = {
    "<%": "{", "%>": "}", "<:": "[", ":>": "]", "%:": "#", "%:%:": "##", "and": "&&", "or": "||", "not": "!",
    "bitand": "&", "bitor": "|", "xor": "^", "compl": "~", "and_eq": "&=", "or_eq": "|=", "xor_eq": "^=",
    "not_eq": "!=",
}  # fmt: skip
_TEXT = '"'  # stands for every string
_PREDEFINED = {"__CUDACC__": 1, "__NVCC__": 1, "__CUDA_ARCH__": 800, "__cplusplus": 201703}


class TooLongError(Exception):
    """More than is compared; the text says what."""


@dataclass(frozen=True)
class _Macro:
    body: list[str]
    parameters: list[str] | None = None  # None: without parentheses


def preprocessed(source: str) -> list[str]:
    """The tokens of a kernel.cu, strings as `"`. Raises TooLongError."""
    text = re.sub(r"\r\n?", "\n", source)
    text = re.sub(r"\\[ \t\v\f]*\n", "", text)
    text = _QUOTED.sub(lambda found: " " if found[0][0] == "/" else f" {_TEXT} ", text)
    try:
        return _Preprocessor().read(text)
    except RecursionError:
        raise TooLongError("its macros are nested too deeply") from None


def without_comments(source: str) -> list[str]:
    """The tokens of a kernel.cu as its author wrote them, strings included, without comments and white space."""
    text = re.sub(r"\r\n?", "\n", source)
    text = _QUOTED.sub(lambda found: " " if found[0][0] == "/" else found[0], text)
    return text.split() if len(text) > 100 * MOST_TOKENS else _TOKEN.findall(text)


class _Preprocessor:
    def __init__(self) -> None:
        self.macros = {name: _Macro([str(value)]) for name, value in _PREDEFINED.items()}
        self.steps = 0

    def read(self, text: str) -> list[str]:
        """The tokens that remain of a text without comments."""
        read: list[str] = []
        waiting: list[str] = []  # since the last definition: a macro's arguments may span lines
        groups: list[tuple[bool, bool]] = []  # of each #if: whether it is read now, and whether it was before
        for line in text.split("\n"):
            directive = _DIRECTIVE.match(line) if line.lstrip()[:1] in ("#", "%", "?") else None
            if directive is None:
                if all(is_read for is_read, _ in groups):
                    waiting += _tokens(line)
                    _limit(len(read) + len(waiting))
                continue
            name, rest = directive[1], directive[2]
            if self.condition(name, rest, groups) or not all(is_read for is_read, _ in groups):
                continue
            if name in ("define", "undef"):
                read += self.replaced(waiting)
                waiting = []
                self.define(rest) if name == "define" else self.macros.pop(rest.strip(), None)
        return read + self.replaced(waiting)

    def condition(self, name: str, rest: str, groups: list[tuple[bool, bool]]) -> bool:
        """Follow #if and its relatives; False for another directive."""
        outside = all(is_read for is_read, _ in groups)
        match name:
            case "if" | "ifdef" | "ifndef":
                is_read = outside and self.holds(name, rest)
                groups.append((is_read, is_read))
                if len(groups) > _MOST_NESTED:
                    raise TooLongError("its conditionals are nested too deeply")
            case "elif" | "elifdef" | "elifndef" | "else" if groups:
                _, was_read = groups.pop()
                outside = all(is_read for is_read, _ in groups)
                is_read = outside and not was_read and (name == "else" or self.holds(name[2:], rest))
                groups.append((is_read, was_read or is_read))
            case "endif" if groups:
                groups.pop()
            case _:
                return False
        return True

    def holds(self, name: str, rest: str) -> bool:
        """Whether a condition holds; one that makes no sense does."""
        if name != "if":
            return (rest.strip() in self.macros) == (name == "ifdef")
        asked = re.sub(
            r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))",
            lambda found: str(int((found[1] or found[2]) in self.macros)),
            rest,
        )
        try:
            return _Condition(self.replaced(_tokens(asked))).value() != 0
        except (ValueError, IndexError):
            return True

    def define(self, rest: str) -> None:
        """Keep one macro."""
        found = re.match(r"\s*([^\W\d]\w*)(\(([^()]*)\))?", rest)
        if not found:
            return
        parameters = None
        if found[2] is not None:
            parameters = [name.strip() for name in found[3].split(",")] if found[3].strip() else []
            parameters = ["__VA_ARGS__" if name == "..." else name.removesuffix("...") for name in parameters]
        self.macros[found[1]] = _Macro(_tokens(rest[found.end() :]), parameters)

    def replaced(self, tokens: Sequence[str]) -> list[str]:
        """The tokens with their macros replaced, none within its own replacement."""
        made: list[str] = []
        left = [(token, frozenset[str]()) for token in reversed(tokens)]
        while left:
            self.steps += 1
            if self.steps > _MOST_STEPS:
                raise TooLongError("its macros take too long to replace")
            token, hidden = left.pop()
            macro = self.macros.get(token)
            if macro is None or token in hidden:
                made.append(token)
                _limit(len(made))
                continue
            body = macro.body
            if macro.parameters is not None:
                if not left or left[-1][0] != "(":
                    made.append(token)
                    continue
                body = self.filled(macro.body, self.arguments(left, macro.parameters))
            hidden |= {token}
            if len(hidden) > _MOST_NESTED:
                raise TooLongError("its macros are nested too deeply")
            left += [(one, hidden) for one in reversed(_pasted(body))]
            _limit(len(left) // 4)
        return made

    def arguments(
        self, left: list[tuple[str, frozenset[str]]], parameters: list[str]
    ) -> dict[str, list[str]]:
        """Take a call's arguments, from its parenthesis on, by parameter; the last takes what is left over."""
        left.pop()
        found: list[list[str]] = [[]]
        depth = 1
        while left:
            self.steps += 1
            token, _ = left.pop()
            depth += (token == "(") - (token == ")")
            if depth == 0:
                break
            if token == "," and depth == 1 and len(found) < len(parameters):
                found.append([])
            else:
                found[-1].append(token)
        found += [[] for _ in range(len(parameters) - len(found))]
        return dict(zip(parameters, found, strict=False))

    def filled(self, body: list[str], arguments: dict[str, list[str]]) -> list[str]:
        """A macro's body with its arguments in place, their own macros replaced."""
        made: list[str] = []
        for at, token in enumerate(body):
            if token == "#" and at + 1 < len(body) and body[at + 1] in arguments:
                continue
            if at and body[at - 1] == "#" and token in arguments:
                made.append(_TEXT)
            elif token in arguments:
                is_pasted = "##" in body[max(0, at - 1) : at + 2]
                made += arguments[token] if is_pasted else self.replaced(arguments[token])
            else:
                made.append(token)
            _limit(len(made))
        return made


def _pasted(body: list[str]) -> list[str]:
    """A body with `##` carried out."""
    if "##" not in body:
        return body
    made: list[str] = []
    for at, token in enumerate(body):
        if at and body[at - 1] == "##" and made:
            made[-1] += token
        elif token != "##":
            made.append(token)
    return made


def _tokens(line: str) -> list[str]:
    found = [_SAME.get(token, token) for token in _TOKEN.findall(line)]
    _limit(len(found))
    return found


def _limit(tokens: int) -> None:
    if tokens > MOST_TOKENS:
        raise TooLongError(f"it has more than {MOST_TOKENS:,} tokens after preprocessing")


# ---- Conditions -----------------------------------------------------------------------------------------------

_PRECEDENCE = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7, "<<": 8, ">>": 8,
    "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip


class _Condition:
    """The expression behind #if, of integers. Raises ValueError or IndexError where it is not one."""

    def __init__(self, tokens: list[str]) -> None:
        self.left = [*reversed(tokens)]

    def value(self, above: int = 0) -> int:
        """The value of what binds more closely than `above`."""
        value = self.operand()
        while self.left and _PRECEDENCE.get(self.left[-1], 0) > above:
            operator = self.left.pop()
            value = _applied(operator, value, self.value(_PRECEDENCE[operator]))
        if self.left and self.left[-1] == "?" and above == 0:
            self.left.pop()
            yes = self.value()
            if self.left.pop() != ":":
                raise ValueError
            no = self.value()
            value = yes if value else no
        return value

    def operand(self) -> int:
        token = self.left.pop()
        match token:
            case "(":
                value = self.value()
                if self.left.pop() != ")":
                    raise ValueError
                return value
            case "!":
                return int(not self.operand())
            case "-":
                return -self.operand()
            case "+":
                return self.operand()
            case "~":
                return ~self.operand()
        if token[0].isdigit():
            return _integer(token)
        return int(token == "true")


def _integer(token: str) -> int:
    digits = token.replace("'", "").rstrip("uUlL").lower()
    if len(digits) > 70:
        raise ValueError
    return int(digits, 8 if re.fullmatch("0[0-7]+", digits) else 0)


def _applied(operator: str, a: int, b: int) -> int:
    match operator:
        case "||":
            return int(bool(a or b))
        case "&&":
            return int(bool(a and b))
        case "/" | "%":
            if not b:
                raise ValueError
            return a // b if operator == "/" else a % b
        case "<<" | ">>":
            return a << (b & 63) if operator == "<<" else a >> (b & 63)
    return {
        "|": a | b, "^": a ^ b, "&": a & b, "==": a == b, "!=": a != b, "<": a < b, ">": a > b, "<=": a <= b,
        ">=": a >= b, "+": a + b, "-": a - b, "*": a * b,
    }[operator] & (2**64 - 1)  # fmt: skip
