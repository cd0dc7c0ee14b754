"""Pictures of chapter 18: how parts of a row are combined, and where a row is kept."""

from canvas import MARGIN, Canvas, picture


@picture(
    "softmax-parts",
    "Two parts of a row are combined",
    "One part has the maximum 2 and a sum with 2 subtracted. The other has the maximum 5 and a sum with 5 subtracted. "
    "Together the maximum is 5: the first sum is multiplied by e to the power 2 - 5, the second one stays.",
)
def softmax_parts(c: Canvas) -> None:
    parts = [
        (MARGIN, "0  2  1", "2", "s = e^(0-2) + e^(2-2) + e^(1-2)"),
        (284, "5  3  5", "5", "t = 1 + e^(3-5) + 1"),
    ]
    for x, elements, maximum, total in parts:
        c.words(x, 20, "elements of a part", style="small faint")
        c.cell(x, 28, 240, 26, "data", elements)
        c.cell(x, 64, 60, 26, "lane", f"max {maximum}", "small")
        c.cell(x + 64, 64, 176, 26, "lane", total, "small")
    c.arrow(134, 94, 220, 128, "hot")
    c.arrow(404, 94, 330, 128, "hot")
    c.cell(130, 130, 60, 28, "good", "max 5", "small")
    c.cell(194, 130, 220, 28, "good", "s e^(2-5) + t e^(5-5)", "small")
    c.words(
        MARGIN,
        184,
        "Each sum is rescaled from its own maximum to the common one. e^(5-5) is 1.",
        style="small",
    )


@picture(
    "softmax-registers",
    "A row of 2,048 floats in 64 threads",
    "The row is cut into eight stretches of 256 floats. In each, thread 0 holds the first four floats, thread 1 the "
    "next four, up to thread 63. So a thread has eight groups of four floats, 32 registers, and 32 lanes load 512 "
    "neighbouring bytes with one instruction.",
)
def softmax_registers(c: Canvas) -> None:
    x0, w = 84, 88
    threads = ["thread 0", "thread 1", "thread 2", "...", "thread 63"]
    for t, name in enumerate(threads):
        c.words(x0 + t * w + (w - 6) / 2, 20, name, "middle", "small faint")
    for k in range(8):
        top = 30 + 36 * k
        c.words(MARGIN, top + 18, f"load {k + 1}", style="small")
        for t in range(5):
            if t == 3:
                c.words(x0 + t * w + (w - 6) / 2, top + 18, "...", "middle", "small")
                continue
            first = 256 * k + 4 * (63 if t == 4 else t)
            c.cell(x0 + t * w, top, w - 6, 28, "data", f"{first:,}-{first + 3:,}", "small")
    c.words(
        MARGIN,
        340,
        "Each box: four neighbouring elements, 16 bytes, one load of one thread.",
        style="small faint",
    )
