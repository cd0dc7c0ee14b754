"""Pictures of chapters 3 to 5: trees, shuffles, the butterfly, shared memory."""

from canvas import MARGIN, Canvas, picture


def _tree(c: Canvas, is_contiguous: bool) -> None:
    """Four levels over 16 slots, in warps of four lanes; grey lanes idle in a warp that is busy."""
    w, x0 = 25.5, 104
    strides = (8, 4, 2, 1) if is_contiguous else (1, 2, 4, 8)
    for thread in range(16):
        c.words(x0 + thread * w + w / 2 - 1, 22, thread, "middle", "small faint")
    c.words(MARGIN, 22, "thread", style="small faint")
    for level, stride in enumerate(strides):
        y = 32 + level * 40
        c.words(MARGIN, y + 16, f"stride {stride}", style="small mono")
        for warp in range(4):
            working = [
                t
                for t in range(warp * 4, warp * 4 + 4)
                if (t < stride if is_contiguous else t % (2 * stride) == 0)
            ]
            for t in range(warp * 4, warp * 4 + 4):
                kind = "lane" if t in working else "bad" if working else "empty"
                c.cell(x0 + t * w, y, w - 3, 22, kind, f"+{t + stride}" if t in working else "", "small")
            split = 0 < len(working) < 4
            if split:
                c.line([(x0 + warp * 4 * w, y + 26), (x0 + (warp * 4 + 4) * w - 3, y + 26)], "trouble")
    c.key(
        32 + 4 * 40 + 2,
        [("lane", "adds a slot"), ("bad", "idle in a busy warp"), ("empty", "whole warp idle")],
    )


@picture(
    "tree-neighbours",
    "A tree of neighbouring pairs",
    "Sixteen threads in warps of four. At stride 1 every second thread works, at stride 2 every fourth, "
    "and so on: at the first two levels all four warps are busy with half or a quarter of their lanes.",
)
def tree_neighbours(c: Canvas) -> None:
    _tree(c, is_contiguous=False)


@picture(
    "tree-halves",
    "A tree of halves",
    "The same tree with the strides in the other order: at stride 8 threads 0 to 7 work, two whole "
    "warps, then one whole warp; only the last two levels split a warp.",
)
def tree_halves(c: Canvas) -> None:
    _tree(c, is_contiguous=True)


@picture(
    "race",
    "A race, and the barrier that ends it",
    "Warp 1 writes a slot and warp 0 reads it. Without a barrier warp 0 may read before or after. With a "
    "barrier warp 0 waits until warp 1 has written.",
)
def race(c: Canvas) -> None:
    for x, words, has_barrier in ((MARGIN, "without a barrier", False), (286, "with a barrier", True)):
        c.words(x, 24, words)
        for row, warp in enumerate(("warp 0", "warp 1")):
            c.words(x, 56 + row * 44, warp, style="small faint")
            c.line([(x + 46, 52 + row * 44), (x + 236, 52 + row * 44)])
        if has_barrier:
            c.cell(x + 120, 34, 8, 78, "data")
            c.words(x + 124, 130, "__syncthreads()", "middle", "small mono")
            c.cell(x + 62, 40, 50, 24, "empty", "waits", "small")
            c.cell(x + 62, 84, 50, 24, "lane", "writes", "small")
            c.cell(x + 150, 40, 50, 24, "good", "reads", "small")
        else:
            c.cell(x + 60, 40, 50, 24, "bad", "reads", "small")
            c.cell(x + 96, 84, 50, 24, "lane", "writes", "small")
            c.words(x + 46, 130, "the old value, this time", style="small faint")
    c.arrow(60, 150, 470, 150)
    c.words(478, 154, "time", style="small faint")


@picture(
    "banks",
    "Words and banks",
    "Shared memory is a table of 32 columns, the banks: word 0 lies in bank 0, word 31 in bank 31, word "
    "32 in bank 0 again.",
)
def banks(c: Canvas) -> None:
    w, x0 = 47, 86
    shown = (0, 1, 2, 3, 4, None, 30, 31)
    c.words(MARGIN, 24, "bank", style="small faint")
    for i, bank in enumerate(shown):
        c.words(x0 + i * w + w / 2 - 2, 24, "..." if bank is None else bank, "middle", "small faint")
        for row in range(3):
            if bank is None:
                c.words(x0 + i * w + w / 2 - 2, 50 + row * 28, "...", "middle", "small faint")
            else:
                c.cell(x0 + i * w, 34 + row * 28, w - 4, 24, "data", bank + 32 * row, "small")
    c.words(MARGIN, 70, "words", style="small faint")
    c.words(x0, 134, "each bank hands out one word of four bytes at a time", style="small faint")


@picture(
    "bank-access",
    "Three ways to read shared memory",
    "Neighbouring words lie in different banks: one turn. Every second word: two lanes meet in each even "
    "bank, two turns. All lanes the same word: one turn, for one read serves all.",
)
def bank_access(c: Canvas) -> None:
    w, x0 = 46, 120
    cases = (
        ("word = lane", "1 turn", [(i, i, "fine") for i in range(8)], dict.fromkeys(range(8), "good")),
        (
            "word = 2 x lane",
            "2 turns",
            [(i, 2 * i % 8, "fine" if i < 4 else "trouble") for i in range(8)],
            {0: "bad", 2: "bad", 4: "bad", 6: "bad"},
        ),
        ("one word for all", "1 turn", [(i, 3, "fine") for i in range(8)], {3: "good"}),
    )
    for row, (words, turns, lines, kinds) in enumerate(cases):
        y = 20 + row * 104
        c.words(MARGIN, y + 14, words, style="small")
        c.words(MARGIN, y + 72, turns, style="strong small")
        for i in range(8):
            c.cell(x0 + i * w, y, w - 6, 18, "lane", f"lane {i}" if i == 0 else i, "small")
            c.cell(x0 + i * w, y + 58, w - 6, 20, kinds.get(i, "idle"), f"bank {i}" if i == 0 else i, "small")
        for lane, bank, kind in lines:
            c.line([(x0 + lane * w + 20, y + 19), (x0 + bank * w + 20, y + 57)], kind)
    c.words(x0, 328, "eight lanes and banks are drawn; there are 32 of each", style="small faint")


@picture(
    "two-level-fold",
    "Two folds and one barrier",
    "Eight warps fold their lanes by shuffles. Each leaves one sum in a slot of shared memory. After a "
    "barrier the first warp reads the eight slots, its other lanes bring zero, and folds once more.",
)
def two_level_fold(c: Canvas) -> None:
    w, x0 = 56, 84
    c.words(MARGIN, 32, "registers", style="small faint")
    for i in range(8):
        x = x0 + i * w
        c.cell(x, 16, w - 6, 26, "lane", f"warp {i}" if i < 1 else i, "small")
        c.arrow(x + 25, 44, x + 25, 74, "hot")
        c.cell(x, 76, w - 6, 24, "data", i, "small")
        c.line([(x + 25, 122), (x0 + 16 + i * 13.6, 148)], "hot")
    c.words(MARGIN, 62, "5 shuffles", style="small faint")
    c.words(MARGIN, 92, "slots", style="small faint")
    c.line([(MARGIN, 114), (526, 114)], "trouble")
    c.words(526, 130, "barrier", "end", "small")
    c.words(MARGIN, 164, "warp 0", style="small faint")
    for lane in range(32):
        c.cell(
            x0 + 10 + lane * 13.6, 150, 12, 22, "lane" if lane < 8 else "idle", "" if lane < 8 else 0, "small"
        )
    c.arrow(x0 + 18, 174, x0 + 18, 204, "fine")
    c.words(x0 + 30, 194, "5 shuffles", style="small faint")
    c.cell(x0 - 12, 206, 60, 24, "good", "sum", "small")


@picture(
    "shuffle-down",
    "One shuffle down by four",
    "Eight lanes hold values a to h. With distance 4, lanes 0 to 3 receive e, f, g and h; lanes 4 to 7, "
    "whose partner would be beyond the last lane, receive their own value.",
)
def shuffle_down(c: Canvas) -> None:
    w, x0 = 46, 116
    c.words(MARGIN, 28, "lane", style="faint small")
    c.words(MARGIN, 52, "gives value", style="faint small")
    c.words(MARGIN, 142, "receives other", style="faint small")
    for i, letter in enumerate("abcdefgh"):
        x = x0 + i * w
        c.words(x + w / 2, 28, i, "middle", "faint small")
        c.cell(x + 2, 36, w - 4, 26, "lane", letter)
        got = "abcdefgh"[i + 4] if i < 4 else letter
        c.cell(x + 2, 126, w - 4, 26, "good" if i < 4 else "idle", got)
        if i < 4:
            c.arrow(x + 4 * w + w / 2, 64, x + w / 2 + 4, 124, "hot")
        else:
            c.arrow(x + w / 2, 64, x + w / 2, 124, "dash")
    c.words(x0, 178, "distance 4; a warp has 32 lanes, eight are drawn", style="faint small")


@picture(
    "shuffle-fold",
    "A warp folded five times",
    "Five rows of 32 lanes. After the shuffle by 16 the lower 16 lanes hold sums of two, after 8 the "
    "lower eight sums of four, then four lanes sums of eight, two lanes sums of sixteen, and lane 0 the sum of all 32.",
)
def shuffle_fold(c: Canvas) -> None:
    x0, w = 82, 11.2
    c.words(MARGIN, 24, "distance", style="faint small")
    c.words(x0, 24, "lane 0", style="faint small")
    c.words(x0 + 32 * w, 24, "lane 31", "end", "faint small")
    c.words(x0 + 32 * w + 12, 24, "each holds", style="faint small")
    for step, distance in enumerate(("", 16, 8, 4, 2, 1)):
        y = 34 + step * 30
        wanted = 32 >> step
        c.words(MARGIN + 14, y + 15, distance, style="mono")
        for lane in range(32):
            kind = "good" if step == 5 and lane == 0 else "lane" if lane < wanted else "idle"
            c.cell(x0 + lane * w, y, w - 1.5, 20, kind)
        held = 1 << step
        c.words(
            x0 + 32 * w + 12, y + 14.5, "its own value" if held == 1 else f"a sum of {held}", style="small"
        )
    c.key(
        34 + 6 * 30 + 4,
        [("lane", "wanted later"), ("idle", "computed, never looked at"), ("good", "the sum")],
    )


@picture(
    "butterfly",
    "The butterfly",
    "Eight lanes exchange in pairs whose numbers differ in one bit: at distance 4, then 2, then 1. After "
    "three steps every lane holds the result of all eight.",
)
def butterfly(c: Canvas) -> None:
    w, x0 = 50, 96
    ys = [32, 94, 156, 218]
    c.words(MARGIN, 22, "lane, in bits", style="faint small")
    for i in range(8):
        c.words(x0 + i * w + w / 2, 22, f"{i:03b}", "middle", "faint small mono")
    for level, y in enumerate(ys):
        for i in range(8):
            words = "own" if level == 0 else f"of {1 << level}"
            c.cell(x0 + i * w + 3, y, w - 6, 24, "good" if level == 3 else "lane", words, "small")
        if level == 3:
            break
        distance = 4 >> level
        c.words(MARGIN, y + 48, f"xor {distance}", style="mono")
        for i in range(8):
            here = x0 + i * w + w / 2
            c.line([(here, y + 25), (here, ys[level + 1] - 1)], "dash")
        for i in range(8):
            here, there = x0 + i * w + w / 2, x0 + (i ^ distance) * w + w / 2
            c.arrow(here, y + 25, there, ys[level + 1] - 1, "hot")
    c.words(x0, 264, "a warp needs five steps: xor 16, 8, 4, 2, 1", style="faint small")


@picture(
    "warps-and-partials",
    "Where each warp's sum goes",
    "The grid is a row of blocks of 256 threads. Block 0 holds warps 0 to 7 of the grid, block 1 warps 8 "
    "to 15, and warp w writes element w of partial.",
)
def warps_and_partials(c: Canvas) -> None:
    w, x0 = 31, MARGIN + 2
    for block in range(2):
        x = x0 + block * (8 * w + 14)
        c.words(x, 26, f"block {block}: threads {block * 256} to {block * 256 + 255}", style="small faint")
        for warp in range(8):
            number = block * 8 + warp
            c.cell(x + warp * w, 34, w - 3, 26, "lane", number, "small")
            c.arrow(x + warp * w + w / 2, 62, x + warp * w + w / 2, 100, "hot")
            c.cell(x + warp * w, 102, w - 3, 26, "data", number, "small")
    c.words(
        x0, 148, "above: warps, numbered over the whole grid; below: elements of partial", style="small faint"
    )
