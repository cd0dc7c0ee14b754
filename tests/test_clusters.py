"""Clusters: their barrier, distributed shared memory, remote arrivals and copies, and what goes wrong there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from emulator import Emulator, Result

SCHEDULES = (0, 1, 2, 3, 4, 8)


@pytest.fixture(scope="module")
def device(emulator_built: Path) -> Iterator[Emulator]:
    with Emulator() as e:
        yield e


def kernel(body: str, header: str = "") -> str:
    """k(out): %t is %tid.x, %k the rank, %w the address of data (64 words), %b that of bar, %i the global index."""
    return f"""
.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {header} {{
    .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %d<32>; .reg .b32 %t, %k, %w, %b, %i, %z;
    .shared .align 128 .b32 data[64];
    .shared .align 8 .b64 bar;
    ld.param.u64 %d0, [out];
    mov.u32 %t, %tid.x;
    mov.u32 %k, %cluster_ctarank;
    mov.u32 %z, %ctaid.x;
    mad.lo.u32 %i, %z, 64, %t;
    shl.b32 %w, %t, 2;
    mov.u32 %b, data;
    add.u32 %w, %w, %b;
    mov.u32 %b, bar;
    setp.eq.u32 %p0, %t, 0;
{body}
    ret;
}}
"""


SYNC = "    barrier.cluster.arrive.release.aligned;\n    barrier.cluster.wait.acquire.aligned;\n"
OWN = "    st.shared.u32 [%w], %i;\n"
NEXT = """
    mov.u32 %r1, %cluster_nctarank;
    add.u32 %r2, %k, 1;
    rem.u32 %r2, %r2, %r1;
    mapa.shared::cluster.u32 %r3, %w, %r2;
"""
READ = "    ld.shared::cluster.u32 %r9, [%r3];\n"
OUT = """
    mul.wide.u32 %d1, %i, 4;
    add.u64 %d1, %d0, %d1;
    st.global.u32 [%d1], %r9;
"""


def launch(
    device: Emulator,
    body: str,
    schedule: int = 0,
    cluster: int | tuple[int, ...] = 4,
    blocks: int | tuple[int, ...] = 8,
    header: str = "",
    threads: int = 64,
) -> tuple[np.ndarray, Result]:
    device.load(kernel(body, header))
    out = device.buffer(np.zeros(1024, np.uint32), "out")
    result = device.launch("k", blocks, threads, [out], schedule=schedule, cluster=cluster)
    got = out.read(np.uint32)
    out.free()
    return got, result


def of_next(blocks: int, size: int) -> list[int]:
    """What each thread reads from the same place of the next block."""
    return [(b - b % size + (b + 1) % size) * 64 + t for b in range(blocks) for t in range(64)]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_values_of_the_next_block(device: Emulator, schedule: int, size: int) -> None:
    got, result = launch(device, OWN + SYNC + NEXT + READ + SYNC + OUT, schedule, size)
    assert not result.findings
    assert got[:512].tolist() == of_next(8, size)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    "read",
    [
        "    mapa.u64 %d5, %d4, %r2;\n    ld.u32 %r9, [%d5];\n",
        "    cvt.u64.u32 %d5, %r3;\n    cvta.shared::cluster.u64 %d5, %d5;\n    ld.u32 %r9, [%d5];\n",
        "    ld.relaxed.cluster.shared::cluster.u32 %r9, [%r3];\n",
        "    atom.shared::cluster.add.u32 %r9, [%r3], 0;\n",
    ],
)
def test_ways_to_read(device: Emulator, schedule: int, read: str) -> None:
    generic = "    cvt.u64.u32 %d4, %w;\n    cvta.shared.u64 %d4, %d4;\n"
    got, result = launch(device, OWN + SYNC + NEXT + generic + read + SYNC + OUT, schedule)
    assert not result.findings
    assert got[:512].tolist() == of_next(8, 4)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_ways_to_write(device: Emulator, schedule: int) -> None:
    body = "    st.shared.u32 [%w], 0;\n" + SYNC + NEXT + "    st.shared::cluster.u32 [%r3], %i;\n" + SYNC
    body += "    bar.sync 0;\n    red.relaxed.cluster.shared::cluster.add.u32 [%r3], 5;\n" + SYNC
    got, result = launch(device, body + "    ld.shared.u32 %r9, [%w];\n" + OUT, schedule)
    assert not result.findings
    assert got[:512].tolist() == [(b - b % 4 + (b + 3) % 4) * 64 + t + 5 for b in range(8) for t in range(64)]


REGISTERS = [
    *(
        f"%{name}.{axis}"
        for name in ("clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid")
        for axis in "xyz"
    ),
    "%cluster_ctarank",
    "%cluster_nctarank",
]


@pytest.mark.parametrize("how", ["launch", "kernel"])
@pytest.mark.parametrize(
    ("grid", "cluster"), [((4, 4, 2), (2, 1, 1)), ((4, 4, 2), (2, 2, 2)), ((6, 2, 2), (3, 2, 1))]
)
def test_special_registers(
    device: Emulator, grid: tuple[int, ...], cluster: tuple[int, ...], how: str
) -> None:
    body = """
    mov.u32 %r1, %ctaid.y; mov.u32 %r2, %ctaid.z; mov.u32 %r3, %nctaid.x; mov.u32 %r4, %nctaid.y;
    mad.lo.u32 %r1, %r2, %r4, %r1; mad.lo.u32 %r1, %r1, %r3, %z; mul.wide.u32 %d1, %r1, 64; add.u64 %d1, %d0, %d1;
"""
    for place, name in enumerate(REGISTERS):
        body += f"    mov.u32 %r5, {name};\n    st.global.u32 [%d1+{4 * place}], %r5;\n"
    body += "    selp.u32 %r5, 1, 0, %is_explicit_cluster;\n    st.global.u32 [%d1+56], %r5;\n"
    header = ".explicitcluster .reqnctapercluster " + ", ".join(map(str, cluster)) if how == "kernel" else ""
    got, result = launch(device, body, 0, cluster if how == "launch" else 0, grid, header, threads=1)
    assert not result.findings
    expected = []
    for z in range(grid[2]):
        for y in range(grid[1]):
            for x in range(grid[0]):
                at = (x, y, z)
                of_cluster = [a // c for a, c in zip(at, cluster, strict=True)]
                clusters = [g // c for g, c in zip(grid, cluster, strict=True)]
                inside = [a % c for a, c in zip(at, cluster, strict=True)]
                rank = inside[0] + cluster[0] * (inside[1] + cluster[1] * inside[2])
                size = cluster[0] * cluster[1] * cluster[2]
                expected += [*of_cluster, *clusters, *inside, *cluster, rank, size, 1, 0]
    assert got[: len(expected)].tolist() == expected


def test_without_a_cluster(device: Emulator) -> None:
    body = "    mov.u32 %r1, %cluster_nctarank;\n    selp.u32 %r2, 16, 0, %is_explicit_cluster;\n"
    body += "    add.u32 %r9, %r1, %r2;\n" + SYNC + OUT
    got, result = launch(device, body, 0, 0, 2)
    assert not result.findings
    assert got[:128].tolist() == [1] * 128


def test_ranks_of_addresses(device: Emulator) -> None:
    body = """
    and.b32 %r1, %t, 3;
    mapa.shared::cluster.u32 %r2, %w, %r1;
    getctarank.shared::cluster.u32 %r3, %r2;
    cvt.u64.u32 %d4, %w;
    cvta.shared.u64 %d4, %d4;
    mapa.u64 %d5, %d4, %r1;
    getctarank.u64 %r4, %d5;
    getctarank.shared::cluster.u32 %r5, %w;
    isspacep.shared::cluster %p1, %d5;
    isspacep.shared::cta %p2, %d5;
    selp.u32 %r6, 1, 0, %p1;
    selp.u32 %r7, 1, 0, %p2;
    mad.lo.u32 %r9, %r4, 16, %r3;
    mad.lo.u32 %r9, %r5, 256, %r9;
    mad.lo.u32 %r9, %r6, 4096, %r9;
    mad.lo.u32 %r9, %r7, 8192, %r9;
"""
    got, result = launch(device, body + OUT)
    assert not result.findings
    wanted = [
        (t & 3) * 17 + (b & 3) * 256 + 4096 + 8192 * (t & 3 == b & 3) for b in range(8) for t in range(64)
    ]
    assert got[:512].tolist() == wanted


# ---- The barrier -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("first", "second"),
    [("", ""), (".release", ".acquire"), (".aligned", ".aligned"), (".release.aligned", ".acquire")],
)
def test_forms_of_the_barrier(device: Emulator, schedule: int, first: str, second: str) -> None:
    sync = f"    barrier.cluster.arrive{first};\n    barrier.cluster.wait{second};\n"
    got, result = launch(device, OWN + sync + NEXT + READ + sync + OUT, schedule)
    assert not result.findings
    assert got[:512].tolist() == of_next(8, 4)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_relaxed_arrival_orders_nothing(device: Emulator, schedule: int) -> None:
    relaxed = SYNC.replace(".release", ".relaxed")
    _, result = launch(device, OWN + relaxed + NEXT + READ + SYNC + OUT, schedule)
    assert "RACE" in result.kinds
    fenced = "    fence.acq_rel.cluster;\n" + relaxed
    _, result = launch(device, OWN + fenced + NEXT + READ + SYNC + OUT, schedule)
    assert set(result.kinds) <= {"RACE"}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_missing_barrier(device: Emulator, schedule: int) -> None:
    _, result = launch(device, OWN + "    bar.sync 0;\n" + NEXT + READ + SYNC + OUT, schedule)
    assert {"RACE", "UNINITIALISED"} & set(result.kinds)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_exited_threads_do_not_hold_the_barrier(device: Emulator, schedule: int) -> None:
    body = OWN + "    setp.gt.u32 %p1, %t, 31;\n    setp.eq.and.u32 %p1, %k, 2, %p1;\n    @%p1 exit;\n" + SYNC
    got, result = launch(device, body + NEXT + READ + SYNC + OUT, schedule)
    assert not result.findings
    wanted = [0 if i // 64 % 4 == 2 and i % 64 > 31 else v for i, v in enumerate(of_next(8, 4))]
    assert got[:512].tolist() == wanted


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        (
            "    barrier.cluster.arrive;\n    barrier.cluster.arrive;\n",
            "BAD_BARRIER",
            "again before it has waited",
        ),
        ("    barrier.cluster.wait;\n", "BAD_BARRIER", "without having arrived"),
        (
            "    setp.eq.u32 %p1, %k, 1;\n    @%p1 bra ONE;\n" + SYNC + "ONE:\n    bar.sync 0;\n" + SYNC,
            "DEADLOCK",
            None,
        ),
        (
            (
                "    @%p0 bra ONE;\n    barrier.cluster.arrive.aligned;\n    bra BOTH;\nONE:\n"
                "    barrier.cluster.arrive.aligned;\nBOTH:\n    barrier.cluster.wait;\n"
            ),
            "BAD_BARRIER",
            "arrives at another barrier.cluster.aligned",
        ),
    ],
)
def test_misused_barriers(device: Emulator, schedule: int, body: str, kind: str, words: str | None) -> None:
    if kind == "DEADLOCK":  # block 1 passes one barrier less, and ends: that holds nobody up
        assert not launch(device, body, schedule)[1].findings
        return
    _, result = launch(device, body, schedule)
    assert result.finding.kind == kind
    assert words and words in result.finding.message


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_deadlock_across_blocks(device: Emulator, schedule: int) -> None:
    """Block 1 waits for the cluster inside of a barrier of the block that half of it never reaches."""
    body = "    setp.eq.u32 %p1, %k, 1;\n    setp.gt.and.u32 %p1, %t, 31, %p1;\n    @%p1 bra BLOCK;\n"
    body += SYNC + "    bra END;\nBLOCK:\n    barrier.sync 1, 64;\nEND:\n"
    _, result = launch(device, body, schedule)
    assert result.finding.kind == "DEADLOCK"


# ---- Blocks that have ended, wrong addresses ----------------------------------------------------------------------
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_block_ends_before_it_is_read(device: Emulator, schedule: int) -> None:
    # Every block but the first ends; the first reads after it has seen that in global memory.
    body = OWN + SYNC + NEXT + "    setp.ne.u32 %p1, %k, 0;\n    @%p1 bra END;\n    mov.u32 %r8, 0;\nDELAY:\n"
    body += "    add.u32 %r8, %r8, 1;\n    nanosleep.u32 1000;\n    setp.lt.u32 %p2, %r8, 2000;\n    @%p2 bra DELAY;\n"
    _, result = launch(device, body + READ + OUT + "END:\n", schedule)
    assert result.finding.kind == "OUT_OF_BOUNDS"
    assert (
        "whose threads have all ended: a barrier of the cluster must come between" in result.finding.message
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("rem.u32 %r2, %r2, %r1", "add.u32 %r2, %r1, 3"), "of rank 7, but the cluster has 4 blocks"),
        (
            ("ld.shared::cluster", "ld.shared"),
            "with an instruction for its own: .shared::cluster is for others",
        ),
        (("[%r3]", "[%r3+300]"), "of shared bar, which has 8"),
    ],
)
def test_wrong_addresses(device: Emulator, change: tuple[str, str], words: str) -> None:
    body = (OWN + SYNC + NEXT + READ).replace(*change)
    _, result = launch(device, body + SYNC)
    assert result.findings[-1].kind == "OUT_OF_BOUNDS"
    assert words in result.findings[-1].message


@pytest.mark.parametrize(
    ("cluster", "blocks", "header", "words"),
    [
        (3, 8, "", "8 blocks in x, which is not a multiple of the 3"),
        (16, 16, "", "16 x 1 x 1 blocks; 8 are allowed"),
        (2, 8, ".reqnctapercluster 4", "2 blocks in x; the kernel was compiled for 4"),
    ],
)
def test_refused_launches(device: Emulator, cluster: int, blocks: int, header: str, words: str) -> None:
    _, result = launch(device, SYNC, 0, cluster, blocks, header)
    assert result.finding.kind == "BAD_LAUNCH"
    assert words in result.finding.message


# ---- mbarriers and copies across blocks --------------------------------------------------------------------------
INIT = """
    @%p0 mbarrier.init.shared::cta.b64 [%b], {count};
    @%p0 fence.mbarrier_init.release.cluster;
"""
WAIT = """
WAIT:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%b], 0;
    @!%p1 bra WAIT;
"""


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("order", "is_ordered"), [(".release.cluster", True), (".relaxed.cluster", False)])
def test_remote_arrivals(device: Emulator, schedule: int, order: str, is_ordered: bool) -> None:
    body = INIT.format(count=64) + SYNC + NEXT + "    mapa.shared::cluster.u32 %r4, %b, %r2;\n"
    body += "    st.shared::cluster.u32 [%r3], %i;\n"
    body += f"    mbarrier.arrive{order}.shared::cluster.b64 _, [%r4];\n" + WAIT
    body += "    xor.b32 %r5, %w, 4;\n    ld.shared.u32 %r9, [%r5];\n" + SYNC + OUT
    got, result = launch(device, body, schedule)
    if not is_ordered:
        assert set(result.kinds) <= {"RACE", "UNINITIALISED"}
        assert result.findings
        return
    assert not result.findings
    assert got[:512].tolist() == [
        (b - b % 4 + (b + 3) % 4) * 64 + (t ^ 1) for b in range(8) for t in range(64)
    ]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_remote_wait_is_refused(device: Emulator, schedule: int) -> None:
    body = INIT.format(count=64) + SYNC + NEXT + "    mapa.shared::cluster.u32 %b, %b, %r2;\n" + WAIT
    _, result = launch(device, body, schedule)
    assert result.finding.kind == "OUT_OF_BOUNDS"


COPY = "    @%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r3+128], [%w], 128, [%r4];\n"


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("wrong", ["", "no wait", "exits", "changes"])
def test_copies_to_the_next_block(device: Emulator, schedule: int, wrong: str) -> None:
    body = OWN + INIT.format(count=1) + "    fence.proxy.async.shared::cta;\n" + SYNC + NEXT
    body += "    mapa.shared::cluster.u32 %r4, %b, %r2;\n"
    body += "    @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 128;\n" + SYNC + COPY
    body += "    st.shared.u32 [%w], 1;\n" if wrong == "changes" else ""
    body += "" if wrong == "no wait" else WAIT
    body += "    bar.sync 0;\n    ld.shared.u32 %r9, [%w];\n" + ("" if wrong == "exits" else SYNC) + OUT
    got, result = launch(device, body, schedule)
    if not wrong:
        assert not result.findings
        assert got[:512].tolist() == [
            (b * 64 + t) if t < 32 else (b - b % 4 + (b + 3) % 4) * 64 + t - 32
            for b in range(8)
            for t in range(64)
        ]
    elif wrong == "changes":
        assert "RACE" in result.kinds
    elif wrong == "no wait":
        assert {"RACE", "UNINITIALISED"} & set(result.kinds)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("mask", [15, 6, 9])
def test_multicast(device: Emulator, schedule: int, mask: int) -> None:
    body = (
        INIT.format(count=1)
        + f"""
    mov.u32 %r1, {mask};
    shr.u32 %r1, %r1, %k;
    and.b32 %r1, %r1, 1;
    setp.ne.u32 %p3, %r1, 0;
    and.pred %p4, %p0, %p3;
    @%p4 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 256;
    mov.u32 %r9, 7;
"""
        + SYNC
        + f"""
    setp.eq.and.u32 %p5, %k, 1, %p0;
    @%p5 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
        [%w], [%d0+2048], 256, [%b], {mask};
    @!%p3 bra DONE;
"""
        + WAIT
        + "    ld.shared.u32 %r9, [%w];\nDONE:\n"
        + SYNC
        + OUT
    )
    device.load(kernel(body))
    out = device.buffer(np.arange(1024, dtype=np.uint32), "out")
    result = device.launch("k", 8, 64, [out], schedule=schedule, cluster=4)
    assert not result.findings
    wanted = [512 + t if mask >> (b & 3) & 1 else 7 for b in range(8) for t in range(64)]
    assert out.read(np.uint32)[:512].tolist() == wanted


def test_multicast_to_no_block(device: Emulator) -> None:
    body = (
        INIT.format(count=1)
        + SYNC
        + "    @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    )
    body += ".multicast::cluster [%w], [%d0], 256, [%b], 16;\n"
    _, result = launch(device, body)
    assert (
        "copies to the block of rank 4, which has ended or is not in the cluster"
        in result.findings[-1].message
    )


# ---- What a launch of a sample runs ------------------------------------------------------------------------------
def test_atomics_of_many_clusters(device: Emulator) -> None:
    body = (
        "    @%p0 st.shared.u32 [%w], 0;\n"
        + SYNC
        + "    mov.u32 %r1, data;\n    mapa.shared::cluster.u32 %r3, %r1, 0;\n"
    )
    body += "    red.shared::cluster.add.u32 [%r3], %i;\n" + SYNC + "    ld.shared.u32 %r9, [%r1];\n" + OUT
    for schedule in SCHEDULES:
        got, result = launch(device, body, schedule, 8, 16)
        assert not result.findings
        assert got[:1024:512].tolist() == [sum(range(512)), sum(range(512, 1024))]
