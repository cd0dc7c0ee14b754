"""One warp's access to shared memory: 32 lanes, 32 banks, and a row for each wavefront."""

from markupsafe import Markup

from ..launches import Joined, runs
from ..svg import MARGIN, TRANSACTIONS, Drawing, Gallery
from .lanes import LANE, TALL, TOP, draw_bank_numbers, draw_lanes, middle

_MEMORY = 126.0  # where the first wavefront begins
_FEW = 8  # most wavefronts drawn as high rows


def wavefronts(
    places: list[int | None], size: int, *, is_load: bool = True, one_by_one: bool = False
) -> list[dict[int, tuple[int, list[int]]]]:
    """For each wavefront, the active banks, each with its word and the lanes that receive it.

    A phase is 32 lanes of up to 4 bytes, 16 of 8 bytes or 8 of 16 bytes; in each phase, different words of
    one bank are served one after the other (CUDA C++ Programming Guide, "Shared Memory"). Two phases of a load
    are one if lanes 1 or 2 apart agree on the address (measured: the sh64_ and sh128_ patterns of
    tests/hardware_truth). `one_by_one`: lanes on one word are served one after the other too, as for most
    atomics.
    """
    in_phase = 32 if size <= 4 else 128 // size
    if is_load and size > 4 and (_partners_agree(places, 1) or _partners_agree(places, 2)):
        in_phase *= 2
    found = []
    for first in range(0, 32, in_phase):
        of_bank: dict[int, dict[tuple[int, int], list[int]]] = {}
        for lane in range(first, first + in_phase):
            at = places[lane]
            for word in range(at // 4, (at + size - 1) // 4 + 1) if at is not None else ():
                served = (word, lane if one_by_one else 0)
                of_bank.setdefault(word % 32, {}).setdefault(served, []).append(lane)
        deepest = max(map(len, of_bank.values()), default=0)
        found += [
            {
                bank: (list(words)[i][0], list(words.values())[i])
                for bank, words in of_bank.items()
                if i < len(words)
            }
            for i in range(deepest)
        ]
    return found


def _partners_agree(places: list[int | None], apart: int) -> bool:
    """Whether each active lane finds its neighbour inactive or at its own address."""
    pairs = [(places[lane], places[lane ^ apart]) for lane in range(32)]
    return all(None in pair or pair[0] == pair[1] for pair in pairs)


def draw(
    places: list[int | None],
    size: int,
    does: str,
    gallery: Gallery,
    counted: int | None = None,
    whole: Joined | None = None,
    *,
    is_load: bool = True,
) -> Markup:
    """`places` are bytes, the first from the start of a row of 32 banks, None for idle lanes.

    `counted` is the number of wavefronts that the emulator counted, which is larger for atomics. `whole` is
    what ptxas joins the access to: `places` and `size` are then those of all its bytes, and an access that
    another one stands for has no wavefront.
    """
    is_elsewhere = whole is not None and not whole.bytes
    found = [] if is_elsewhere else wavefronts(places, size, is_load=is_load)
    if counted is not None and counted > len(found):
        found = wavefronts(places, size, one_by_one=True)
    drawing = Drawing(
        f"{sum(at is not None for at in places)} of 32 lanes take {len(found)} wavefronts of 32 banks",
        _words(found, does, whole),
        "access",
    )
    looks: dict[int, str] = {}
    links: dict[str, list[tuple[float, float, float, float]]] = {}
    posts: dict[str, list[tuple[float, float]]] = {}
    tall = 13.0 if len(found) <= _FEW else 7.0
    empty = Drawing("", "", "")
    empty.boxes("empty", [(middle(bank) - LANE / 2 + 0.5, 0, LANE - 1, tall) for bank in range(32)])
    for i, banks in enumerate(found):
        look, y = f"t{i % TRANSACTIONS}", _MEMORY + i * (tall + 3)
        drawing.raw(f'<g transform="translate(0 {y:.0f})">{gallery.use(empty.body())}</g>')
        for bank, (_, lanes) in sorted(banks.items()):
            posts.setdefault(look, []).append((middle(bank), y))
            for lane in lanes:
                looks.setdefault(lane, look)
                links.setdefault(look, []).append((middle(lane), TOP + TALL, middle(bank), y))
    for look in links:
        drawing.lines(look, links[look])
    for look in posts:
        drawing.posts(look, tall, posts[look])
    y = _MEMORY + len(found) * (tall + 3) + 12
    draw_bank_numbers(drawing, gallery, y)
    draw_lanes(drawing, gallery, looks)
    explained = (
        _join_words(whole) if whole else "above: lanes; below: the 32 banks, one row for each wavefront"
    )
    drawing.words(MARGIN, y + 17, explained, "small faint")
    return drawing.svg(gallery)


def _join_words(whole: Joined) -> str:
    if whole.bytes:
        return f"joined by ptxas with accesses beside it: {whole.bytes} bytes a lane, a row a wavefront"
    return "no wavefronts here: ptxas joins this access with another one"


def _words(found: list[dict[int, tuple[int, list[int]]]], does: str, whole: Joined | None) -> str:
    """The picture for a screen reader."""
    said = [
        f"wavefront {i + 1}: lanes {runs(sorted({lane for _, lanes in banks.values() for lane in lanes}))}"
        f" in banks {runs(sorted(banks))}"
        for i, banks in enumerate(found[:8])
    ]
    more = f"; and {len(found) - 8} wavefronts more" if len(found) > 8 else ""
    joins = f" {_join_words(whole)}." if whole else ""
    return f"Each lane {does}.{joins} {'; '.join(said)}{more}." if said else f"Each lane {does}.{joins}"
