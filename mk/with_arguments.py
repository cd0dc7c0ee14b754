"""Runs Python with the given arguments, and after them the words of the variable ARGS: with_arguments.py -m pytest.

Its quotes are a shell's, and nothing else in it is: `make test ARGS='-k "shuffle or atomics"'`.
"""

import os
import shlex
import sys

try:
    words = shlex.split(os.environ.get("ARGS", ""))
except ValueError:
    sys.exit("warpbook: ARGS has a quotation mark without its partner")
os.execv(sys.executable, [sys.executable, *sys.argv[1:], *words])
