"""The emulator as tests want it.

    with Emulator() as e:
        e.load(path_or_text)
        out = e.buffer(np.zeros(256, np.float32), "out")
        result = e.launch("kernel", 1, 256, [out, Value("i32", 256)])
        assert not result.findings
        out.read(np.float32)

The structures are those of bench/emulator_library.py; native/layout_probe.c prints their layout in C, and
`check_layout` compares.
"""

from __future__ import annotations

import ctypes as c
import json
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from native_build import ROOT, build

from bench.emulator_library import (
    COUNTERS,
    LIBRARY_NAMED,
    CCounters,
    CDevice,
    CError,
    CFinding,
    CKernelInfo,
    CLaunch,
    CLine,
    CPlace,
    CResult,
    ModelTime,
    ModelWork,
    library,
)

STATUS = ["OK", "BAD_PTX", "UNSUPPORTED", "NO_MEMORY", "BAD_ARGUMENT", "TOO_LARGE"]
FINDINGS = [
    "NONE",
    "OUT_OF_BOUNDS",
    "MISALIGNED",
    "WRONG_SPACE",
    "READ_ONLY",
    "UNINITIALISED",
    "RACE",
    "RACE_SAME_VALUE",
    "STALE_READ",
    "DIVERGENT_BARRIER",
    "PARTIAL_BARRIER",
    "BAD_MASK",
    "SHUFFLE_INACTIVE",
    "DEADLOCK",
    "BAD_BARRIER",
    "TRAP",
    "ASSERT",
    "STACK_OVERFLOW",
    "STEP_LIMIT",
    "OUTPUT_LIMIT",
    "BAD_LAUNCH",
    "RESOURCE",
    "BAD_CALL",
    "UNSUPPORTED",
    "BAD_FREE",
    "LEAK",
]
MEMORY, INIT, RACE, SYNC = 1, 2, 4, 8
ALL_CHECKS = 15

MIRRORED: dict[str, type[c.Structure]] = {
    "EmulatorError": CError,
    "SourcePlace": CPlace,
    "Finding": CFinding,
    "Counters": CCounters,
    "LineCounters": CLine,
    "EmulatorDevice": CDevice,
    "EmulatorKernelInfo": CKernelInfo,
    "EmulatorLaunch": CLaunch,
    "EmulatorResult": CResult,
    "ModelTime": ModelTime,
    "ModelWork": ModelWork,
}


def check_layout(folder: Path) -> None:
    """Compares every structure above with what the C compiler makes of emulator.h."""
    source = Path(__file__).parent / "native" / "layout_probe.c"
    names = ROOT / "common" / "emulator" / "counters.c"  # counter_fields
    probe = build(folder / "layout_probe", [source, names], sanitize=False)
    told = json.loads(subprocess.run([probe], capture_output=True, text=True, check=True).stdout)
    assert told.pop("finding kinds") == len(FINDINGS)
    for name, members in told.items():
        mirror = MIRRORED[name]
        offsets = {"sizeof": c.sizeof(mirror)}
        offsets |= {member: getattr(mirror, member).offset for member in members if member != "sizeof"}
        assert offsets == members, f"{name} in bench/emulator_library.py is not {name} in the header"
    assert set(told) == set(MIRRORED)


# The command, which lies in bin/ beside lib/, or next to a library so named.
COMMAND = Path(LIBRARY_NAMED).parent / "emulate" if LIBRARY_NAMED else ROOT / "build" / "bin" / "emulate"
if LIBRARY_NAMED and not COMMAND.exists():
    COMMAND = Path(LIBRARY_NAMED).parents[1] / "bin" / "emulate"


class EmulatorError(Exception):
    """A call of the library failed; `status` is the enumerator's name without its prefix."""

    def __init__(self, error: CError) -> None:
        super().__init__(error.message.decode())
        self.status = STATUS[error.status]
        self.message = error.message.decode()
        self.line, self.column = error.line, error.column
        self.file, self.source_line = error.file.decode(), error.source_line


@dataclass(frozen=True)
class Finding:
    """One entry of EmulatorResult.findings."""

    kind: str
    message: str
    fatal: bool
    file: str
    line: int
    ptx_line: int
    other_line: int
    block: tuple[int, ...]
    thread: tuple[int, ...]
    other_thread: tuple[int, ...]
    warp: int
    lane: int
    address: int
    bytes: int
    is_store: bool
    is_atomic: bool
    object: str
    index: int
    object_bytes: int
    is_endless: bool
    count: int

    @staticmethod
    def of(f: CFinding) -> Finding:
        same = (
            "fatal",
            "warp",
            "lane",
            "address",
            "bytes",
            "is_store",
            "is_atomic",
            "index",
            "object_bytes",
            "is_endless",
            "count",
        )
        return Finding(
            kind=FINDINGS[f.kind],
            message=f.message.decode(),
            object=f.object.decode(),
            file=f.place.file.decode(),
            line=f.place.line,
            ptx_line=f.place.ptx_line,
            other_line=f.other_place.line,
            block=tuple(f.block),
            thread=tuple(f.thread),
            other_thread=tuple(f.other_thread),
            **{name: getattr(f, name) for name in same},
        )


@dataclass(frozen=True)
class Result:
    """What a launch found, counted and printed."""

    completed: bool
    findings: list[Finding]
    findings_total: int
    counters: dict[str, int]
    lines: dict[int, dict[str, int]]
    output: str
    lane_instructions: int
    kinds: list[str] = field(default_factory=list)

    @property
    def finding(self) -> Finding:
        """The only finding."""
        assert len(self.findings) == 1, self.findings
        return self.findings[0]


class Buffer:
    """Device memory of one Emulator."""

    def __init__(self, emulator: Emulator, address: int, nbytes: int) -> None:
        self.emulator, self.address, self.nbytes = emulator, address, nbytes

    def read(self, dtype: np.typing.DTypeLike = np.uint8) -> np.ndarray:
        to = np.empty(self.nbytes, np.uint8)
        self.emulator.call("read", to.ctypes.data, self.address, self.nbytes)
        return to.view(dtype)

    def write(self, data: np.ndarray, offset: int = 0) -> None:
        raw = np.ascontiguousarray(data).tobytes()
        self.emulator.call("write", self.address + offset, raw, len(raw))

    def fill(self, pattern: int, *, initialised: bool = True) -> None:
        self.emulator.call("fill", self.address, pattern, self.nbytes, initialised)

    def set_read_only(self, read_only: bool = True) -> None:
        self.emulator.call("set_read_only", self.address, read_only)

    def free(self) -> None:
        self.emulator.call("free", self.address)


@dataclass(frozen=True)
class Value:
    """A kernel argument of a given type: i32, u32, i64, u64, f32, f64, u8, u16; or bytes as they are."""

    type: str
    value: float | int | bytes

    def packed(self) -> bytes:
        if isinstance(self.value, bytes):
            return self.value
        codes = {
            "i32": "i",
            "u32": "I",
            "i64": "q",
            "u64": "Q",
            "f32": "f",
            "f64": "d",
            "u8": "B",
            "u16": "H",
        }
        return struct.pack("<" + codes[self.type], self.value)


Argument = Buffer | Value | int | np.generic
Shape = int | Sequence[int]


def _triple(shape: Shape) -> tuple[int, int, int]:
    given = (shape,) if isinstance(shape, int) else tuple(shape)
    return (*given, *(1,) * (3 - len(given)))  # type: ignore[return-value]


class Emulator:
    """A device: open while the `with` block runs."""

    def __init__(self, device: CDevice | None = None) -> None:
        self.lib = library()
        self.handle = self.lib.emulator_open(c.byref(device) if device else None)
        assert self.handle

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.lib.emulator_close(self.handle)
        self.handle = None

    def call(self, name: str, *arguments: object) -> int:
        """Calls emulator_<name>, which tells success by a true result."""
        error = CError()
        done = getattr(self.lib, f"emulator_{name}")(self.handle, *arguments, c.byref(error))
        if not done:
            raise EmulatorError(error)
        return int(done)

    def load(self, ptx: Path | str | bytes, name: str = "") -> None:
        """Loads PTX: a path, or the text itself."""
        if isinstance(ptx, Path):
            ptx, name = ptx.read_bytes(), name or ptx.name
        text = ptx.encode() if isinstance(ptx, str) else ptx
        self.call("load", text, len(text), (name or "test.ptx").encode())

    def buffer(self, content: int | np.ndarray, name: str = "a buffer", *, misalignment: int = 0) -> Buffer:
        """Allocates: a number of bytes that nothing has written, or an array's copy."""
        nbytes = content if isinstance(content, int) else content.nbytes
        address = self.call("allocate", nbytes, misalignment, name.encode())
        made = Buffer(self, address, nbytes)
        if not isinstance(content, int):
            made.write(content)
        return made

    def kernels(self) -> list[str]:
        return [
            self.info(self.lib.emulator_kernel_at(self.handle, i)).name.decode()
            for i in range(self.lib.emulator_kernel_count(self.handle))
        ]

    def info(self, kernel: int | str) -> CKernelInfo:
        if isinstance(kernel, str):
            kernel = self.lib.emulator_find_kernel(self.handle, kernel.encode())
        info = CKernelInfo()
        self.lib.emulator_kernel_info(kernel, c.byref(info))
        return info

    def reset_variables(self) -> None:
        self.lib.emulator_reset_variables(self.handle)

    def variables_changed(self) -> str | None:
        name = c.create_string_buffer(256)
        return name.value.decode() if self.lib.emulator_variables_changed(self.handle, name) else None

    def launch(
        self,
        kernel: str,
        grid: Shape,
        block: Shape,
        arguments: Sequence[Argument] = (),
        *,
        shared: int = 0,
        checks: int = ALL_CHECKS,
        schedule: int = 0,
        count: bool = False,
        steps: int = 200_000_000,
        output: int = 0,
        max_findings: int = 0,
        registers: int = 0,
        guarded_line: int = 0,
        most_resident: int = 0,
        cluster: Shape = 0,
    ) -> Result:
        """Runs a kernel to its end. A plain int is an i32, a Buffer its address."""
        handle = self.lib.emulator_find_kernel(self.handle, kernel.encode())
        assert handle, f"no kernel {kernel}"
        info = self.info(handle)
        assert info.parameter_count == len(arguments), f"{kernel} takes {info.parameter_count} arguments"
        block_of_arguments = bytearray(info.parameter_bytes)
        for place, given in zip(info.parameters, arguments, strict=False):
            if isinstance(given, Buffer):
                raw = struct.pack("<Q", given.address)
            elif isinstance(given, np.generic):
                raw = given.tobytes()
            else:
                raw = given.packed() if isinstance(given, Value) else struct.pack("<i", given)
            assert len(raw) == place.bytes, f"{kernel}: an argument of {place.bytes} bytes got {len(raw)}"
            block_of_arguments[place.offset : place.offset + place.bytes] = raw
        self.lib.emulator_set_registers(handle, registers)
        launch = CLaunch(
            grid=_triple(grid),
            block=_triple(block),
            cluster=_triple(cluster) if cluster else (0, 0, 0),
            dynamic_shared=shared,
            arguments=bytes(block_of_arguments),
            argument_bytes=len(block_of_arguments),
            checks=checks,
            count=count,
            schedule=schedule,
            max_steps=steps,
            max_output=output,
            max_findings=max_findings,
            guarded_line=guarded_line,
            most_resident=most_resident,
        )
        raw_result, error = CResult(), CError()
        done = self.lib.emulator_launch(
            self.handle, handle, c.byref(launch), c.byref(raw_result), c.byref(error)
        )
        try:
            if not done:
                raise EmulatorError(error)
            findings = [Finding.of(raw_result.findings[i]) for i in range(raw_result.finding_count)]
            return Result(
                completed=raw_result.completed,
                findings=findings,
                findings_total=raw_result.findings_total,
                counters={name: getattr(raw_result.counters, name) for name in COUNTERS},
                lines={
                    raw_result.lines[i].place.line: {
                        name: getattr(raw_result.lines[i].counters, name) for name in COUNTERS
                    }
                    for i in range(raw_result.line_count)
                },
                output=c.string_at(raw_result.output, raw_result.output_bytes).decode()
                if raw_result.output
                else "",
                lane_instructions=raw_result.lane_instructions,
                kinds=[f.kind for f in findings],
            )
        finally:
            self.lib.emulator_result_free(c.byref(raw_result))
