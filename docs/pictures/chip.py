"""Pictures of chapters 1, 6 and 8: the chip, occupancy, atomics and passes."""

from canvas import MARGIN, Canvas, picture


@picture(
    "gpu",
    "A GPU from far away and one of its SMs",
    "Many SMs share an L2 cache and the memory behind it. An SM has four quarters, each with a scheduler, arithmetic "
    "units for 32 lanes and a quarter of the registers, and one shared memory and L1 cache.",
)
def gpu(c: Canvas) -> None:
    x = 246
    c.line([(MARGIN + 28, 34), (x, 30)], "dash")
    c.line([(MARGIN + 28, 64), (x, 208)], "dash")
    c.words(MARGIN, 24, "GPU (an H200 has 132 SMs)", style="small faint")
    for i in range(12):
        c.cell(MARGIN + i % 6 * 34, 34 + i // 6 * 38, 28, 30, "lane" if i == 0 else "idle", "SM", "small")
    c.cell(MARGIN, 116, 198, 26, "idle", "L2 cache, one for all", "small")
    c.cell(MARGIN, 150, 198, 30, "data", "memory", "small")
    c.cell(x, 30, 280, 180, "frame")
    c.words(x + 10, 48, "one SM", style="small strong")
    for q in range(4):
        qx, qy = x + 10 + q % 2 * 132, 56 + q // 2 * 60
        c.cell(qx, qy, 126, 54, "frame")
        c.words(qx + 6, qy + 14, "scheduler", style="small faint")
        for lane in range(16):
            c.cell(qx + 6 + lane * 7.1, qy + 20, 5.6, 12, "lane")
        c.cell(qx + 6, qy + 37, 113, 12, "data")
        c.words(qx + 63, qy + 47, "registers", "middle", "small")
    c.cell(x + 10, 178, 258, 24, "data", "shared memory and L1 cache", "small")


@picture(
    "one-lane",
    "What a lone thread does with its time",
    "One lane of one warp is on. It sends a few loads, waits for hundreds of clocks, adds what arrives, and starts "
    "over. The other 31 lanes and the other SMs do nothing.",
)
def one_lane(c: Canvas) -> None:
    x0 = 96
    c.words(MARGIN, 30, "lane 0", style="small")
    for i in range(2):
        x = x0 + i * 214
        for k in range(4):
            c.cell(x + k * 9, 16, 7, 20, "lane")
        c.line([(x + 38, 26), (x + 164, 26)], "dash")
        c.words(x + 101, 20, "waiting for memory", "middle", "small faint")
        for k in range(4):
            c.cell(x + 168 + k * 9, 16, 7, 20, "good")
    for row, words in enumerate(("lane 1", "lane 2", "...", "lane 31")):
        c.words(MARGIN, 58 + row * 24, words, style="small")
        c.cell(x0, 44 + row * 24, 422, 18, "idle")
    c.words(MARGIN, 154, "131 SMs", style="small")
    c.cell(x0, 140, 422, 18, "empty")
    c.key(176, [("lane", "loads sent"), ("good", "additions"), ("idle", "switched off")])


@picture(
    "chain-and-tree",
    "A chain of additions and a tree",
    "Eight numbers added one after the other pass through seven additions; in a tree no number passes through more "
    "than three.",
)
def chain_and_tree(c: Canvas) -> None:
    w = 28
    c.words(MARGIN, 24, "one after the other: 7 deep", style="small faint")
    c.words(300, 24, "in pairs: 3 deep", style="small faint")
    for i in range(8):
        c.cell(MARGIN + i * (w + 2), 34, w - 4, 22, "data", i, "small")
        c.cell(300 + i * w, 34, w - 4, 22, "data", i, "small")
    for i in range(7):
        x, y = MARGIN + (i + 1) * (w + 2), 66 + i * 17
        c.cell(x, y, w - 4, 14, "good" if i == 6 else "lane", "+", "small")
        c.line([(x + 12, 57), (x + 12, y)])
        if i:
            c.line([(x - 18, y - 3), (x - 18, y + 7), (x, y + 7)])
        else:
            c.line([(x - 18, 57), (x - 18, y + 7), (x, y + 7)])
    for level in range(3):
        step = 2 << level
        y = 76 + level * 38
        for i in range(0, 8, step):
            left, right = 300 + i * w + 12, 300 + (i + step // 2) * w + 12
            top = 57 if level == 0 else y - 18
            shift = 0 if level == 0 else w * (step // 4) / 2 if level > 1 else w / 2
            a, b = left + shift, right + shift
            middle = (a + b) / 2
            c.line([(a, top), (middle - 4, y)])
            c.line([(b, top), (middle + 4, y)])
            c.cell(middle - 12, y, 24, 20, "good" if level == 2 else "lane", "+", "small")


@picture(
    "occupancy-l4",
    "The L4 example",
    "An SM of an L4 has 48 places for warps; six blocks of 8 warps take them all. Registers would allow 16 blocks, "
    "shared memory 88, the limit on blocks 24.",
)
def occupancy_l4(c: Canvas) -> None:
    c.words(MARGIN, 24, "48 places for warps on one SM; 256 threads are 8 warps", style="small faint")
    for block in range(6):
        for warp in range(8):
            x = MARGIN + block * 86
            c.cell(x + warp % 4 * 20, 32 + warp // 4 * 20, 18, 18, "lane")
        c.brace(MARGIN + block * 86, MARGIN + block * 86 + 78, 76, f"block {block}")
    c.words(MARGIN, 126, "blocks per SM, if only this could run out", style="small faint")
    for row, (words, value) in enumerate(
        (("places for warps", 6), ("registers", 16), ("shared memory", 88), ("places for blocks", 24))
    ):
        y = 136 + row * 26
        c.words(MARGIN, y + 15, words, style="small")
        c.cell(130, y, value * 4, 20, "good" if value == 6 else "idle")
        c.words(
            130 + value * 4 + 8,
            y + 15,
            f"{value}{', the least: this decides' if value == 6 else ''}",
            style="small",
        )


@picture(
    "register-quarters",
    "Registers come in quarters",
    "A warp of 88 registers a thread takes 2,816. A quarter of the SM has 16,384 and holds five such warps; 2,304 are "
    "left over in each quarter and help nobody.",
)
def register_quarters(c: Canvas) -> None:
    for q in range(4):
        x, w = MARGIN + q * 129, 120.0
        c.words(x, 24, f"quarter {q}: 16,384", style="small faint")
        unit = w * 2816 / 16384
        for warp in range(5):
            c.cell(x + warp * unit, 32, unit - 1.5, 34, "lane", warp * 4 + q, "small")
        c.cell(x + 5 * unit, 32, w - 5 * unit, 34, "bad")
    c.words(MARGIN, 90, "20 warps of 88 registers a thread, though 65,536 / 2,816 would be 23", style="small")
    c.key(104, [("lane", "a warp: 88 x 32 = 2,816"), ("bad", "left over: 2,304 in each")])


@picture(
    "waves",
    "One wave, and one and a third",
    "Above, as many blocks as fit, each with a third more to do: all places are busy to the end. Below, a third more "
    "blocks: when the first wave is done, two thirds of the places stay empty while the rest runs.",
)
def waves(c: Canvas) -> None:
    x0 = 60
    for y, words, second in (
        (24, "as many blocks as fit, with larger shares", False),
        (150, "a third more blocks than fit", True),
    ):
        c.words(MARGIN, y, words)
        for place in range(6):
            top = y + 10 + place * 15
            if not second:
                c.cell(x0, top, 268, 12, "lane")
            else:
                c.cell(x0, top, 200, 12, "lane")
                c.cell(x0 + 203, top, 200, 12, "lane" if place < 2 else "empty")
    c.words(MARGIN, 78, "places", style="small faint")
    c.words(x0 + 276, 78, "done", style="small")
    c.words(x0 + 410, 204, "done", style="small")
    c.arrow(x0, 268, x0 + 400, 268)
    c.words(x0 + 408, 272, "time", style="small faint")


@picture(
    "atomic-queue",
    "Atomics queue at one address",
    "Many blocks send an addition each to one float. They arrive in any order and are carried out one after the "
    "other in the L2.",
)
def atomic_queue(c: Canvas) -> None:
    order = (3, 0, 5, 1, 4, 2)
    for i in range(6):
        x = MARGIN + i * 86
        c.cell(x, 18, 74, 28, "lane", f"block {i}", "small")
        target = MARGIN + 20 + order.index(i) * 56
        c.arrow(x + 37, 48, target + 22, 96, "hot")
    for i, block in enumerate(order):
        c.cell(MARGIN + 20 + i * 56, 98, 46, 24, "bad", f"+ {block}", "small")
    c.arrow(MARGIN + 20 + 6 * 56 - 6, 110, 412, 110, "trouble")
    c.cell(414, 94, 112, 32, "good", "out, in the L2", "small")
    c.words(
        MARGIN,
        148,
        "the queue: one at a time, in the order of arrival, which no rule fixes",
        style="small faint",
    )


@picture(
    "two-passes",
    "Two passes",
    "In the first launch each block writes its sum to a separate place. The second launch, of one block, "
    "adds the "
    "partial sums in an order that never changes.",
)
def two_passes(c: Canvas) -> None:
    c.words(MARGIN, 30, "first launch", style="small faint")
    for i in range(6):
        x = 110 + i * 68
        c.cell(x, 14, 60, 26, "lane", f"block {i}", "small")
        c.arrow(x + 30, 42, x + 30, 66, "hot")
        c.cell(x, 68, 60, 24, "data", i, "small")
    c.words(MARGIN, 85, "partial", style="mono small")
    c.line([(MARGIN, 106), (526, 106)], "dash")
    for i in range(6):
        c.line([(140 + i * 68, 94), (310, 148)])
    c.words(MARGIN, 166, "second launch", style="small faint")
    c.cell(220, 148, 180, 28, "lane", "one block", "small")
    c.arrow(310, 178, 310, 198, "fine")
    c.cell(280, 200, 60, 26, "good", "out", "small")
    c.words(
        MARGIN,
        250,
        "at the dashed line the first launch is complete, and all it wrote can be seen",
        style="small faint",
    )
