"""Pictures of chapters 9 to 14: rows, vector add, transpose, roofline, bugs, the capstone."""

import math

from canvas import MARGIN, Canvas, picture


@picture(
    "row-shares",
    "A thread, a block or a warp for each row",
    "With a thread a row, four neighbouring lanes read four different rows, far apart. With a block a "
    "row all eight warps share one row and meet at a barrier. With a warp a row each "
    "warp has its own row and meets nobody.",
)
def row_shares(c: Canvas) -> None:
    w, x0 = 12.5, 120
    for block, (words, remark) in enumerate(
        (
            ("a thread a row", "lanes far apart: 32 sectors a request"),
            ("a block a row", "side by side; the warps meet at a barrier"),
            ("a warp a row", "side by side; nobody has to meet"),
        )
    ):
        y = 16 + block * 104
        c.words(MARGIN, y + 14, words, style="small strong")
        c.words(x0, y + 92, remark, style="small faint")
        for row in range(4):
            for cell in range(32):
                kind = "idle"
                if block == 0 and cell == 0:
                    kind = "bad"
                elif block == 1 and row == 0:
                    kind = "lane" if cell // 8 % 2 == 0 else "good"
                elif block == 2 and cell < 16:
                    kind = "lane" if row % 2 == 0 else "good"
                c.cell(x0 + cell * w, y + row * 18, w - 1.5, 14, kind)
        if block == 0:
            c.words(MARGIN, y + 36, "first request:", style="small faint")
            c.words(MARGIN, y + 52, "one column", style="small faint")
        if block == 1:
            c.words(MARGIN, y + 36, "colours: warps", style="small faint")


@picture(
    "rows-begin",
    "Where rows begin",
    "Rows of five floats follow one another without a gap. Row 0 begins at a multiple of 16 bytes, row 1 "
    "four bytes past one, row 2 eight and row 3 twelve; row 4 is aligned again.",
)
def rows_begin(c: Canvas) -> None:
    w, x0 = 24.4, 24
    for cell in range(20):
        row = cell // 5
        c.cell(x0 + cell * w, 34, w - 2, 26, "lane" if row % 2 == 0 else "good", cell % 5, "small")
        if cell % 4 == 0:
            c.line([(x0 + cell * w - 1, 26), (x0 + cell * w - 1, 70)], "dash")
    for row in range(4):
        c.brace(
            x0 + row * 5 * w + 3, x0 + (row + 1) * 5 * w - 5, 74, f"row {row}: head {(4 - row * 5 % 4) % 4}"
        )
    c.words(x0, 20, "dashed: multiples of 16 bytes, where a float4 may be loaded", style="small faint")


@picture(
    "bytes-per-sum",
    "What moves for one addition",
    "For each float sum 12 bytes move: two operands of 4 bytes and a result of 4. For each bfloat16 sum it is 6.",
)
def bytes_per_sum(c: Canvas) -> None:
    for row, (words, size, total) in enumerate(
        (("float", 80, "12 bytes a sum"), ("bfloat16", 40, "6 bytes a sum"))
    ):
        y = 20 + row * 62
        c.words(MARGIN, y + 24, words, style="mono")
        x = 110.0
        for part, (letter, kind) in enumerate((("a", "data"), ("b", "data"), ("c", "good"))):
            c.cell(x, y, size, 38, kind, letter)
            x += size + 4
            if part == 0:
                c.words(x + 6, y + 24, "+", "middle")
                x += 14
            if part == 1:
                c.words(x + 6, y + 24, "=", "middle")
                x += 14
        c.words(x + 10, y + 24, total, style="small")
    c.key(150, [("data", "read"), ("good", "written")])


@picture(
    "bfloat16",
    "The bits of float and bfloat16",
    "A float has a sign bit, 8 bits of exponent and 23 of fraction. A bfloat16 is its upper half: sign, "
    "8 bits of exponent and 7 of fraction.",
)
def bfloat16(c: Canvas) -> None:
    w, x0 = 13.2, 92
    for row, (words, count) in enumerate((("float", 32), ("bfloat16", 16))):
        y = 20 + row * 56
        c.words(MARGIN, y + 18, words, style="mono small")
        for bit in range(count):
            kind = "bad" if bit == 0 else "data" if bit < 9 else "lane"
            c.cell(x0 + bit * w, y, w - 1.5, 26, kind)
        for bit in range(count, 32):
            c.cell(x0 + bit * w, y, w - 1.5, 26, "empty")
    c.key(128, [("bad", "sign"), ("data", "exponent: the range"), ("lane", "fraction: the precision")])


def _matrix(c: Canvas, x: float, y: float, size: int, marked: dict[tuple[int, int], str]) -> None:
    cell = 15
    for row in range(size):
        for column in range(size):
            c.cell(
                x + column * cell, y + row * cell, cell - 1.5, cell - 1.5, marked.get((row, column), "idle")
            )


@picture(
    "transpose-sides",
    "A row on one side is a column on the other",
    "A warp reads a row of in, side by side. The same elements are a column of out, each in another row "
    "and another sector.",
)
def transpose_sides(c: Canvas) -> None:
    c.words(60, 24, "in", style="mono")
    c.words(340, 24, "out", style="mono")
    _matrix(c, 60, 34, 8, {(2, i): "good" for i in range(8)})
    _matrix(c, 340, 34, 8, {(i, 2): "bad" for i in range(8)})
    c.arrow(200, 92, 320, 92, "hot")
    c.words(60, 176, "side by side:", style="small")
    c.words(60, 192, "4 sectors a request", style="small faint")
    c.words(340, 176, "a row apart:", style="small")
    c.words(340, 192, "32 sectors a request", style="small faint")


@picture(
    "transpose-tile",
    "The detour through a tile",
    "A block reads a tile of in row by row into shared memory. After a barrier it reads the tile's "
    "columns and stores them as rows of out. Both global accesses go along rows.",
)
def transpose_tile(c: Canvas) -> None:
    c.words(MARGIN, 24, "in", style="mono")
    _matrix(
        c,
        MARGIN,
        34,
        8,
        {(row, col): "good" if row == 1 else "lane" for row in range(4) for col in range(4, 8)},
    )
    c.words(216, 24, "tile, shared memory", style="small")
    for row in range(4):
        for column in range(4):
            kind = "good" if row == 1 else "lane"
            c.cell(226 + column * 24, 46 + row * 24, 22, 22, kind)
    c.line([(224 + 24, 44), (224 + 50, 44), (224 + 50, 142), (224 + 24, 142), (224 + 24, 44)], "trouble")
    c.words(394, 24, "out", style="mono")
    _matrix(
        c, 394, 34, 8, {(row, col): "bad" if row == 5 else "lane" for row in range(4, 8) for col in range(4)}
    )
    c.arrow(142, 74, 218, 80, "fine")
    c.arrow(330, 100, 388, 118, "trouble")
    c.words(MARGIN, 176, "rows of the tile are rows of in", style="small faint")
    c.words(300, 176, "columns of the tile are rows of out", style="small faint")


@picture(
    "tile-padding",
    "A column of a tile and its banks",
    "With eight banks for the picture: in a tile with rows of eight words a column lies in a single "
    "bank. With rows of nine words it goes through all eight.",
)
def tile_padding(c: Canvas) -> None:
    cell = 22
    for tile, (x, width, words) in enumerate(((MARGIN, 8, "rows of 8 words"), (290, 9, "rows of 9 words"))):
        c.words(x, 24, words)
        for row in range(8):
            for column in range(width):
                kind = "empty" if column == 8 else "idle"
                if column == 2:
                    kind = "bad" if tile == 0 else "good"
                bank = (row * width + column) % 8
                c.cell(x + column * cell, 34 + row * cell, cell - 2, cell - 2, kind, bank, "small")
    c.words(MARGIN, 230, "all in bank 2: 8 turns", style="small")
    c.words(290, 230, "banks 2, 3, 4 ... : 1 turn", style="small")
    c.words(MARGIN, 250, "in the boxes: the bank; eight banks are drawn, there are 32", style="small faint")


@picture(
    "roofline",
    "The roofline",
    "Attainable speed against arithmetic intensity, both on logarithmic axes. Below the ridge it rises "
    "with the bandwidth; beyond it the peak is a flat roof. Vector add and sum lie far to the left of the ridge.",
)
def roofline(c: Canvas) -> None:
    x0, y0, w, h = 70, 210, 430, 176
    low, high = 1 / 16, 64.0

    def x_of(intensity: float) -> float:
        return x0 + w * math.log2(intensity / low) / math.log2(high / low)

    ridge = 13.9

    def y_of(intensity: float) -> float:
        return y0 - h * 0.92 * math.log2(min(intensity, ridge) / low * 2) / math.log2(ridge / low * 2)

    c.line([(x0, y0 - h), (x0, y0), (x0 + w, y0)])
    c.line([(x_of(low), y_of(low)), (x_of(ridge), y_of(ridge)), (x_of(high), y_of(ridge))], "hot")
    c.line([(x_of(ridge), y_of(ridge)), (x_of(ridge), y0)], "dash")
    c.words(x_of(ridge), y0 + 18, "ridge", "middle", "small")
    c.words(x0 + w, y0 + 36, "FLOPs per byte", "end", "small faint")
    c.words(x0 - 6, y0 - h + 4, "FLOP/s", "end", "small faint")
    for intensity, words in ((1 / 12, "vector add"), (1 / 4, "sum"), (3.75, "16 terms")):
        c.cell(x_of(intensity) - 4, y_of(intensity) - 4, 8, 8, "data")
        c.words(x_of(intensity) + 10, y_of(intensity) + 12, words, style="small")
    c.words(x_of(1.0) - 50, y_of(1.0) - 30, "memory decides", "middle", "small faint")
    c.words(x_of(40.0), y_of(ridge) - 10, "arithmetic", "middle", "small faint")


@picture(
    "accumulators",
    "One accumulator and four",
    "With one accumulator each addition waits for the one before. With four, four additions are under "
    "way at once, and a short tree joins them at the end.",
)
def accumulators(c: Canvas) -> None:
    w = 38
    c.words(MARGIN, 24, "sum += x: each waits for the last", style="small")
    for i in range(8):
        c.cell(MARGIN + i * (w + 22), 34, w, 22, "lane", f"+x{i}", "small")
        if i:
            c.arrow(MARGIN + i * (w + 22) - 20, 45, MARGIN + i * (w + 22) - 2, 45)
    c.words(MARGIN, 90, "four sums: two rounds, then the tree", style="small")
    for k in range(4):
        y = 100 + k * 28
        for i in range(2):
            c.cell(MARGIN + i * (w + 22), y, w, 22, "lane", f"+x{i * 4 + k}", "small")
        c.arrow(MARGIN + w + 2, y + 11, MARGIN + w + 20, y + 11)
        c.line([(MARGIN + 2 * w + 24, y + 11), (170, 125 if k < 2 else 181)])
    for k in range(2):
        c.cell(172, 114 + k * 56, w, 22, "lane", "+", "small")
        c.line([(172 + w + 2, 125 + k * 56), (250, 153)])
    c.cell(252, 142, w, 22, "good", "+", "small")


@picture(
    "how-it-shows",
    "How a bug shows, and what to suspect",
    "Four ways: refused, stopped, wrong, slow. Refused points to the launch shape; stopped to an index "
    "or to somebody missing; wrong to elements missing or counted twice; slow to sectors, banks or divergence.",
)
def how_it_shows(c: Canvas) -> None:
    rows = (
        ("it is refused", "LAUNCH  BUILD", "block and grid, and their limits"),
        ("it stops", "OOB  MISALIGNED  SYNC", "an index; a width; somebody missing"),
        ("it is wrong", "WRONG  UNINIT", "left out, twice, or from elsewhere?"),
        ("right, today", "RACE", "a barrier that is not there"),
        ("right, and slow", "SLOW", "sectors, banks, divergence: --profile"),
    )
    for i, (how, verdicts, suspect) in enumerate(rows):
        y = 14 + i * 40
        c.cell(MARGIN, y, 112, 30, "bad" if i < 3 else "data", how, "small")
        c.arrow(128, y + 15, 146, y + 15)
        c.words(152, y + 19, verdicts, style="small mono")
        c.cell(306, y, 220, 30, "lane", suspect, "small")


@picture(
    "gone-early",
    "A mask that names lanes that have gone",
    "Twenty lanes of a warp reach the shuffle, twelve have returned. A full mask names all 32, so the "
    "twenty wait for lanes that never come.",
)
def gone_early(c: Canvas) -> None:
    w, x0 = 14.2, 76
    c.words(MARGIN, 36, "mask", style="mono small")
    c.words(MARGIN, 80, "lanes", style="small faint")
    for lane in range(32):
        c.cell(x0 + lane * w, 22, w - 1.5, 20, "data", 1, "small")
        c.cell(x0 + lane * w, 66, w - 1.5, 20, "lane" if lane < 20 else "empty")
        if lane >= 20:
            c.line([(x0 + lane * w + 6, 44), (x0 + lane * w + 6, 64)], "trouble")
    c.brace(x0 + 2, x0 + 20 * w - 4, 92, "n = 20: these came")
    c.brace(x0 + 20 * w + 2, x0 + 32 * w - 4, 92, "returned: named, never there")


@picture(
    "mailbox",
    "One launch: the last block collects",
    "Every block except the last stores its sum, with a flag, in its own place. The last "
    "block waits for each place in turn, adds the sums in a fixed order, and resets the places to zero.",
)
def mailbox(c: Canvas) -> None:
    for i in range(5):
        x = 96 + i * 88
        words = f"block {i}" if i < 4 else "the last"
        c.cell(x, 14, 76, 28, "lane" if i < 4 else "good", words, "small")
        if i < 4:
            c.arrow(x + 38, 44, x + 38, 70, "hot")
            c.cell(x, 72, 48, 26, "data", "sum", "small")
            c.cell(x + 48, 72, 28, 26, "good", "is", "small")
            c.line([(x + 38, 100), (x + 38, 122), (478, 122)])
    c.arrow(486, 122, 486, 46, "fine")
    c.words(MARGIN, 90, "mailbox", style="mono small")
    c.words(
        MARGIN,
        150,
        "a place: the sum and a mark in one store of 64 bits; who sees one sees both",
        style="small faint",
    )


@picture(
    "one-or-two-launches",
    "Two launches and one",
    "With two launches the second begins when the first is over, and costs a few microseconds. With one "
    "launch the last block adds the partial sums as they arrive.",
)
def one_or_two_launches(c: Canvas) -> None:
    x0 = 110
    c.words(MARGIN, 32, "two launches", style="small")
    c.cell(x0, 16, 180, 26, "lane", "blocks", "small")
    c.cell(x0 + 184, 16, 88, 26, "empty", "launch", "small")
    c.cell(x0 + 276, 16, 60, 26, "good", "one block", "small")
    c.words(MARGIN, 82, "one launch", style="small")
    c.cell(x0, 66, 180, 26, "lane", "blocks", "small")
    c.cell(x0 + 184, 66, 40, 26, "good", "last", "small")
    c.arrow(x0, 112, x0 + 400, 112)
    c.words(MARGIN, 116, "time", style="small faint")
