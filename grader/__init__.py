"""Warpbook's grader: builds, runs and records a learner's chapters."""

import re
from pathlib import Path

_PROJECT = Path(__file__).parent.with_name("pyproject.toml")  # the only file that states the version
# Not with tomllib, whose import takes longer than some commands' own work.
__version__ = re.findall(r'^version = "(.+)"$', _PROJECT.read_text("utf-8"), re.MULTILINE)[0]
