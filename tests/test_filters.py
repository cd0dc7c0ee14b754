"""common/driver/plan/filter.c and common/driver/judge/image_subset.c: filtered images, and where they are wrong."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from native_build import COMMON, SUPPORT, build

DRIVER = COMMON / "driver"


@pytest.fixture(scope="session")
def probe(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    parts = [
        DRIVER / "plan/filter.c",
        DRIVER / "plan/chapter.c",
        DRIVER / "plan/elements.c",
        DRIVER / "judge/image_subset.c",
    ]
    folder = tmp_path_factory.mktemp("filter")
    return build(folder / "filter_probe", [root / "tests/native/filter_probe.c", *parts, *SUPPORT])


def run(probe: Path, *arguments: object, data: bytes) -> str:
    done = subprocess.run([probe, *map(str, arguments)], input=data, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def sums(
    probe: Path, weights: np.ndarray, image: np.ndarray, period: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """The values and magnitudes of every place."""
    rows, columns = image.shape
    period = period or image.size
    data = weights.astype(np.float32).tobytes() + image.astype(np.float32).reshape(-1)[:period].tobytes()
    lines = run(probe, "sums", weights.shape[0] // 2, rows, columns, period, data=data).splitlines()
    table = np.array([[float(word) for word in line.split()] for line in lines]).reshape(rows, columns, 2)
    return table[..., 0], table[..., 1]


def filtered(weights: np.ndarray, image: np.ndarray) -> np.ndarray:
    """The same by shifting the whole image, in a frame of zeros."""
    radius = weights.shape[0] // 2
    framed = np.zeros((image.shape[0] + 2 * radius, image.shape[1] + 2 * radius))
    framed[radius : radius + image.shape[0], radius : radius + image.shape[1]] = image
    out = np.zeros(image.shape)
    for y in range(weights.shape[0]):
        for x in range(weights.shape[1]):
            out += weights[y, x] * framed[y : y + image.shape[0], x : x + image.shape[1]]
    return out


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (8, 1), (2, 3), (7, 7), (11, 5)])
@pytest.mark.parametrize("side", [3, 7])
def test_sums_are_those_of_shifted_images(probe: Path, shape: tuple[int, int], side: int) -> None:
    draw = np.random.default_rng(side)
    weights, image = draw.integers(-16, 17, (side, side)) / 16, draw.integers(-999, 1000, shape)
    values, magnitudes = sums(probe, weights, image)
    assert (values == filtered(weights, image)).all()
    assert (magnitudes == 0).all()  # no order of operations rounds


def test_what_rounds_has_the_sum_of_magnitudes(probe: Path) -> None:
    draw = np.random.default_rng(1)
    weights, image = draw.normal(size=(3, 3)), draw.normal(size=(6, 5))
    weights, image = weights.astype(np.float32), image.astype(np.float32)
    values, magnitudes = sums(probe, weights, image)
    assert np.allclose(values, filtered(weights.astype(float), image.astype(float)), rtol=1e-14, atol=1e-14)
    assert np.allclose(magnitudes, filtered(abs(weights.astype(float)), abs(image.astype(float))))


def test_whole_numbers_beyond_2_to_24_may_round(probe: Path) -> None:
    weights, image = np.ones((3, 3)), np.full((3, 3), 2.0**21 + 1)
    assert (sums(probe, weights, image)[1] > 0).any()
    assert (sums(probe, weights, image - 2.0**20)[1] == 0).all()


def test_only_the_own_window_has_a_nan(probe: Path) -> None:
    image = np.ones((9, 9))
    image[4, 4] = np.inf
    image[0, 0] = np.nan
    values, _ = sums(probe, np.zeros((3, 3)), image)
    expected = np.zeros((9, 9), bool)
    expected[:2, :2] = expected[3:6, 3:6] = True  # 0 times infinity is NaN too
    assert (np.isnan(values) == expected).all()
    assert (values[~expected] == 0).all()


def test_an_image_may_repeat(probe: Path) -> None:
    draw = np.random.default_rng(2)
    weights, part = draw.integers(-3, 4, (3, 3)), draw.integers(-9, 10, 17)
    image = np.resize(part, (6, 8))
    assert (sums(probe, weights, image, 17)[0] == filtered(weights, image)).all()


@pytest.mark.parametrize(
    ("marked", "words"),
    [
        (np.s_[:, :], "2000 all outputs"),
        (np.s_[0, :], "100 those of row 0"),
        (np.s_[1:4, :], "300 those of rows 1 to 3"),
        (np.s_[:, [0, 99]], "40 those of columns 0 and 99"),
        (np.s_[:, 31::32], "60 those of columns 32k + 31"),
        (np.s_[:, [3, 4, 5, 9, 20, 21]], "120 those of columns 3 to 5, 9 and 20 and 21"),
        (np.s_[3, 7], "1 that of row 3 in column 7"),
        (np.s_[:2, :2], "4 those of rows 0 and 1 in columns 0 and 1"),
    ],
)
def test_places_are_said_by_rows_and_columns(probe: Path, marked: object, words: str) -> None:
    places = np.zeros((20, 100), np.uint8)
    places[marked] = 1  # type: ignore[index]
    assert run(probe, "places", 20, 100, data=places.tobytes()).strip() == words


def test_edges_are_rows_and_columns(probe: Path) -> None:
    places = np.ones((20, 100), np.uint8)
    places[1:-1, 1:-1] = 0
    said = run(probe, "places", 20, 100, data=places.tobytes()).strip()
    assert said == "236 those of rows 0 and 19 and of columns 0 and 99"


def test_places_without_a_rule_are_counted(probe: Path) -> None:
    places = np.eye(20, 100, 3, dtype=np.uint8)
    said = run(probe, "places", 20, 100, data=places.tobytes()).strip()
    assert said == "20 20 of 2,000 outputs, within rows 0 to 19 and columns 3 to 22"
