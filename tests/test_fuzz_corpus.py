"""What the fuzzers start from and whatever they found before, through the library that everybody uses."""

import time
from pathlib import Path

import numpy as np
import pytest
from emulator import Emulator, EmulatorError, Value
from fuzz import make_corpus

FUZZ = Path(__file__).parent / "fuzz"
ONES = np.ones(512, np.float32)  # half of the buffer, as in fuzz_emulator.c
SEEDS = sorted((FUZZ / "corpus").iterdir())
FOUND = sorted((FUZZ / "crashes").glob("*")) if (FUZZ / "crashes").is_dir() else []


@pytest.mark.parametrize("path", [*SEEDS, *FOUND], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_it_neither_crashes_nor_hangs(emulator_built: Path, path: Path) -> None:
    begun = time.process_time()
    with Emulator() as e:
        buffer = e.buffer(4096)
        try:
            e.load(path)
        except EmulatorError:
            if path in SEEDS:  # a seed has to load
                raise
            return
        for kernel in e.kernels()[:4]:
            info = e.info(kernel)
            arguments = []
            for i in range(info.parameter_count):
                size = info.parameters[i].bytes
                arguments.append(buffer if size == 8 else Value("u32", bytes([100, *[0] * (size - 1)])))
            for schedule in (0, 7):
                buffer.write(ONES)
                threads = info.required_threads[0] or 48
                e.launch(kernel, 3, threads, arguments, shared=256, schedule=schedule, steps=50_000)
    assert time.process_time() - begun < 10


def test_the_corpus_is_small() -> None:
    assert sum(path.stat().st_size for path in SEEDS) < 400_000


def test_the_dictionary_has_every_opcode() -> None:
    dictionary = make_corpus.dictionary()
    assert all(f'"{opcode}."' in dictionary for opcode in ("add", "activemask", "xor"))
    assert (FUZZ / "ptx.dict").read_text() == dictionary, "run tests/fuzz/make_corpus.py"


def test_a_kernel_without_a_branch_meets_the_step_limit(emulator_built: Path) -> None:
    with Emulator() as e:
        e.load(".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry straight() { ret; }\n")
        result = e.launch("straight", 1 << 30, 32, steps=10_000)
        assert not result.completed
        assert result.kinds == ["STEP_LIMIT"]
        assert result.lane_instructions < 20_000
