"""Matrix instructions of the emulator against an H200's answers: tests/hardware_truth/tensor/record.npz."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent / "hardware_truth" / "tensor"))
import forms as tensor

RECORDED: dict[str, list[tensor.Recorded]] = {}
for one in tensor.read_record():
    RECORDED.setdefault(one.form.text, []).append(one)


@pytest.mark.parametrize("text", RECORDED, ids=lambda text: text.replace("sync.aligned.", ""))
def test_answers_are_the_hardwares(text: str) -> None:
    for recorded in RECORDED[text]:
        form, batch = recorded.form, recorded.batch
        given = tensor.operands(form, recorded.family, batch * len(recorded.hashes))
        got = tensor.emulated(form, given)
        if recorded.tiles.size:
            wrong = np.flatnonzero(got[0] != recorded.tiles[0])
            assert not wrong.size, [
                f"word {i}: {got[0][i]:#x}, an H200 says {recorded.tiles[0][i]:#x}" for i in wrong[:5]
            ]
        hashes = [tensor.hash_of(got[i * batch : (i + 1) * batch]) for i in range(len(recorded.hashes))]
        assert hashes == recorded.hashes, f"family {recorded.family}"


FIRST, OTHERS = tensor.read_others()


@pytest.mark.parametrize("text", OTHERS, ids=lambda text: text.replace("sync.aligned.", ""))
def test_answers_for_other_operands(text: str) -> None:
    """The record of these was made after the rules had been found."""
    form, batch = tensor.forms()[text], RECORDED[text][0].batch
    for family, recorded in enumerate(OTHERS[text]):
        got = tensor.emulated(form, tensor.operands(form, family, batch * len(recorded), FIRST))
        hashes = [tensor.hash_of(got[i * batch : (i + 1) * batch]) for i in range(len(recorded))]
        assert hashes == recorded, f"family {family}"


def test_nothing_is_left_out() -> None:
    assert set(RECORDED) == set(tensor.forms()) == set(OTHERS)
    tiles = sum(len(r.hashes) * r.batch for form in RECORDED.values() for r in form)
    assert tiles >= 100_000
