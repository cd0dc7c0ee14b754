"""A process around the screen that restores the terminal, whatever ends the screen.

The screen restores the terminal itself when it can: when the learner quits, on an error, on a signal. If it
is killed, the process that waits for it here does so. If that process is killed, the screen ends by itself.
"""

import ctypes
import os
import signal
import sys
import termios
from collections.abc import Callable
from typing import Any

from ...core.errors import MachineError, UsageError

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG in <linux/prctl.h>
_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def need_terminal() -> None:
    """Refuse if there is no terminal, or none that can be drawn on."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("make watch needs a terminal; in a script: make grade CH=ch04")
    if os.environ.get("TERM", "dumb") == "dumb":
        raise UsageError("this terminal cannot be drawn on (TERM is dumb or not set); use make grade CH=ch04")


def run(screen: Callable[[], int]) -> int:
    """Run `screen` in a separate process in the same terminal; return its exit status."""
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    child = os.fork()
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # this process may be in the background by then
    if child == 0:
        _die_with(parent)
        return screen()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in _FORWARDED:
        signal.signal(number, lambda which, _: os.kill(child, which))
    _, how = os.waitpid(child, 0)
    _restore(terminal, before, was_killed=os.WIFSIGNALED(how))
    if os.WIFSIGNALED(how):
        raise MachineError(f"watch was ended by a signal: {signal.strsignal(os.WTERMSIG(how))}")
    return os.waitstatus_to_exitcode(how)


def _die_with(parent: int) -> None:
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(MachineError.status)


def _restore(terminal: int, before: list[Any], *, was_killed: bool) -> None:
    try:
        if was_killed:
            from prompt_toolkit.output.vt100 import Vt100_Output

            output = Vt100_Output.from_pty(sys.stdout)
            output.reset_attributes()
            output.disable_bracketed_paste()
            output.enable_autowrap()
            output.reset_cursor_key_mode()
            output.quit_alternate_screen()
            output.show_cursor()
            output.flush()
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
    except (OSError, termios.error):
        pass  # the terminal itself has gone
