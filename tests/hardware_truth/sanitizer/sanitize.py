#!/usr/bin/env python3
"""Runs the four tools of compute-sanitizer over prepared cases, on a machine with a GPU.

    python3 sanitize.py CASES.zip RESULT.json [--seconds 420] [--jobs 16] [--only REGEX]

needs compute-sanitizer, ptxas and a GPU, and nothing beyond Python's own library. CASES.zip comes from
record_sanitizer.py: cases.json, the PTX of the kernels and the content of the buffers. Every kernel gets its case's
number as a suffix of its name, so that the messages of the tools name their case and many cases share a process. A case
that ends its process, by a fault or after LIMIT seconds, is noted, and the rest continues in a new process.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOOLS = {
    "memcheck": ["--padding", "65536", "--destroy-on-device-error", "kernel"],
    "racecheck": ["--racecheck-report", "analysis"],
    "initcheck": [],
    "synccheck": [],
}
COMMON = ["--print-limit", "100000", "--show-backtrace", "device", "--report-api-errors", "no"]
CHUNK = 16  # cases for one process
LIMIT = 12  # seconds for one case
NOTABLE = r"Invalid |Race |Error: Race|Warning: Race|Uninitialized |Barrier error|Stack overflow|Warp assert|Illegal"


# ---- The process under a tool: launches ------------------------------------------------------------------


class DriverError(Exception):
    """A call of the driver failed: its name and its status."""


def call(cuda: ctypes.CDLL, function: str, *arguments: object) -> None:
    status = getattr(cuda, function)(*arguments)
    if status:
        raise DriverError(f"{function} {status}")


def pointer_to(value: ctypes._SimpleCData) -> object:
    return ctypes.byref(value)


def fill(cuda: ctypes.CDLL, folder: Path, buffer: dict, address: int) -> None:
    """Memory that holds nothing defined stays as it was allocated, for initcheck."""
    if buffer["fill"] == "data" and buffer["bytes"]:
        content = (folder / "data" / buffer["data"]).read_bytes()
        call(cuda, "cuMemcpyHtoD_v2", ctypes.c_uint64(address), content, ctypes.c_size_t(len(content)))
    if buffer["fill"] == "zero" and buffer["bytes"]:
        call(
            cuda,
            "cuMemsetD8_v2",
            ctypes.c_uint64(address),
            ctypes.c_ubyte(0),
            ctypes.c_size_t(buffer["bytes"]),
        )


def launch(cuda: ctypes.CDLL, module: ctypes.c_void_p, case: dict, one: dict, addresses: list[int]) -> None:
    function = ctypes.c_void_p()
    call(
        cuda, "cuModuleGetFunction", pointer_to(function), module, f"{one['symbol']}__k{case['id']}".encode()
    )
    if one["shared"]:  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        call(cuda, "cuFuncSetAttribute", function, 8, one["shared"])
    values = [
        (ctypes.c_uint64 if size == 8 else ctypes.c_uint32)(addresses[buffer] if buffer >= 0 else int(bits))
        for buffer, size, bits in one["arguments"]
    ]
    arguments = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
    shape = (*one["grid"], *one["block"], one["shared"])
    call(cuda, "cuLaunchKernel", function, *shape, None, arguments, None)


def run_case(cuda: ctypes.CDLL, folder: Path, case: dict) -> None:
    module = ctypes.c_void_p()
    call(cuda, "cuModuleLoadData", pointer_to(module), (folder / f"{case['id']}.cubin").read_bytes())
    bases, addresses = [], []  # a variable of the module has no base
    for buffer in case["buffers"]:
        base = ctypes.c_uint64()
        if buffer["constant"]:
            bytes_ = ctypes.c_size_t()
            name = buffer["name"].encode()
            call(cuda, "cuModuleGetGlobal_v2", pointer_to(base), pointer_to(bytes_), module, name)
            bases.append(None)
            addresses.append(base.value)
            fill(cuda, folder, buffer, base.value)
            continue
        bytes_ = max(buffer["misalignment"] + buffer["bytes"], 1)
        call(cuda, "cuMemAlloc_v2", pointer_to(base), ctypes.c_size_t(bytes_))
        bases.append(base)
        addresses.append(base.value + buffer["misalignment"])
        fill(cuda, folder, buffer, addresses[-1])
    # The address of a buffer without elements is that of memory that is not allocated any more.
    for base, buffer in zip(bases, case["buffers"], strict=True):
        if base and not buffer["bytes"]:
            call(cuda, "cuMemFree_v2", base)
    for one in case["launches"]:
        launch(cuda, module, case, one, addresses)
        call(cuda, "cuCtxSynchronize")
    for base, buffer in zip(bases, case["buffers"], strict=True):
        if base and buffer["bytes"]:
            call(cuda, "cuMemFree_v2", base)
    call(cuda, "cuModuleUnload", module)


def serve(folder: Path, ids: list[int]) -> int:
    """Runs these cases in order; writes a line before and after each."""
    cases = {case["id"]: case for case in json.loads((folder / "cases.json").read_text())}
    own = "/usr/local/nvidia/lib64/libcuda.so.1"
    cuda = ctypes.CDLL(own if Path(own).exists() else "libcuda.so.1")
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call(cuda, "cuInit", 0)
    call(cuda, "cuDeviceGet", pointer_to(device), 0)
    call(cuda, "cuDevicePrimaryCtxRetain", pointer_to(context), device)
    call(cuda, "cuCtxSetCurrent", context)
    for number in ids:
        os.write(1, f"@begin {number}\n".encode())
        signal.alarm(LIMIT)  # ends the process, also within a call of the driver
        try:
            run_case(cuda, folder, cases[number])
        except DriverError as fault:
            os.write(1, f"@fault {number} {fault}\n".encode())
            os._exit(0)
        signal.alarm(0)
        os.write(1, f"@end {number}\n".encode())
    return 0


# ---- What a tool says ------------------------------------------------------------------------------------


def messages(log: str) -> list[list[str]]:
    """The messages of a log, each as its lines without the marks."""
    found: list[list[str]] = []
    for line in log.splitlines():
        match = re.match(r"=========( *)(.*)", line)
        if not match:
            continue
        if len(match[1]) > 1 and found:
            found[-1].append(match[2])
        elif match[2]:
            found.append([match[2]])
    return found


def attribute(log: str) -> dict[int, dict[str, list]]:
    """{case: {message without addresses, threads and kernels: [how often, the first in full]}}.

    A message belongs to the kernel that it names. In code that was inlined it names a function of the source: it then
    belongs to the case that began last.
    """
    told: dict[int, dict[str, list]] = {}
    for part in re.split(r"^@begin ", log, flags=re.MULTILINE)[1:]:
        began = int(part.split()[0])
        for message in messages(part):
            if not re.match(NOTABLE, message[0]):
                continue
            number = re.search(r"__k(\d+)\b", " ".join(message))
            kind = re.sub(r"\d+", "N", message[0]) if "Race" in message[0] else message[0]
            kind = re.sub(r" access at .*", " access", kind)
            kind += "".join(
                f" | {words}" for words in ("misaligned", "out of bounds") if words in " ".join(message)
            )
            case = told.setdefault(int(number[1]) if number else began, {})
            case.setdefault(kind, [0, " | ".join(message)[:600]])[0] += 1
    return told


# ---- The whole -------------------------------------------------------------------------------------------


def tool(name: str) -> str:
    for found in (shutil.which(name), *sorted(Path("/usr/local").glob(f"cuda*/bin/{name}"))):
        if found:
            return str(found)
    sys.exit(f"sanitize: no {name} on PATH or in /usr/local/cuda/bin")


def assemble(folder: Path, case: dict) -> None:
    """The cubin of a case, whose kernels end in __kNUMBER."""
    text = (folder / "ptx" / case["ptx"]).read_text(errors="surrogateescape")
    names = set(re.findall(r"\.entry\s+([\w$.]+)", text))
    text = re.sub(r"[\w$.]+", lambda word: f"{word[0]}__k{case['id']}" if word[0] in names else word[0], text)
    source = folder / f"{case['id']}.ptx"
    source.write_text(text, errors="surrogateescape")
    done = subprocess.run(
        [tool("ptxas"), "-arch=sm_90", "-lineinfo", str(source), "-o", str(folder / f"{case['id']}.cubin")],
        capture_output=True,
        text=True,
    )
    case["built"] = "" if done.returncode == 0 else (done.stdout + done.stderr)[:300]


def sanitize(folder: Path, which: str, ids: list[int], until: float, raw: list[str]) -> dict[int, dict]:
    """{case: {"status", "messages"}} of one tool over these cases."""
    results: dict[int, dict] = {}
    left = list(ids)
    while left and time.monotonic() < until:
        command = [tool("compute-sanitizer"), "--tool", which, *COMMON, *TOOLS[which]]
        command += [sys.executable, str(Path(__file__).resolve()), "--serve", str(folder), *map(str, left)]
        with tempfile.TemporaryFile("w+", errors="replace") as out:
            # A separate process group, which is ended as a whole once nothing happens any more.
            process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
            size, since = 0, time.monotonic()
            while process.poll() is None:
                time.sleep(0.1)
                now = os.fstat(out.fileno()).st_size
                if now != size:
                    size, since = now, time.monotonic()
                if time.monotonic() - since > LIMIT + 30:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            out.seek(0)
            log = out.read()
        raw.append(f"#### {which} {left}\n{log[:6000]}\n...\n{log[-2000:]}")
        told = attribute(log)
        began = [int(number) for number in re.findall(r"@begin (\d+)", log)]
        ended = {int(number) for number in re.findall(r"@end (\d+)", log)}
        faults = {int(number): words for number, words in re.findall(r"@fault (\d+) (.*)", log)}
        if not began:  # the tool itself failed
            return results | {left[0]: {"status": "failed: " + log[-300:], "messages": {}}}
        # What fails before anything is launched was broken by the case before: it runs in another process.
        if len(began) > 1 and not faults.get(began[-1], "Launch").startswith(
            ("cuLaunch", "cuCtxSync", "Launch")
        ):
            began.pop()
        for number in began:
            status = "done" if number in ended else faults.get(number, "ended")
            results[number] = {"status": status, "messages": told.get(number, {})}
        left = [number for number in left if number not in began]
    return results


def main() -> int:
    if sys.argv[1] == "--serve":
        return serve(Path(sys.argv[2]), [int(number) for number in sys.argv[3:]])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", type=Path)
    parser.add_argument("result", type=Path)
    parser.add_argument("--seconds", type=float, default=420, help="start nothing after that")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="", help="kernels whose name this expression finds")
    parser.add_argument("--raw", type=Path, help="what the tools printed")
    options = parser.parse_args()
    until = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        zipfile.ZipFile(options.cases).extractall(folder)
        cases = json.loads((folder / "cases.json").read_text())
        cases = [case for case in cases if re.search(options.only, case["kernel"])]
        with ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(lambda case: assemble(folder, case), cases))
            ready = [case["id"] for case in cases if not case["built"]]
            print(f"{len(ready)} of {len(cases)} cases assembled", flush=True)
            # Neighbours take turns: those of one chapter are alike, and long ones are spread.
            parts = max(1, (len(ready) + CHUNK - 1) // CHUNK)
            work = [(which, ready[part::parts]) for which in TOOLS for part in range(parts)]
            raw: list[str] = []
            done = list(pool.map(lambda item: sanitize(folder, *item, until, raw), work))
        for case in cases:
            case["tools"] = {}
        by_number = {case["id"]: case for case in cases}
        for (which, _), results in zip(work, done, strict=True):
            for number, result in results.items():
                by_number[number]["tools"][which] = result
    version = subprocess.run([tool("compute-sanitizer"), "--version"], capture_output=True, text=True).stdout
    kept = [{key: case[key] for key in ("id", "kernel", "built", "tools")} for case in cases]
    options.result.write_text(json.dumps({"version": version, "cases": kept}, indent=0))
    if options.raw:
        options.raw.write_text("\n".join(raw))
    ended = Counter(result["status"] for case in cases for result in case["tools"].values())
    print(ended.most_common(12), f"{len(cases) * len(TOOLS) - ended.total()} not run")
    return 0


if __name__ == "__main__":
    sys.exit(main())
