"""Pictures of chapter 16: how sums travel in a scan, from lane to lane and from tile to tile."""

from canvas import MARGIN, Canvas, picture


@picture(
    "scan-steps",
    "The scan of a warp, with eight lanes",
    "Three steps for eight lanes. In each step a lane adds the value of the lane 1, 2 and then 4 places below. After "
    "the last step every lane holds the sum of all lanes up to its own. Lanes that are done keep their value.",
)
def scan_steps(c: Canvas) -> None:
    x0, w, values = 150, 44, [3, 1, 4, 1, 5, 9, 2, 6]
    c.row(x0, 28, w, 26, [("data", v) for v in values])
    c.words(MARGIN, 20, "lane", style="small faint")
    for lane in range(8):
        c.words(x0 + lane * w + w / 2, 20, lane, "middle", "small faint")
    c.words(MARGIN, 46, "elements", style="small")
    for step, distance in enumerate((1, 2, 4)):
        top = 28 + 72 * step
        for lane in range(distance, 8):
            c.arrow(x0 + (lane - distance) * w + w / 2, top + 28, x0 + lane * w + w / 2 - 6, top + 70, "hot")
        values = [v + (values[i - distance] if i >= distance else 0) for i, v in enumerate(values)]
        c.row(
            x0, top + 72, w, 26, [("good" if i < 2 * distance else "lane", v) for i, v in enumerate(values)]
        )
        c.words(MARGIN, top + 90, f"and {distance} below", style="small")
    c.words(
        MARGIN,
        290,
        "green: the sum of all lanes up to this one; a lane also keeps its own value",
        style="small faint",
    )


@picture(
    "scan-look-back",
    "A tile looks back",
    "Tile 6 adds up what the tiles before it have published, the nearest first: the sums of tiles 5, 4 and 3, and the "
    "prefix of tile 2, which holds everything before. Tiles 0 and 1 are not needed. Tile 7 has published nothing yet.",
)
def scan_look_back(c: Canvas) -> None:
    x0, w = 20, 62
    states = ["prefix 9", "prefix 14", "prefix 20", "sum 5", "sum 8", "sum 2", "sum 7", "nothing"]
    kinds = ["good", "good", "good", "data", "data", "data", "lane", "empty"]
    c.words(x0, 20, "what each tile has published", style="small")
    for tile, (state, kind) in enumerate(zip(states, kinds, strict=True)):
        c.cell(x0 + tile * w, 30, w - 4, 28, kind, state, "small")
        c.words(x0 + tile * w + w / 2 - 2, 74, f"tile {tile}", "middle", "small faint")
    for tile in (5, 4, 3, 2):
        c.arrow(
            x0 + tile * w + w / 2, 82, x0 + 6 * w + 4 - 7 * (5 - tile), 116, "fine" if tile == 2 else "hot"
        )
    c.cell(x0 + 6 * w - 60, 118, 150, 28, "good", "2 + 8 + 5 + 20 = 35", "small")
    c.words(x0, 136, "before tile 6:", style="small")
    c.words(
        x0,
        170,
        "Tile 6 then publishes its prefix, 35 + 7 = 42. Tile 7 need not look any further.",
        style="small",
    )
