"""Pictures of chapter 20: streams on a timeline, and the memories of host and device."""

from canvas import MARGIN, Canvas, picture

_KINDS = {"in": "data", "kernel": "lane", "out": "good"}
_WORDS = {"in": "copy in", "kernel": "kernel", "out": "copy back"}


def _work(c: Canvas, y: float, start: float, kind: str, width: float) -> None:
    c.cell(MARGIN + 70 + start, y, width, 24, _KINDS[kind])


@picture(
    "program-streams",
    "Four pieces in one stream, and in two",
    "In one stream every piece is copied to the device, computed and copied back before the next begins. In two "
    "streams the copy of a piece to the device runs while kernels compute another and a third is copied back.",
)
def program_streams(c: Canvas) -> None:
    """The same work twice."""
    times = {"in": 40.0, "kernel": 20.0, "out": 22.0}
    c.words(MARGIN, 46, "one stream", style="small")
    at = 0.0
    for _ in range(4):
        for kind, width in times.items():
            _work(c, 30, at, kind, width)
            at += width
    c.words(MARGIN, 96, "stream 1", style="small")
    c.words(MARGIN, 126, "stream 2", style="small")
    for piece in range(4):
        start = piece * times["in"]
        y = 80 + 30 * (piece % 2)
        for kind, width in times.items():
            _work(c, y, start, kind, width)
            start += width
    c.key(160, [(_KINDS[kind], words) for kind, words in _WORDS.items()])


@picture(
    "program-memories",
    "Which memory each side reaches",
    "The host reaches ordinary, pinned and managed memory. Kernels reach device memory and managed memory, and pinned "
    "memory if it is mapped. Only copies lead from ordinary memory to device memory.",
)
def program_memories(c: Canvas) -> None:
    """Four kinds of memory between two sides."""
    rows = [
        ("malloc, new", "host only", "data", "idle"),
        ("cudaMallocHost, cudaHostAlloc", "host; kernels over the bus", "data", "data"),
        ("cudaMallocManaged", "both, pages travel", "good", "good"),
        ("cudaMalloc", "kernels only", "idle", "lane"),
    ]
    c.words(MARGIN + 220, 26, "host", "middle", "small faint")
    c.words(MARGIN + 280, 26, "kernels", "middle", "small faint")
    for i, (call, who, host, kernels) in enumerate(rows):
        y = 38 + 34 * i
        c.words(MARGIN, y + 17, call, style="small")
        c.cell(MARGIN + 195, y, 50, 24, host)
        c.cell(MARGIN + 255, y, 50, 24, kernels)
        c.words(MARGIN + 325, y + 17, who, style="small faint")
