"""submission_metadata.yml, as Gradescope's export of submissions has it: whose each folder is, and since when."""

import datetime
import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...core.errors import MachineError, UsageError
from .submission import Lms, Student
from .untrusted import printable

METADATA = "submission_metadata.yml"


def read_metadata(content: bytes, path: Path) -> dict[str, list[Student]]:
    """For each folder its submitters, one student each. Raises UsageError naming the file."""
    try:
        import yaml
    except ImportError:
        raise MachineError(f"reading {METADATA} needs the Python package PyYAML; see make doctor") from None
    try:
        document = yaml.load(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = f"line {line + 1} is" if line is not None else "is"
        raise UsageError(f"{path}: {where} not YAML as Gradescope writes it") from None
    if not isinstance(document, dict):
        raise UsageError(f"{path}: has no submissions as Gradescope writes them")
    found = {}
    for folder, entry in document.items():
        submitters = _value(entry, "submitters")
        if not isinstance(submitters, list) or not submitters:
            raise UsageError(f"{path}: {printable(str(folder))[:60]} has no :submitters:")
        received = _moment(_value(entry, "created_at"))
        found[str(folder)] = [_student(one, str(folder), received) for one in submitters]
    return _told_apart(found)


def _told_apart(found: dict[str, list[Student]]) -> dict[str, list[Student]]:
    """Students may type their number themselves; one that two e-mail addresses claim is nobody's."""
    claims: dict[str, set[str]] = {}
    for one in itertools.chain.from_iterable(found.values()):
        claims.setdefault(one.lms.sis_user_id, set()).add(one.email)
    shared = {number for number, emails in claims.items() if number and len(emails) > 1}

    def told_apart(one: Student) -> Student:
        if one.lms.sis_user_id not in shared:
            return one
        return replace(
            one, id=one.email or one.lms.gradescope_submission, lms=replace(one.lms, sis_user_id="")
        )

    return {folder: [told_apart(one) for one in submitters] for folder, submitters in found.items()}


def _student(entry: Any, folder: str, received: datetime.datetime | None) -> Student:
    name, email, number = (printable(str(_value(entry, key) or "")) for key in ("name", "email", "sid"))
    lms = Lms(sis_user_id=number, gradescope_submission=folder)
    return Student(number or email or folder, name, email, lms=lms, received=received)


def _value(entry: Any, key: str) -> Any:
    """Gradescope writes its keys as Ruby's symbols, ":name"."""
    return entry.get(f":{key}", entry.get(key)) if isinstance(entry, dict) else None


def _moment(value: Any) -> datetime.datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if not isinstance(value, datetime.datetime):
        return None
    return value if value.tzinfo else value.replace(tzinfo=datetime.UTC)
