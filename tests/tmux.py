"""A terminal in tmux, for tests that press keys and look at the screen."""

import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

PATIENCE = 60.0  # seconds until a test gives up waiting; a loaded machine takes its time


class Tmux:
    """One terminal, on a separate server, with a shell in `folder`."""

    def __init__(self, folder: Path, columns: int = 80, rows: int = 24, **environment: str) -> None:
        self._sockets = tempfile.TemporaryDirectory(prefix="tmux")
        self._command = ["tmux", "-S", f"{self._sockets.name}/socket", "-f", os.devnull]
        self._environment = {"LANG": "C.UTF-8", **environment}
        self._folder, self._size = folder, (columns, rows)

    def __enter__(self) -> Self:
        columns, rows = self._size
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("TMUX", "LC_"))} | self._environment
        subprocess.run(
            [*self._command, "-u", "new-session", "-d", "-x", str(columns), "-y", str(rows), "sh"],
            cwd=self._folder,
            env=clean,
            check=True,
        )
        self.wait(lambda screen: bool(screen.strip()))  # the shell is ready
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run([*self._command, "kill-server"], capture_output=True)
        self._sockets.cleanup()

    def ask(self, *words: str) -> str:
        """What a command of tmux prints."""
        done = subprocess.run([*self._command, *words], capture_output=True, text=True, check=True)
        return done.stdout

    def type(self, line: str) -> None:
        """Types a line and Enter."""
        self.ask("send-keys", "-l", line)
        self.press("Enter")

    def press(self, *keys: str) -> None:
        """Presses keys, one after the other."""
        for key in keys:
            self.ask("send-keys", key)

    def resize(self, columns: int, rows: int) -> None:
        """Makes the terminal another size."""
        self.ask("resize-window", "-x", str(columns), "-y", str(rows))

    def screen(self, *, with_codes: bool = False) -> str:
        """What is on the screen."""
        return self.ask("capture-pane", "-p", *(["-e"] if with_codes else []))

    def wait(self, holds: str | Callable[[str], bool], patience: float = PATIENCE) -> str:
        """The screen once it holds these words, or the condition is met."""
        met = (lambda screen: holds in screen) if isinstance(holds, str) else holds
        end = time.monotonic() + patience
        while not met(shown := self.screen()):
            assert time.monotonic() < end, f"waited for {holds!r} in vain; the screen shows:\n{shown}"
            time.sleep(0.02)
        return shown

    def format(self, words: str) -> str:
        """What tmux knows of the terminal, as "#{cursor_flag}"."""
        return self.ask("display-message", "-p", words).strip()
