"""What is measured, from sums to matrix products: inputs, right answers, contenders."""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from . import stats
from .gpu import POISON, Device, GpuError, Launch, i32, i64, u32, u64
from .peers import Library, MissingError, Torch, Triton, one_line
from .references import REFERENCES, Prepared, Problem, Reference, Solutions, coefficient
from .shape import LaunchShape
from .timing import Contender, Effort, Timer

CLOSE = 1e-4  # of the sum itself: what the rounding of any sensible order of additions stays far below
EXACT = 1 << 24  # a float counts to here
FLOOR = "empty launch"
READ = "a read alone"


@dataclass
class Tools:
    """What every work needs, and the peers that were found."""

    device: Device
    support: Any  # the module of support.cu
    solutions: Solutions
    timer: Timer
    libraries: list[Library] = field(default_factory=list)  # the newest CCCL first
    torch: Torch | None = None
    triton: Triton | None = None
    missing: dict[str, str] = field(default_factory=dict)

    def launch(self, kernel: str, arguments: list[Any], blocks: int = 0) -> None:
        """A kernel of support.cu over everything."""
        grid = blocks or 8 * self.device.figures["sm_count"]
        Launch(
            self.device,
            self.device.function(self.support, kernel),
            LaunchShape((grid, 1, 1), (256, 1, 1)),
            arguments,
        )()

    @functools.cached_property
    def counter(self) -> int:
        """The address of eight bytes."""
        return self.device.allocate(256)

    def count(self, kernel: str, arguments: list[Any]) -> bytes:
        """The eight bytes that a kernel of support.cu adds up."""
        self.device.fill(self.counter, 0, 8)
        self.launch(kernel, [u64(self.counter), *arguments])
        return self.device.read(self.counter, 8)


@dataclass(frozen=True)
class Size:
    """One problem."""

    n: int
    rows: int = 0
    columns: int = 0


Maker = Callable[[], Contender]


class Work:
    """One size of one work, with its buffers on the device. Subclasses say what it is."""

    key: str
    title: str
    element: str = "f32"
    flops: float  # of one element
    input_names: tuple[str, ...] = ("in",)

    def __init__(self, tools: Tools, size: Size, slots: int) -> None:
        self.tools, self.size, self.slots = tools, size, slots
        self._allocated: list[int] = []
        width = self.element_bytes
        self._shared: dict[int, list[int]] = {}  # outputs by their number of elements
        self._left: dict[int, int] = {}  # how many elements are left at an output
        inputs = [{name: self.allocate(width * size.n) for name in self.input_names} for _ in range(slots)]
        self.problem = Problem(size.n, size.rows, size.columns, tuple(inputs))

    @classmethod
    def sizes(cls, *, quick: bool) -> list[Size]:
        """The problems that are measured."""
        raise NotImplementedError

    @classmethod
    def bytes_of(cls, size: Size) -> int:
        """What must move, whatever does the work: every input once, every output once."""
        raise NotImplementedError

    @property
    def element_bytes(self) -> int:
        """Of one element of an input."""
        return {"f32": 4, "bf16": 2, "u8": 1}[self.element]

    @property
    def output_bytes(self) -> int:
        """Of one element of an output."""
        return self.element_bytes

    @property
    def output_count(self) -> int:
        """Elements of the output of one problem."""
        raise NotImplementedError

    def fill(self) -> None:
        """Makes inputs with which every right result is right to the bit."""
        raise NotImplementedError

    def fill_for_timing(self) -> None:
        """Makes the inputs that are timed, where those of `fill` are not a user's."""

    def wrong(self, outputs: list[int]) -> str:
        """What is wrong with the outputs of all slots; "" when nothing is."""
        raise NotImplementedError

    def count_wrong(self, kernel: str, outputs: list[int], sizes: list[Any]) -> str:
        """The words for the wrong elements that a kernel of support.cu counts."""
        for buffers, out in zip(self.problem.buffers, outputs, strict=True):
            arguments = [*(u64(buffers[name]) for name in self.input_names), u64(out), *sizes]
            (count,) = struct.unpack("<Q", self.tools.count(kernel, arguments))
            if count:
                return f"{count:,} of {self.output_count:,} are wrong"
        return ""

    def peers(self) -> Iterator[tuple[str, Maker]]:
        """Names, and what makes a contender of each or raises MissingError."""
        raise NotImplementedError

    # ---- Buffers -----------------------------------------------------------------------------------------

    def allocate(self, count: int) -> int:
        """Device memory until `close`, from a whole KiB on: which slices of the L2 have its lines depends on that."""
        self._allocated.append(self.tools.device.allocate(count + 1024))
        return -(-self._allocated[-1] // 1024) * 1024

    def close(self) -> None:
        """Gives all memory back."""
        while self._allocated:
            self.tools.device.free(self._allocated.pop())

    # ---- Contenders --------------------------------------------------------------------------------------

    def contenders(self) -> tuple[list[Contender], dict[str, str]]:
        """Everyone who can take part, and why the others cannot."""
        makers: list[tuple[str, Maker]] = [
            (each.name, functools.partial(self._reference, each))
            for each in REFERENCES
            if each.work == self.key
        ]
        made, missing = [], {}
        for name, maker in (*makers, *self.peers()):
            try:
                made.append(maker())
            except Exception as error:
                missing[name] = one_line(error)
        return made, missing

    def _reference(self, reference: Reference) -> Contender:
        prepared: Prepared = self.tools.solutions.prepare(reference, self.problem)
        count = prepared.partials if reference.leaves_partials else self.output_count
        outputs = self.outputs(count)
        return self.contender(
            reference.name, prepared.enqueue(outputs), outputs, role="reference", note=reference.note
        )

    def outputs(self, count: int = 0) -> list[int]:
        """An output of `count` elements for each slot, the same for all: where memory lies may matter."""
        count = count or self.output_count
        if count not in self._shared:
            size = max(4, self.output_bytes * count)
            self._shared[count] = [self.allocate(size) for _ in range(self.slots)]
            self._left.update(dict.fromkeys(self._shared[count], count))
        return self._shared[count]

    def contender(
        self,
        name: str,
        enqueue: Callable[[int], None],
        outputs: list[int],
        *,
        role: str = "peer",
        note: str = "",
    ) -> Contender:
        """A contender that writes `outputs`, which are poisoned before every sample."""
        device, size = self.tools.device, max(4, self._left[outputs[0]] * self.output_bytes)

        def reset() -> None:
            for out in outputs:
                device.fill(out, POISON, size)

        return Contender(name, role, enqueue, reset, lambda: self.wrong(outputs), note=note)

    def torch(self) -> Torch:
        """PyTorch, or MissingError."""
        if not self.tools.torch:
            raise MissingError(self.tools.missing.get("PyTorch", "PyTorch is not installed"))
        return self.tools.torch

    def newest(self) -> Library:
        """CUB and thrust of the newest CCCL, or MissingError."""
        if not self.tools.libraries:
            raise MissingError(self.tools.missing.get("CUB", "there is no CUB"))
        return self.tools.libraries[0]

    def through_library(
        self, name: str, library: Library, function: str, sizes: tuple[Any, ...], note: str = ""
    ) -> Contender:
        """A function of peers.cu: room, its bytes, input, output, sizes."""
        count = library.room(self.size.n, self.size.rows)
        room, outputs = self.allocate(count), self.outputs()
        calls = [
            library.call(function, room, count, buffers["in"], out, *sizes)
            for buffers, out in zip(self.problem.buffers, outputs, strict=True)
        ]
        return self.contender(name, lambda slot: calls[slot](), outputs, note=note)

    def copy(self, note: str) -> Contender:
        """The copy of the input to the output, device to device."""
        library, outputs, count = self.newest(), self.outputs(), self.element_bytes * self.size.n
        calls = [
            library.call("peers_copy", buffers["in"], out, count)
            for buffers, out in zip(self.problem.buffers, outputs, strict=True)
        ]
        note = f"device to device, {note}"
        made = self.contender("cudaMemcpy", lambda slot: calls[slot](), outputs, note=note)
        made.check = lambda: self.count_wrong("wrong_copy", outputs, [i64(count)])
        return made


# ---- Sums ------------------------------------------------------------------------------------------------


class Sum(Work):
    """The sum of n floats."""

    key = "sum"
    title = "Sum of n floats"
    flops = 1.0

    @classmethod
    def sizes(cls, *, quick: bool) -> list[Size]:
        """2^10, 2^12 ... 2^28, 2^29, 2^30."""
        return [Size(2**k) for k in ((12, 20, 26) if quick else (*range(10, 29, 2), 29, 30))]

    @classmethod
    def bytes_of(cls, size: Size) -> int:
        """Every element, and one sum."""
        return 4 * (size.n + 1)

    @property
    def output_count(self) -> int:
        """One sum."""
        return 1

    def fill(self) -> None:
        """Whole numbers with sum|x| <= 2^24; from 2^24 elements on most are 0."""
        n = self.size.n
        most, one_in = min(1000, max(1, EXACT // n)), max(1, 2 * n // EXACT)
        self._fill("fill_whole", [i32(most), i32(one_in)], is_exact=True)

    def fill_for_timing(self) -> None:
        """Uniform in [0, 1): no zeros that memory could make light of."""
        self._fill("fill_uniform", [], is_exact=False)

    def _fill(self, kernel: str, arguments: list[Any], *, is_exact: bool) -> None:
        self._is_exact, self._expected, count = is_exact, [], i64(self.size.n)
        for slot, buffers in enumerate(self.problem.buffers):
            at = u64(buffers["in"])
            self.tools.launch(kernel, [at, count, *arguments, u32(2 * slot + 1)])
            self._expected.append(struct.unpack("<d", self.tools.count("add_up", [at, count]))[0])

    def wrong(self, outputs: list[int]) -> str:
        """The sums, to the bit or within the rounding of any sensible order."""
        for out, expected in zip(outputs, self._expected, strict=True):
            count = self._left[out]
            found = sum(struct.unpack(f"<{count}f", self.tools.device.read(out, 4 * count)))
            if complaint := wrong_sum(found, expected, is_exact=self._is_exact):
                return complaint
        return ""

    def peers(self) -> Iterator[tuple[str, Maker]]:
        """CUB twice, thrust, PyTorch; and what no launch is below."""
        yield FLOOR, self._nothing
        yield "CUB", lambda: self._cub("CUB", self.newest(), "peers_cub_sum")
        yield "CUB, not guaranteed", self._not_guaranteed
        for library in self.tools.libraries[1:]:
            name = f"CUB {library.version}"
            yield name, functools.partial(self._cub, name, library, "peers_cub_sum")
        yield "thrust::reduce", self._thrust
        yield "torch.sum", self._torch

    def _nothing(self) -> Contender:
        function = self.tools.device.function(self.tools.support, "nothing")
        launch = Launch(self.tools.device, function, LaunchShape((1, 1, 1), (32, 1, 1)), [])
        return Contender(FLOOR, "floor", lambda _slot: launch(), note="a kernel that does nothing")

    def _cub(self, name: str, library: Library, function: str) -> Contender:
        return self.through_library(name, library, function, (self.size.n,))

    def _not_guaranteed(self) -> Contender:
        library = self.newest()
        if not library.has_not_guaranteed:
            raise MissingError(f"CUB {library.version} has none; CCCL 3.2 is the first that does")
        return self._cub("CUB, not guaranteed", library, "peers_cub_sum_not_guaranteed")

    def _thrust(self) -> Contender:
        """Its result is on the host, which waits for it: that is what its user gets."""
        library, n, slots = self.newest(), self.size.n, self.slots
        count = library.room(n)
        room = self.allocate(count)
        results = (ctypes.c_float * slots)()
        first = ctypes.addressof(results)
        calls = [
            library.call("peers_thrust_sum", room, count, buffers["in"], first + 4 * slot, n)
            for slot, buffers in enumerate(self.problem.buffers)
        ]

        def reset() -> None:
            ctypes.memset(first, 0xFF, 4 * slots)

        def check() -> str:
            found = zip(results, self._expected, strict=True)
            return next(
                (words for got, want in found if (words := wrong_sum(got, want, is_exact=self._is_exact))), ""
            )

        return Contender(
            "thrust::reduce",
            "peer",
            lambda slot: calls[slot](),
            reset,
            check,
            is_synchronous=True,
            note="its result is on the host: the copy there and the wait count",
        )

    def _torch(self) -> Contender:
        torch, outputs = self.torch(), self.outputs()
        total = torch.module.sum
        pairs = [
            (torch.tensor(buffers["in"], (self.size.n,)), torch.tensor(out, (1,)).reshape(()))
            for buffers, out in zip(self.problem.buffers, outputs, strict=True)
        ]

        def enqueue(slot: int) -> None:
            total(pairs[slot][0], dim=0, out=pairs[slot][1])

        return self.contender("torch.sum", enqueue, outputs)


def wrong_sum(found: float, expected: float, *, is_exact: bool) -> str:
    """Complains about a sum, a NaN included."""
    if found == expected or (not is_exact and abs(found - expected) <= CLOSE * abs(expected)):
        return ""
    return f"the sum is {found}, not {expected}"


# ---- Row sums --------------------------------------------------------------------------------------------


class Rows(Work):
    """The sum of every row of a matrix."""

    key = "rows"
    title = "Sums of rows"
    flops = 1.0

    @classmethod
    def sizes(cls, *, quick: bool) -> list[Size]:
        """65,536 rows of 2,048."""
        return [Size(rows * 2048, rows, 2048) for rows in ((4096,) if quick else (65536,))]

    @classmethod
    def bytes_of(cls, size: Size) -> int:
        """Every element, and one sum a row."""
        return 4 * (size.n + size.rows)

    @property
    def output_count(self) -> int:
        """One sum a row."""
        return self.size.rows

    def fill(self) -> None:
        """Whole numbers up to 1000: the sum of a row is exact in any order."""
        for slot, buffers in enumerate(self.problem.buffers):
            arguments = [u64(buffers["in"]), i64(self.size.n), i32(1000), i32(1), u32(2 * slot + 1)]
            self.tools.launch("fill_whole", arguments)

    def wrong(self, outputs: list[int]) -> str:
        """How many rows."""
        return self.count_wrong("wrong_rows", outputs, [i64(self.size.rows), i32(self.size.columns)])

    def peers(self) -> Iterator[tuple[str, Maker]]:
        """CUB's segments of one length, and PyTorch."""
        yield "CUB segmented", self._cub
        yield "torch.sum(dim=1)", self._torch

    def _cub(self) -> Contender:
        sizes = (self.size.rows, self.size.columns)
        return self.through_library("CUB segmented", self.newest(), "peers_cub_row_sums", sizes)

    def _torch(self) -> Contender:
        torch, outputs = self.torch(), self.outputs()
        total = torch.module.sum
        pairs = [
            (
                torch.tensor(buffers["in"], (self.size.rows, self.size.columns)),
                torch.tensor(out, (self.size.rows,)),
            )
            for buffers, out in zip(self.problem.buffers, outputs, strict=True)
        ]

        def enqueue(slot: int) -> None:
            total(pairs[slot][0], dim=1, out=pairs[slot][1])

        return self.contender("torch.sum(dim=1)", enqueue, outputs)


# ---- Vector add ------------------------------------------------------------------------------------------


class Add(Work):
    """c = a + b in float."""

    key = "add"
    title = "Vector add, float"
    flops = 1.0
    input_names = ("in", "in2")

    @classmethod
    def sizes(cls, *, quick: bool) -> list[Size]:
        """2^20, 2^22 ... 2^28."""
        return [Size(2**k) for k in ((24,) if quick else range(20, 29, 2))]

    @classmethod
    def bytes_of(cls, size: Size) -> int:
        """Two vectors in, one out."""
        return 3 * (2 if cls.element == "bf16" else 4) * size.n

    @property
    def output_count(self) -> int:
        """As many as elements."""
        return self.size.n

    def fill(self) -> None:
        """Uniform floats, or bfloat16 whose sums a float holds."""
        kernel = "fill_bf16" if self.element == "bf16" else "fill_uniform"
        for slot, buffers in enumerate(self.problem.buffers):
            for i, at in enumerate(buffers.values()):
                self.tools.launch(kernel, [u64(at), i64(self.size.n), u32(2 * slot + i + 1)])

    def wrong(self, outputs: list[int]) -> str:
        """How many elements; every one must be rounded right."""
        return self.count_wrong(f"wrong_add_{self.element}", outputs, [i64(self.size.n)])

    def peers(self) -> Iterator[tuple[str, Maker]]:
        """PyTorch, and Triton in its usual form and in the best of several."""
        yield "torch.add", self._torch
        yield "Triton", lambda: self._triton("Triton", [Triton.usual])
        yield "Triton, tuned", lambda: self._triton("Triton, tuned", list(Triton.tried))

    def _tensors(self, outputs: list[int]) -> list[tuple[Any, Any, Any]]:
        torch, shape = self.torch(), (self.size.n,)

        def tensor(address: int) -> Any:
            return torch.tensor(address, shape, self.element)

        return [
            (tensor(buffers["in"]), tensor(buffers["in2"]), tensor(out))
            for buffers, out in zip(self.problem.buffers, outputs, strict=True)
        ]

    def _torch(self) -> Contender:
        outputs = self.outputs()
        tensors, add = self._tensors(outputs), self.torch().module.add

        def enqueue(slot: int) -> None:
            a, b, c = tensors[slot]
            add(a, b, out=c)

        return self.contender("torch.add", enqueue, outputs)

    def _triton(self, name: str, configs: list[tuple[int, int]]) -> Contender:
        """The fastest of the configurations, each timed a few times with a cold L2."""
        if not self.tools.triton:
            raise MissingError(self.tools.missing.get("Triton", "Triton is not installed"))
        triton, outputs = self.tools.triton, self.outputs()
        tensors = self._tensors(outputs)

        def with_config(config: tuple[int, int]) -> Contender:
            block, warps = config
            calls = [triton.call(*three, self.size.n, config) for three in tensors]
            note = f"{block:,} elements and {warps} warps a program"
            return self.contender(name, lambda slot: calls[slot](), outputs, note=note)

        tried = [with_config(config) for config in configs]
        if len(tried) == 1:
            return tried[0]
        named = {each.note: each for each in tried}
        several = [Contender(note, "peer", each.enqueue) for note, each in named.items()]
        results = self.tools.timer.measure(several, self.slots, Effort(10, 20, 0.01, 0.5), state="cold")
        medians = {note: stats.median(each.seconds) for note, each in results.items() if each.seconds}
        if not medians:
            raise GpuError(next(each.error or "no sample" for each in results.values()))
        return named[min(medians, key=lambda note: medians[note])]


class AddBf16(Add):
    """c = a + b in bfloat16."""

    key = "add_bf16"
    title = "Vector add, bfloat16"
    element = "bf16"


# ---- Transpose -------------------------------------------------------------------------------------------


class Transpose(Work):
    """A matrix turned over."""

    key = "transpose"
    title = "Transpose"
    flops = 0.0

    @classmethod
    def sizes(cls, *, quick: bool) -> list[Size]:
        """16,384 x 16,384."""
        return [Size(side * side, side, side) for side in ((4096,) if quick else (16384,))]

    @classmethod
    def bytes_of(cls, size: Size) -> int:
        """One matrix in, one out."""
        return 8 * size.n

    @property
    def output_count(self) -> int:
        """As many as elements."""
        return self.size.n

    def fill(self) -> None:
        """Uniform floats."""
        for slot, buffers in enumerate(self.problem.buffers):
            self.tools.launch("fill_uniform", [u64(buffers["in"]), i64(self.size.n), u32(slot + 1)])

    def wrong(self, outputs: list[int]) -> str:
        """How many elements are not where they belong."""
        return self.count_wrong("wrong_transpose", outputs, [i64(self.size.rows), i64(self.size.columns)])

    def peers(self) -> Iterator[tuple[str, Maker]]:
        """The copy of as many bytes, and PyTorch."""
        yield "cudaMemcpy", lambda: self.copy("nothing is turned over")
        yield "torch .t() copy", self._torch

    def _torch(self) -> Contender:
        torch, outputs = self.torch(), self.outputs()
        rows, columns = self.size.rows, self.size.columns
        pairs = [
            (torch.tensor(buffers["in"], (rows, columns)).t(), torch.tensor(out, (columns, rows)))
            for buffers, out in zip(self.problem.buffers, outputs, strict=True)
        ]

        def enqueue(slot: int) -> None:
            turned, out = pairs[slot]
            out.copy_(turned)

        return self.contender("torch .t() copy", enqueue, outputs)


# ---- Histograms ------------------------------------------------------------------------------------------


class Histogram(Work):
    """How often each byte occurs, every byte as likely as any other."""

    key = "histogram"
    title = "Histogram of bytes"
    element = "u8"
    flops = 0.0
    kind = 0  # of the bytes: fill_bytes in support.cu

    @classmethod
    def sizes(cls, *, quick: bool) -> list[Size]:
        """2^28 bytes."""
        return [Size(2**k) for k in ((24,) if quick else (28,))]

    @classmethod
    def bytes_of(cls, size: Size) -> int:
        """Every byte, and 256 bins."""
        return size.n + 1024

    @property
    def output_count(self) -> int:
        """A bin for each value of a byte."""
        return 256

    @property
    def output_bytes(self) -> int:
        """An unsigned int."""
        return 4

    def fill(self) -> None:
        """Bytes, counted once by another kernel."""
        self._expected = []
        for slot, buffers in enumerate(self.problem.buffers):
            at, count = u64(buffers["in"]), i64(self.size.n)
            self.tools.launch("fill_bytes", [at, count, i32(self.kind), u32(slot + 1)])
            bins = self.outputs()[slot]
            self.tools.launch("count_bytes", [u64(bins), at, count], 256)
            self._expected.append(self.tools.device.read(bins, 1024))

    def wrong(self, outputs: list[int]) -> str:
        """How many bins."""
        for out, expected in zip(outputs, self._expected, strict=True):
            found = struct.unpack("<256I", self.tools.device.read(out, 1024))
            wrong = sum(a != b for a, b in zip(found, struct.unpack("<256I", expected), strict=True))
            if wrong:
                return f"{wrong} of 256 bins are wrong"
        return ""

    def peers(self) -> Iterator[tuple[str, Maker]]:
        """CUB; and the sum of the same bytes, which reads them and does hardly anything else."""
        yield "CUB", self._cub
        yield READ, self._read

    def _read(self) -> Contender:
        """What no histogram is below. The bytes as floats may be NaN, so the sum itself says nothing."""
        capstone = next(each for each in REFERENCES if each.work == Sum.key and each.is_best)
        bytes_as_floats = Problem(self.size.n // 4, 0, 0, self.problem.buffers)
        outputs = self.outputs()
        enqueue = self.tools.solutions.prepare(capstone, bytes_as_floats).enqueue(outputs)
        made = self.contender(READ, enqueue, outputs, note="ch14's sum of these bytes as floats")
        made.check = lambda: ""
        return made

    def _cub(self) -> Contender:
        sizes = (self.size.n,)
        return self.through_library("CUB", self.newest(), "peers_cub_histogram", sizes, "zeroes its output")


class SkewedHistogram(Histogram):
    """The same where three of four bytes are one value."""

    key = "histogram_skewed"
    title = "Histogram of bytes, skewed"
    kind = 1


class ConstantHistogram(Histogram):
    """The same where all bytes are one value."""

    key = "histogram_constant"
    title = "Histogram of bytes, constant"
    kind = 2


# ---- Scans -----------------------------------------------------------------------------------------------


class Scan(Work):
    """The inclusive scan of n floats."""

    key = "scan"
    title = "Inclusive scan of floats"
    flops = 1.0

    @classmethod
    def sizes(cls, *, quick: bool) -> list[Size]:
        """2^28 floats."""
        return [Size(2**k) for k in ((24,) if quick else (28,))]

    @classmethod
    def bytes_of(cls, size: Size) -> int:
        """Every element, and a sum for each."""
        return 8 * size.n

    @property
    def output_count(self) -> int:
        """A sum for each element."""
        return self.size.n

    def fill(self) -> None:
        """Whole numbers from -8 to 8: their sums stay far below 2^24, and are exact in any order."""
        for slot, buffers in enumerate(self.problem.buffers):
            arguments = [u64(buffers["in"]), i64(self.size.n), i32(8), i32(1), u32(2 * slot + 1)]
            self.tools.launch("fill_whole", arguments)

    def wrong(self, outputs: list[int]) -> str:
        """How many sums."""
        return self.count_wrong("wrong_scan", outputs, [i64(self.size.n)])

    def peers(self) -> Iterator[tuple[str, Maker]]:
        """CUB and PyTorch."""
        yield "CUB", self._cub
        yield "torch.cumsum", self._torch

    def _cub(self) -> Contender:
        return self.through_library("CUB", self.newest(), "peers_cub_scan", (self.size.n,))

    def _torch(self) -> Contender:
        torch, outputs, shape = self.torch(), self.outputs(), (self.size.n,)
        pairs = [
            (torch.tensor(buffers["in"], shape), torch.tensor(out, shape))
            for buffers, out in zip(self.problem.buffers, outputs, strict=True)
        ]

        def enqueue(slot: int) -> None:
            torch.module.cumsum(pairs[slot][0], dim=0, out=pairs[slot][1])

        return self.contender("torch.cumsum", enqueue, outputs)


# ---- Filters ---------------------------------------------------------------------------------------------


class Filter7(Work):
    """A filter of 7 x 7 floats over an image; what is outside adds nothing."""

    key = "filter_7"
    title = "Filter of 7 x 7"
    side = 7
    flops = 98.0

    @classmethod
    def sizes(cls, *, quick: bool) -> list[Size]:
        """8,192 x 8,192."""
        return [Size(side * side, side, side) for side in ((2048,) if quick else (8192,))]

    @classmethod
    def bytes_of(cls, size: Size) -> int:
        """One image in, one out."""
        return 8 * size.n

    @property
    def output_count(self) -> int:
        """As many as elements."""
        return self.size.n

    def fill(self) -> None:
        """Whole numbers up to 1000: with coefficients up to 3, every sum is exact in any order."""
        for slot, buffers in enumerate(self.problem.buffers):
            arguments = [u64(buffers["in"]), i64(self.size.n), i32(1000), i32(1), u32(2 * slot + 1)]
            self.tools.launch("fill_whole", arguments)

    def wrong(self, outputs: list[int]) -> str:
        """How many sums."""
        sizes = [i64(self.size.rows), i64(self.size.columns), i32(self.side)]
        return self.count_wrong("wrong_filter", outputs, sizes)

    def peers(self) -> Iterator[tuple[str, Maker]]:
        """The copy of as many bytes, and PyTorch without TF32."""
        yield "cudaMemcpy", lambda: self.copy("nothing is filtered")
        yield "torch conv2d", self._torch

    def _torch(self) -> Contender:
        torch, outputs, side = self.torch(), self.outputs(), self.side
        module, shape = torch.module, (1, 1, self.size.rows, self.size.columns)
        module.backends.cudnn.allow_tf32 = False
        weights = module.tensor([coefficient(k) for k in range(side * side)], device="cuda")
        weights = weights.reshape(1, 1, side, side)
        images = [torch.tensor(buffers["in"], shape) for buffers in self.problem.buffers]
        results: list[Any] = [None] * self.slots

        def enqueue(slot: int) -> None:
            results[slot] = module.conv2d(images[slot], weights, padding=side // 2)

        def check() -> str:
            for result, out in zip(results, outputs, strict=True):
                torch.tensor(out, shape).copy_(result)
            return self.wrong(outputs)

        made = self.contender("torch conv2d", enqueue, outputs, note="TF32 off; its output is its own memory")
        made.check = check
        return made


class Filter3(Filter7):
    """The same of 3 x 3."""

    key = "filter_3"
    title = "Filter of 3 x 3"
    side = 3
    flops = 18.0


# ---- Softmax and layer norm ------------------------------------------------------------------------------


class Softmax(Work):
    """The softmax of every row of a matrix."""

    key = "softmax"
    title = "Softmax of rows"
    flops = 5.0
    triton_kernel = "softmax"
    torch_name = "torch.softmax"
    weight_names: tuple[str, ...] = ()

    def __init__(self, tools: Tools, size: Size, slots: int) -> None:
        super().__init__(tools, size, slots)
        for buffers in self.problem.buffers:
            buffers.update({name: self.allocate(4 * size.columns) for name in self.weight_names})

    @classmethod
    def sizes(cls, *, quick: bool) -> list[Size]:
        """2^27 elements in rows of 2,048, of 128 and of 16,384."""
        columns = (2048,) if quick else (2048, 128, 16384)
        return [Size(2**27, 2**27 // each, each) for each in columns]

    @classmethod
    def bytes_of(cls, size: Size) -> int:
        """Every element, and a result for each."""
        return (4 if cls.element == "bf16" else 8) * size.n

    @property
    def output_count(self) -> int:
        """A result for each element."""
        return self.size.n

    def fill(self) -> None:
        """Uniform in [0, 1), or bfloat16 in [-1, 1]; gamma and beta in [-1, 1] as a bfloat16 holds them."""
        kernel = "fill_bf16" if self.element == "bf16" else "fill_uniform"
        for slot, buffers in enumerate(self.problem.buffers):
            self.tools.launch(kernel, [u64(buffers["in"]), i64(self.size.n), u32(slot + 1)])
            for i, name in enumerate(self.weight_names):
                arguments = [u64(buffers[name]), i64(self.size.columns), u32(100 * (slot + 1) + i)]
                self.tools.launch("fill_weights", arguments)

    def wrong(self, outputs: list[int]) -> str:
        """How many elements are off by more than the last rounding and that of any sensible order."""
        kernel = f"wrong_{'norms' if self.weight_names else 'softmax'}_{self.element}"
        for buffers, out in zip(self.problem.buffers, outputs, strict=True):
            inputs = [u64(buffers[name]) for name in ("in", *self.weight_names)]
            arguments = [*inputs, u64(out), i64(self.size.rows), i32(self.size.columns)]
            (count,) = struct.unpack("<Q", self.tools.count(kernel, arguments))
            if count:
                return f"{count:,} of {self.output_count:,} are wrong"
        return ""

    def peers(self) -> Iterator[tuple[str, Maker]]:
        """PyTorch, Triton, and the copy of as many bytes, which is what no work on rows is below."""
        yield self.torch_name, self._torch
        yield "Triton", self._triton
        yield "cudaMemcpy", lambda: self.copy("nothing is computed")

    def _tensors(self, outputs: list[int]) -> list[list[Any]]:
        """Input, gamma and beta where there are any, and output of each slot."""
        torch, shape = self.torch(), (self.size.rows, self.size.columns)
        return [
            [
                torch.tensor(buffers["in"], shape, self.element),
                *(torch.tensor(buffers[name], (self.size.columns,)) for name in self.weight_names),
                torch.tensor(out, shape, self.element),
            ]
            for buffers, out in zip(self.problem.buffers, outputs, strict=True)
        ]

    def _torch(self) -> Contender:
        outputs = self.outputs()
        softmax = self.torch().module.softmax
        pairs = self._tensors(outputs)

        def enqueue(slot: int) -> None:
            softmax(pairs[slot][0], dim=1, out=pairs[slot][1])

        return self.contender("torch.softmax", enqueue, outputs)

    def _triton(self) -> Contender:
        """One program a row."""
        if not self.tools.triton:
            raise MissingError(self.tools.missing.get("Triton", "Triton is not installed"))
        triton, outputs, size = self.tools.triton, self.outputs(), self.size
        calls = [
            triton.of_rows(self.triton_kernel, each, size.rows, size.columns)
            for each in self._tensors(outputs)
        ]
        return self.contender("Triton", lambda slot: calls[slot](), outputs)


class SoftmaxBf16(Softmax):
    """The same of bfloat16."""

    key = "softmax_bf16"
    title = "Softmax of rows, bfloat16"
    element = "bf16"


class LayerNorm(Softmax):
    """The layer norm of every row of a matrix."""

    key = "layer_norm"
    title = "Layer norm of rows"
    flops = 8.0
    triton_kernel = "layer_norm"
    torch_name = "torch layer_norm"
    weight_names = ("gamma", "beta")

    def _torch(self) -> Contender:
        """Its weights are of the row's own type. layer_norm has no `out`: its output is its own memory."""
        outputs, columns = self.outputs(), [self.size.columns]
        layer_norm = self.torch().module.nn.functional.layer_norm
        tensors = self._tensors(outputs)
        weights: list[Any] = []
        results: list[Any] = [None] * self.slots

        def enqueue(slot: int) -> None:
            if not weights:  # they are filled by now
                weights.extend([each.to(source.dtype) for each in two] for source, *two, _ in tensors)
            results[slot] = layer_norm(tensors[slot][0], columns, *weights[slot], 1e-5)

        def check() -> str:
            for result, (*_, target) in zip(results, tensors, strict=True):
                target.copy_(result)
            return self.wrong(outputs)

        made = self.contender(self.torch_name, enqueue, outputs, note="its output is its own memory")
        made.check = check
        return made


class LayerNormBf16(LayerNorm):
    """The same of bfloat16; gamma and beta are floats, and PyTorch gets the same numbers as bfloat16."""

    key = "layer_norm_bf16"
    title = "Layer norm of rows, bfloat16"
    element = "bf16"


# ---- Matrix products -------------------------------------------------------------------------------------


class Product(Work):
    """The product of two square matrices of floats."""

    key = "product"
    title = "Matrix product"
    flops = 0.0  # they grow with the size: 2 * columns for each element
    input_names = ("in", "in2")
    most = 45  # of the whole numbers: 8,192 products of two of them add up to less than 2^24

    @classmethod
    def sizes(cls, *, quick: bool) -> list[Size]:
        """4,096 and 8,192."""
        return [Size(side * side, side, side) for side in ((1024,) if quick else (4096, 8192))]

    @classmethod
    def bytes_of(cls, size: Size) -> int:
        """Two matrices in, one out."""
        return 12 * size.n

    @property
    def output_count(self) -> int:
        """As many as an input has."""
        return self.size.n

    def fill(self) -> None:
        """Whole numbers: every sum is exact in any order."""
        for slot, buffers in enumerate(self.problem.buffers):
            for i, at in enumerate(buffers.values()):
                arguments = [u64(at), i64(self.size.n), i32(self.most), i32(1), u32(4 * slot + 2 * i + 1)]
                self.tools.launch("fill_whole", arguments)

    def fill_for_timing(self) -> None:
        """Uniform floats: how much power products take, and so the clock, depends on the numbers."""
        for slot, buffers in enumerate(self.problem.buffers):
            for i, at in enumerate(buffers.values()):
                self.tools.launch("fill_uniform", [u64(at), i64(self.size.n), u32(2 * slot + i + 1)])

    def wrong(self, outputs: list[int]) -> str:
        """How many elements."""
        return self.count_wrong("wrong_product", outputs, [i64(self.size.rows)])

    def peers(self) -> Iterator[tuple[str, Maker]]:
        """PyTorch, which calls cuBLAS, without TF32."""
        yield "cuBLAS", self._torch

    def _torch(self) -> Contender:
        torch, outputs = self.torch(), self.outputs()
        module, shape = torch.module, (self.size.rows, self.size.columns)
        module.backends.cuda.matmul.allow_tf32 = False
        triples = [
            (
                torch.tensor(buffers["in"], shape),
                torch.tensor(buffers["in2"], shape),
                torch.tensor(out, shape),
            )
            for buffers, out in zip(self.problem.buffers, outputs, strict=True)
        ]

        def enqueue(slot: int) -> None:
            a, b, c = triples[slot]
            module.matmul(a, b, out=c)

        return self.contender("cuBLAS", enqueue, outputs, note="SGEMM by torch.matmul, TF32 off")


WORKS: tuple[type[Work], ...] = (
    *(Sum, Rows, Add, AddBf16, Transpose),
    *(Histogram, SkewedHistogram, ConstantHistogram),
    *(Scan, Filter3, Filter7),
    *(Softmax, SoftmaxBf16, LayerNorm, LayerNormBf16),
    Product,
)
