"""The commands that pages and messages suggest, in the form that works where they are read.

In a checkout they are make's and ./chNN. In a folder that the package's command made, they are that command's; it says
so with WARPBOOK_COMMAND=warpbook in the environment, as common/support/command_words.c reads it.
"""

import os
import re

_PROGRAMS = ("run", "check", "profile", "findings")
# Targets of make that are commands of `warpbook` under the same name.
_ALIKE = (
    "watch|status|report|submission|doctor|update|editor|leaderboard|ladder|solutions|grade|class|handout|exports|gradescope"
    "|autolab"
)
_OF_A_CHAPTER = "hint|show|skip|resume|reset|predict|try"
_OPTIONS = {"FORCE": "--force", "FRESH": "--fresh", "OPEN": "--open", "JSON": "--json"}
_VALUES = {
    "STEP": "--step",
    "TODO": "--todo",
    "DEVICE": "--device",
    "GPU": "--gpu",
    "OUTPUT": "--out",
    "COURSE": "--course",
}
_VARIABLE = r"""(?: [A-Z_]+=(?:"[^"]*"|[^\s`'"<,;:.)]+))"""
_BUILD_AND_RUN = re.compile(r"make (ch\d\d|chNN) (?:&&|&amp;&amp;) \./\1")
_PROGRAM_FILE = re.compile(r"(?<![\w/.])\./(ch\d\d|chNN)\b")
_TARGET = re.compile(
    rf"(?<![\w./-])make (?:({_OF_A_CHAPTER})-([\w-]+)|(ch\d\d|chNN)(?![\w-])"
    rf"|({'|'.join(_PROGRAMS)})-program|({_ALIKE})(?![\w-]))({_VARIABLE}*)"
)


def is_packaged() -> bool:
    """Whether the reader types `warpbook` in place of make."""
    return os.environ.get("WARPBOOK_COMMAND") == "warpbook"


def spoken(text: str) -> str:
    """The same text, with make's commands replaced by those of the package where the reader has no make."""
    return without_make(text) if is_packaged() else text


def without_make(text: str) -> str:
    """Replace `make ch04 && ./ch04`, `make hint-ch04 STEP=2`, `./ch04` and the like."""
    text = text.replace("make help lists the rest", "warpbook --help lists the rest")
    text = _BUILD_AND_RUN.sub(r"warpbook \1", text)
    text = _TARGET.sub(_command, text)
    return _PROGRAM_FILE.sub(r"warpbook \1", text)


def _command(match: re.Match[str]) -> str:
    of_chapter, name, chapter, program, alike, variables = match.groups()
    words = ["warpbook", *filter(None, (of_chapter, name, chapter, program, alike))]
    after: list[str] = []
    for variable, quoted, plain in re.findall(r'([A-Z_]+)=(?:"([^"]*)"|(\S+))', variables):
        value = quoted or plain
        if variable in _OPTIONS:
            words.append(_OPTIONS[variable])
        elif variable in _VALUES:
            words += [_VALUES[variable], value]
        elif variable in ("CH", "PROGRAM", "SUBMISSIONS"):
            after.append(value)
        else:
            return match[0]  # of make only
    return " ".join([*words, *after])
