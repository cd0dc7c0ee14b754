"""common/driver/plan/product.c: what a matrix product should be, and where nothing may round."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from native_build import COMMON, SUPPORT, build

PLAN = COMMON / "driver" / "plan"


@pytest.fixture(scope="session")
def probe(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    parts = [PLAN / f"{name}.c" for name in ("product", "filter", "inputs", "chapter", "elements")]
    folder = tmp_path_factory.mktemp("product")
    return build(folder / "product_probe", [root / "tests/native/product_probe.c", *parts, *SUPPORT])


def product(probe: Path, left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    (rows, depth), columns = left.shape, right.shape[1]
    data = left.astype(np.float32).tobytes() + right.astype(np.float32).tobytes()
    command = [probe, str(rows), str(columns), str(depth)]
    done = subprocess.run(command, input=data, capture_output=True, timeout=60, check=True)
    numbers = np.array(done.stdout.split(), dtype=np.float64).reshape(rows, columns, 2)
    return numbers[:, :, 0], numbers[:, :, 1]


@pytest.mark.parametrize(("rows", "columns", "depth"), [(1, 1, 1), (3, 5, 7), (17, 4, 33), (1, 9, 2)])
def test_the_product_and_its_budget(probe: Path, rows: int, columns: int, depth: int) -> None:
    drawn = np.random.default_rng(19)
    left = drawn.uniform(-1, 1, (rows, depth)).astype(np.float32)
    right = drawn.uniform(-1, 1, (depth, columns)).astype(np.float32)
    values, magnitudes = product(probe, left, right)
    assert np.allclose(values, left.astype(np.float64) @ right.astype(np.float64), rtol=1e-13, atol=1e-15)
    assert np.allclose(magnitudes, np.abs(left).astype(np.float64) @ np.abs(right), rtol=1e-6)


def test_small_whole_numbers_and_halves_are_exact(probe: Path) -> None:
    drawn = np.random.default_rng(20)
    left, right = drawn.integers(-9, 10, (6, 40)) / 2, drawn.integers(-9, 10, (40, 8)) / 4
    values, magnitudes = product(probe, left, right)
    assert (values == left @ right).all()
    assert (magnitudes == 0).all()


def test_one_product_too_large_is_not_exact(probe: Path) -> None:
    left, right = np.array([[4096.0, 1.0], [4096.0, 0.0]]), np.array([[4096.0], [1.0]])
    _, magnitudes = product(probe, left, right)
    assert magnitudes[0, 0] == 4096.0**2 + 1
    assert magnitudes[1, 0] == 0


def test_nan_and_infinities_follow_the_definition(probe: Path) -> None:
    left = np.array([[np.inf, 1.0], [0.0, 2.0], [-1.0, np.nan]])
    right = np.array([[0.0, 3.0], [1.0, np.inf]])
    values, magnitudes = product(probe, left, right)
    with np.errstate(invalid="ignore"):
        assert np.array_equal(values, left @ right, equal_nan=True)
    assert (magnitudes[~np.isfinite(values)] == 0).all()


def test_without_depth_every_element_is_0(probe: Path) -> None:
    values, magnitudes = product(probe, np.zeros((2, 0)), np.zeros((0, 3)))
    assert (values == 0).all()
    assert (magnitudes == 0).all()


@pytest.mark.parametrize("depth", [1, 2, 33, 131, 5501])
def test_whole_numbers_are_so_small_that_nothing_rounds(probe: Path, depth: int) -> None:
    terms = int(subprocess.run([probe, "terms", str(depth)], capture_output=True, check=True).stdout)
    most = 2**24 // terms
    assert most >= 1
    assert depth * most**2 <= 2**24
