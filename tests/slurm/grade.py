"""Runs the engine over FOLDER/tasks.json as class mode would, to be interrupted or killed by a test."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from grader.classroom.engines.slurm.engine import SlurmEngine
from grader.classroom.engines.slurm.options import SlurmOptions
from grader.classroom.engines.slurm.run import Patience
from grader.classroom.tasks import read_tasks

COMMAND = (sys.executable, str(Path(__file__).with_name("pretended_task.py")))
PATIENCE = Patience(files=0.5, queue=0.3, controller=20, ending=15)


def engine(folder: Path, say: Callable[[str], None] = print, **options: Any) -> SlurmEngine:
    """The engine with the pretended judge and little patience."""
    chosen = replace(SlurmOptions(batch=2), **options)
    return SlurmEngine(folder / "slurm", chosen, say, command=COMMAND, patience=PATIENCE)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for done in engine(folder, lambda line: print(line, flush=True)).run(read_tasks(folder / "tasks.json")):
        print("done", done.task.student, done.judgement.result.message, flush=True)
