"""Pictures of chapter 15: where the counters of a histogram are, and in which banks."""

from canvas import MARGIN, Canvas, picture


@picture(
    "histogram-private",
    "A private copy of the bins in each block",
    "Two blocks read different bytes. Each adds to its own counters in shared memory. At the end each block adds "
    "every counter to the bin in global memory, once.",
)
def histogram_private(c: Canvas) -> None:
    w = 26
    for block, (x, values) in enumerate(((MARGIN, (2, 0, 2, 3, 2, 1)), (300, (1, 1, 3, 0, 1, 1)))):
        c.words(x, 20, f"block {block} reads", style="small")
        c.row(x, 28, w, 24, [("data", v) for v in values])
        c.words(x, 82, "its counters, in shared memory", style="small")
        c.row(x, 90, w, 24, [("lane", values.count(v)) for v in range(4)])
        c.arrow(x + 2 * w, 54, x + 2 * w, 70, "hot")
        c.arrow(x + 2 * w, 118, 258 if block else 232, 150, "fine")
    total = (2, 0, 2, 3, 2, 1, 1, 1, 3, 0, 1, 1)
    c.words(190, 200, "bins, in global memory: one atomic for each counter", style="small")
    c.row(192, 154, w, 24, [("good", total.count(v)) for v in range(4)])


@picture(
    "histogram-banks",
    "One copy, and a copy for each lane",
    "With four lanes and four banks for the picture. In one copy the lanes' counters are in whatever bank their bytes "
    "select, and two lanes may meet. With a copy for each lane side by side, lane k is always in bank k.",
)
def histogram_banks(c: Canvas) -> None:
    w, bytes_read = 26, (6, 2, 1, 6)
    c.words(MARGIN, 20, "lanes 0 to 3 read the bytes 6, 2, 1 and 6", style="small")
    c.words(MARGIN, 46, "one copy: counter v is word v", style="small strong")
    for v in range(8):
        lanes = [k for k in range(4) if bytes_read[k] == v]
        kind = "bad" if v % 4 == 2 and lanes else "lane" if lanes else "idle"
        c.cell(MARGIN + v % 4 * w, 56 + v // 4 * 28, w - 2, 24, kind, v, "small")
    c.words(MARGIN, 132, "6, 2 and 6 are in bank 2", style="small")
    x = 200
    c.words(x, 46, "four copies: counter v of lane k is word 4 v + k", style="small strong")
    for v in range(8):
        for k in range(4):
            kind = "good" if bytes_read[k] == v else "idle"
            c.cell(x + k * w, 56 + v * 22, w - 2, 19, kind, v, "small")
    c.words(x + 4 * w + 12, 76, "lane 0 is in bank 0,", style="small")
    c.words(x + 4 * w + 12, 92, "lane 1 in bank 1,", style="small")
    c.words(x + 4 * w + 12, 108, "whatever they read", style="small")
    c.words(
        MARGIN,
        250,
        "in the boxes: the byte that is counted; four banks are drawn, there are 32",
        style="small faint",
    )
