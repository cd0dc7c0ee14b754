"""Pictures of chapters 2 and 7: requests and sectors, dealing out, vector loads."""

from canvas import MARGIN, Canvas, picture


def _sectors(c: Canvas, x: float, y: float, w: float, used: list[int]) -> None:
    """Sectors of eight words side by side, the words of each that are used in green."""
    for sector, words in enumerate(used):
        for word in range(8):
            c.cell(x + (sector * 8 + word) * w, y, w - 1, 20, "good" if word < words else "bad")
        c.line([(x + sector * 8 * w - 1, y - 4), (x + sector * 8 * w - 1, y + 24)])
    c.line([(x + len(used) * 8 * w - 1, y - 4), (x + len(used) * 8 * w - 1, y + 24)])


@picture(
    "sectors-neighbours",
    "Neighbours share sectors",
    "The 32 lanes of a warp read 32 floats in a row. They lie in 4 sectors of 32 bytes, and every byte is used.",
)
def sectors_neighbours(c: Canvas) -> None:
    w, x0 = 15.4, 24
    c.words(x0, 24, "one request: 32 lanes, 32 addresses", style="small faint")
    for lane in range(32):
        c.cell(x0 + lane * w, 32, w - 1.5, 20, "lane")
        c.line([(x0 + lane * w + w / 2, 54), (x0 + lane * w + w / 2, 78)], "hot")
    _sectors(c, x0, 82, w, [8, 8, 8, 8])
    for sector in range(4):
        c.brace(x0 + sector * 8 * w + 4, x0 + (sector + 1) * 8 * w - 6, 110, f"sector {sector}: 32 bytes")
    c.words(x0, 160, "4 sectors, 128 bytes fetched, 128 used")


@picture(
    "sectors-chunked",
    "Lanes with addresses far apart take one sector each",
    "Each lane reads the first float of its own chunk. Every address is in a different sector: 32 sectors, "
    "with 4 of 32 bytes used in each.",
)
def sectors_chunked(c: Canvas) -> None:
    w, x0 = 10.6, 24
    c.words(x0, 24, "the same request when every lane begins its own chunk", style="small faint")
    for i, lane in enumerate((0, 1, 2, 3, 31)):
        x = x0 + i * 8.7 * w + (30 if i == 4 else 0)
        c.cell(x, 32, 44, 20, "lane", f"lane {lane}" if i else "lane 0", "small")
        c.arrow(x + 6, 54, x + 6, 80, "hot")
        _sectors(c, x, 86, w, [1])
    c.words(x0 + 4 * 8.7 * w + 4, 100, "...", style="strong")
    c.words(x0, 138, "32 sectors, 1,024 bytes fetched, 128 used")
    c.key(152, [("good", "asked for"), ("bad", "fetched but not used")])


@picture(
    "deal-out",
    "Two ways to share 24 elements among 8 threads",
    "Above, thread t owns elements 3t to 3t + 2, so in the first round the threads read every third element. Below, "
    "the elements are dealt out like cards, so in the first round they read elements 0 to 7.",
)
def deal_out(c: Canvas) -> None:
    w, x0 = 20.6, 24
    for y, words, owner, rounds in (
        (24, "a chunk each: in the first round the threads are 3 apart", lambda i: i // 3, lambda i: i % 3),
        (112, "dealt out: in the first round they are side by side", lambda i: i % 8, lambda i: i // 8),
    ):
        c.words(x0, y, words)
        for i in range(24):
            kind = "lane" if rounds(i) == 0 else "idle"
            c.cell(x0 + i * w, y + 10, w - 2, 26, kind, owner(i), "small")
            if i % 8 == 0 or i == 23:
                c.words(x0 + i * w + w / 2, y + 52, i, "middle", "small faint")
    c.key(182, [("lane", "read in the first round"), ("idle", "later")])
    c.words(x0 + 230, 192, "in the box: the thread; below: the element", style="small faint")


@picture(
    "one-or-four",
    "A request of single floats and one of float4",
    "With one float a lane a request covers 128 bytes in 4 sectors; with four floats a lane it covers 512 bytes in "
    "16 sectors. Both use every byte.",
)
def one_or_four(c: Canvas) -> None:
    x0, w = 24, 30
    for y, words, sectors in (
        (26, "float: one request, 32 x 4 bytes", 4),
        (112, "float4: one request, 32 x 16 bytes", 16),
    ):
        c.words(x0, y, words)
        for s in range(sectors):
            c.cell(x0 + s * w, y + 12, w - 3, 24, "good", 32, "small")
        c.words(
            x0 + sectors * w / 2, y + 54, f"{sectors} sectors, {sectors * 32} bytes", "middle", "small faint"
        )
    c.words(
        x0,
        194,
        "the same loop test, address arithmetic and wait for four times the bytes",
        style="small faint",
    )


@picture(
    "head-groups-tail",
    "Head, groups and tail",
    "14 floats that begin 12 bytes past a multiple of 16: a head of one float, three whole groups of four, and a "
    "tail of one.",
)
def head_groups_tail(c: Canvas) -> None:
    w, x0 = 30, 24
    c.words(x0, 24, "bytes past a multiple of 16", style="small faint")
    for slot in range(17):
        x = x0 + slot * w
        c.words(x + w / 2 - 2, 44, slot % 4 * 4, "middle", "small faint")
        if slot < 3 or slot == 17:
            c.cell(x, 52, w - 3, 28, "empty")
        else:
            kind = "bad" if slot == 3 or slot == 16 else "lane"
            c.cell(x, 52, w - 3, 28, kind, slot - 3, "small")
        if slot % 4 == 0:
            c.line([(x - 1.5, 48), (x - 1.5, 88)], "dash")
    c.brace(x0 + 3 * w + 2, x0 + 4 * w - 5, 90, "head")
    for group in range(3):
        c.brace(x0 + (4 + group * 4) * w + 2, x0 + (8 + group * 4) * w - 5, 90, f"group {group}")
    c.brace(x0 + 16 * w + 2, x0 + 17 * w - 5, 90, "tail")
    c.words(x0, 140, "in points at element 0; dashed lines are multiples of 16", style="small faint")


@picture(
    "in-flight",
    "Bytes on their way",
    "Memory answers after a fixed time. Above, a warp asks for 128 bytes and waits; below it asks for 512 in the same "
    "wait, so four times as much arrives in the same time.",
)
def in_flight(c: Canvas) -> None:
    x0, wait = 96, 128
    for row, (words, size, kind) in enumerate((("float", 26, "data"), ("float4", 60, "good"))):
        y = 34 + row * 92
        c.words(MARGIN, y + 26, words, style="mono")
        for i in range(3):
            x = x0 + i * (wait + 10)
            c.cell(x, y, 12, 40, "lane")
            c.line([(x + 14, y + 20), (x + wait - 26, y + 20)], "dash")
            c.cell(x + wait - 24, y + 20 - size / 2, 22, size, kind, (128, 512)[row], "small")
    c.key(226, [("lane", "a request"), ("data", "bytes that arrive"), ("good", "four times as many")])
    c.words(x0, 210, "time, nearly all of it waiting", style="small faint")
    c.arrow(x0 + 200, 206, x0 + 400, 206)
