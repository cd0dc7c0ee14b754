"""Pictures of chapter 19: what an element of a product needs, a tile that goes along k, and products in registers."""

from canvas import MARGIN, Canvas, picture


@picture(
    "product-element",
    "A row of a and a column of b",
    "An element of c is a sum over a row of a and a column of b. Every element of a row of a is needed by all elements "
    "of that row of c.",
)
def product_element(c: Canvas) -> None:
    """One element of c and what it is made of."""
    size, top = 26, 40
    a, b, out = MARGIN + 10, MARGIN + 190, MARGIN + 370
    c.words(a, 26, "a: m x k", style="small faint")
    c.words(b, 26, "b: k x n", style="small faint")
    c.words(out, 26, "c: m x n", style="small faint")
    for y in range(5):
        for x in range(4):
            c.cell(a + x * size, top + y * size, size, size, "lane" if y == 2 else "data")
    for y in range(4):
        for x in range(5):
            c.cell(b + x * size, top + y * size, size, size, "lane" if x == 3 else "data")
    for y in range(5):
        for x in range(5):
            kind = "good" if (y, x) == (2, 3) else "idle" if y != 2 and x != 3 else "data"
            c.cell(out + x * size, top + y * size, size, size, kind)
    c.words(a + 2 * size, top + 5 * size + 20, "row 2", "middle", "small")
    c.words(b + 3.5 * size, top + 4 * size + 20, "column 3", "middle", "small")
    c.words(out + 2.5 * size, top + 5 * size + 20, "element (2, 3)", "middle", "small")
    c.words(a + 4.6 * size, top + 2.7 * size, "times", style="small faint")
    c.words(b + 5.6 * size, top + 2.7 * size, "=", style="small faint")


@picture(
    "product-tiles",
    "A block goes along k with two tiles",
    "A block computes a square of c. For each step along k it copies a square of a and a square of b to shared memory, "
    "multiplies them and continues.",
)
def product_tiles(c: Canvas) -> None:
    """The squares of one step."""
    size, left, top = 18, MARGIN + 30, 120
    right = left + 4 * size + 20
    c.words(right - 20, 42, "b", style="small faint")
    for y in range(4):
        for x in range(8):
            kind = "lane" if 4 <= x < 8 and y in (2, 3) else "data"
            c.cell(right + x * size, 30 + y * size, size, size, kind)
    c.words(left - 14, top + 12, "a", style="small faint")
    for y in range(6):
        for x in range(4):
            c.cell(left + x * size, top + y * size, size, size, "lane" if y >= 2 and x in (2, 3) else "data")
        for x in range(8):
            kind = "good" if y >= 2 and x >= 4 else "idle"
            c.cell(right + x * size, top + y * size, size, size, kind)
    c.arrow(left + 0.6 * size, top + 6 * size + 10, left + 3.4 * size, top + 6 * size + 10, "hot")
    c.words(left, top + 6 * size + 30, "step by step along k", style="small")
    x = right + 8 * size + 14
    c.words(x, top + 20, "The block's square of c:", style="small")
    c.words(x, top + 38, "each element of the two", style="small")
    c.words(x, top + 56, "tiles serves a whole row", style="small")
    c.words(x, top + 74, "or column of it.", style="small")
    c.key(top + 6 * size + 44, [("lane", "in shared memory"), ("good", "sums of the block")])


@picture(
    "product-registers",
    "Eight values, sixteen products",
    "A thread reads four values of a's tile and four of b's into registers, and adds their sixteen products to sixteen "
    "sums: half a load for each product.",
)
def product_registers(c: Canvas) -> None:
    """Four by four products of one thread."""
    w, h, left, top = 64, 28, MARGIN + 90, 70
    c.words(left + 2 * w, 24, "4 values of row d of b's tile", "middle", "small faint")
    c.row(left, 34, w, h, [("lane", f"b{j}") for j in range(4)])
    for i in range(4):
        c.cell(left - 72, top + i * h, 56, h, "lane", f"a{i}", "small")
        c.row(left, top + i * h, w, h, [("good", f"a{i} * b{j}") for j in range(4)])
    c.words(MARGIN, top + 4 * h + 20, "4 values of a's tile", style="small faint")
    c.words(left + 4 * w + 14, top + 30, "16 sums stay", style="small")
    c.words(left + 4 * w + 14, top + 48, "in registers", style="small")
    c.words(left + 4 * w + 14, top + 66, "for all steps", style="small")
