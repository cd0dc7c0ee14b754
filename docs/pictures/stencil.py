"""Pictures of chapter 17: a window at the edge of an image, a tile with a halo, and sums that go down a column."""

from canvas import MARGIN, Canvas, picture


@picture(
    "stencil-edge",
    "Column -1 is in memory, but it is not a neighbour",
    "Two rows of an image follow each other in memory. The element before the first one of row 1 is the last one of "
    "row 0, and not a neighbour.",
)
def stencil_edge(c: Canvas) -> None:
    """The last element of a row lies just before the first one of the next."""
    w, h, top = 40, 30, 40
    c.words(MARGIN, 24, "The image, two rows of six:", style="small faint")
    for row in range(2):
        for column in range(6):
            kind = "data"
            if (row, column) == (1, 0):
                kind = "lane"
            if (row, column) == (0, 5):
                kind = "bad"
            c.cell(MARGIN + 50 + column * w, top + row * h, w, h, kind, f"{row},{column}", "small mono")
    c.cell(MARGIN, top + h, w, h, "empty", "1,-1", "small mono")
    c.words(MARGIN + 310, top + 20, "(1, -1) does not exist:", style="small")
    c.words(MARGIN + 310, top + 38, "it adds nothing", style="small")
    below = top + 3 * h + 10
    c.words(MARGIN, below, "The same in memory:", style="small faint")
    for k in range(12):
        kind = {5: "bad", 6: "lane"}.get(k, "data")
        c.cell(MARGIN + k * w, below + 12, w, h, kind, f"{k // 6},{k % 6}", "small mono")
    x = MARGIN + 6 * w + w / 2
    c.line([(x, below + 12 + h), (x, below + 26 + h), (x - w, below + 26 + h)])
    c.arrow(x - w, below + 26 + h, x - w, below + 12 + h, "trouble")
    c.words(MARGIN, below + 46 + h, "The element before it is the last one of the row above.", style="small")


@picture(
    "stencil-halo",
    "A tile with a halo",
    "A tile of outputs, and around it the elements that its outputs at the edge need: one row above and below, one "
    "column on each side.",
)
def stencil_halo(c: Canvas) -> None:
    """The outputs of a block, and the larger tile of its inputs."""
    size, left, top = 24, MARGIN + 10, 34
    c.words(left, 22, "tile[0][0] is element (top - 1, left - 1)", style="small faint")
    for y in range(6):
        for x in range(10):
            is_halo = y in (0, 5) or x in (0, 9)
            kind = "data" if is_halo else "good"
            words = ""
            if (y, x) == (2, 8):
                kind, words = "lane", "o"
            c.cell(left + x * size, top + y * size, size, size, kind, words, "small")
    for dy, dx in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        y, x = 2 + dy, 8 + dx
        c.cell(left + x * size + 6, top + y * size + 6, 12, 12, "lane")
    x = left + 10 * size + 16
    c.words(x, top + 30, "Output (1, 7) is at tile[2][8].", style="small")
    c.words(x, top + 50, "Its neighbour tile[2][9] is halo:", style="small")
    c.words(x, top + 70, "the next block has its output.", style="small")
    c.key(
        top + 6 * size + 14, [("good", "outputs"), ("data", "halo"), ("lane", "an output and its neighbours")]
    )


@picture(
    "stencil-column",
    "Three sums go down a column",
    "A thread goes down a column with a filter of three rows. A row of the tile is the last row of one window, the "
    "middle row of the next and the first row of a third: it is loaded once, and added to three sums.",
)
def stencil_column(c: Canvas) -> None:
    """One row of elements belongs to three windows."""
    top, h = 36, 28
    rows = 5
    x0, w = MARGIN + 60, 40
    c.words(x0, 24, "the tile", style="small faint")
    for y in range(rows):
        c.words(x0 - 10, top + y * h + 18, f"row {y}", "end", "small faint")
        kind = "lane" if y == 2 else "data"
        c.row(x0, top + y * h, w, h, [(kind, "")] * 3)
    columns = [
        ("output 0", 0, "complete"),
        ("output 1", 1, "lacks row 3"),
        ("output 2", 2, "lacks rows 3, 4"),
    ]
    for k, (name, first, state) in enumerate(columns):
        x = x0 + 3 * w + 40 + k * 105
        c.words(x + 40, 24, name, "middle", "small")
        for y in range(first, first + 3):
            kind = "good" if y <= 2 else "empty"
            c.cell(x, top + y * h, 80, h, kind, f"coefficients {y - first}" if y == 2 else "", "small")
        c.words(x + 40, top + rows * h + 18, state, "middle", "small")
    c.arrow(x0 + 3 * w + 4, top + 2.5 * h, x0 + 3 * w + 36, top + 2.5 * h, "hot")
    c.words(x0 + 1.5 * w, top + rows * h + 18, "row 2 is loaded once", "middle", "small")
