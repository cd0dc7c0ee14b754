"""Whole programs: `./warpbook run`, `check` and the runtime library, on the programs of tests/programs."""

import csv
import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest

from grader.learner.programs.findings import HOST_VERDICTS, KERNEL_VERDICTS

PROGRAMS = Path(__file__).parent / "programs"
_MARK = re.compile(r"// FINDING (\w+): (\w+)")
_CASE = re.compile(r"CASE\((\w+)\)|\{\"(\w+)\",")


@dataclass(frozen=True)
class Checked:
    """What `check` made of a program."""

    status: int
    output: str
    errors: str
    findings: set[tuple[str, int]]  # verdict and line


@pytest.fixture(scope="module")
def compiled(nvcc: str, root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The programs, each compiled once, as `./warpbook run --keep` leaves them."""
    del nvcc
    folder = tmp_path_factory.mktemp("programs")
    programs = {}
    linked = ["-rdc=true"]
    for name, options in {
        "mistakes": [],
        "right": [],
        "waiting": [],
        "launches": linked,
        "conditions": linked,
        "processes": [],
    }.items():
        programs[name] = folder / name
        command = [root / "warpbook", "run", "--keep", folder / name, PROGRAMS / f"{name}.cu", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 2, done.stderr  # the cases are listed
        assert (folder / name).exists(), done.stderr
    return programs


def check(program: Path, case: str, folder: Path, seed: int = 0) -> Checked:
    findings = folder / "findings.json"
    settings = {"WARPBOOK_CHECK": "1", "WARPBOOK_FINDINGS": str(findings), "WARPBOOK_SEED": str(seed)}
    done = subprocess.run(
        [program, case], env=os.environ | settings, capture_output=True, text=True, timeout=60, check=False
    )
    document = json.loads(findings.read_text())
    assert document["schema"] == "warpbook/program-findings/1"
    found = {(finding["verdict"], finding["line"]) for finding in document["findings"]}
    return Checked(done.returncode, done.stdout, done.stderr, found)


def cases(name: str) -> list[str]:
    text = (PROGRAMS / f"{name}.cu").read_text().partition("cases[] = ")[2]
    return ["".join(found) for found in _CASE.findall(text)]


def expected(case: str, name: str = "mistakes") -> set[tuple[str, int]]:
    lines = (PROGRAMS / f"{name}.cu").read_text().splitlines()
    return {
        (verdict, number)
        for number, line in enumerate(lines, 1)
        for name, verdict in _MARK.findall(line)
        if name == case
    }


@pytest.mark.parametrize("case", cases("mistakes"))
def test_mistake_is_found(case: str, compiled: dict[str, Path], tmp_path: Path) -> None:
    assert expected(case)
    checked = check(compiled["mistakes"], case, tmp_path)
    assert checked.findings == expected(case), checked.errors
    assert all(f"mistakes.cu:{line}: {verdict}: " in checked.errors for verdict, line in expected(case))


def test_output_of_repeated_launches(compiled: dict[str, Path], tmp_path: Path) -> None:
    """A kernel that prints is never left out."""
    assert check(compiled["right"], "prints_each_time", tmp_path).output == "thread 0\nthread 1\n" * 3


def test_modelled_times(compiled: dict[str, Path], tmp_path: Path) -> None:
    """Between two events is the launch's time of the model, and that of ten launches is ten times as long."""
    words = check(compiled["right"], "times_add_up", tmp_path).output.split()
    one, ten = float(words[0]), float(words[4])
    assert 0 < one < 1 and ten == pytest.approx(10 * one, rel=0.01)


def test_repeated_sequence_is_left_out(nvcc: str, root: Path) -> None:
    """Of 3,000 operations on 4 MiB, all but the first few lead through states of memory seen before."""
    del nvcc
    command = [root / "warpbook", "check", "repeats.cu"]
    done = subprocess.run(command, cwd=PROGRAMS, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "warpbook: no findings\n")


@pytest.mark.parametrize("seed", range(4))
def test_right_programs_have_no_findings(seed: int, compiled: dict[str, Path], tmp_path: Path) -> None:
    """All cases, one after the other: a case that fails names itself."""
    checked = check(compiled["right"], "all", tmp_path, seed)
    assert (checked.status, checked.findings) == (0, set()), checked.errors
    assert checked.errors == "warpbook: no findings\n"


@pytest.mark.parametrize(
    ("program", "case"),
    [("right", name) for name in ("two_devices", "variables_of_devices", "attributes_of_devices")]
    + [("launches", "child_of_its_device")],
)
def test_two_devices(program: str, case: str, compiled: dict[str, Path], root: Path, tmp_path: Path) -> None:
    done = warpbook(root, "check", "--devices", "2", compiled[program], "--", case, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "warpbook: no findings\n")


def warpbook(root: Path, *words: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [root / "warpbook", *map(str, words)], cwd=folder, capture_output=True, text=True, check=False
    )


def test_vector_addition(nvcc: str, root: Path) -> None:
    """Compiled and run where the command is typed, with what follows `--` for the program."""
    del nvcc
    done = warpbook(root, "run", "vector_add.cu", folder=PROGRAMS)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Test PASSED\n", "")


def test_status_of_check(compiled: dict[str, Path], root: Path, tmp_path: Path) -> None:
    """Findings decide the exit status, unless it is to stay the program's own."""
    program = compiled["mistakes"]
    for options, status in (([], 1), (["--error-exitcode", "9"], 9), (["--error-exitcode", "0"], 0)):
        done = warpbook(root, "check", *options, program, "--", "leak", folder=tmp_path)
        assert done.returncode == status, done.stderr
    assert warpbook(root, "check", compiled["right"], "--", "rows", folder=tmp_path).returncode == 0
    assert warpbook(root, "run", program, "--", "leak", folder=tmp_path).stderr == ""


def test_profile(nvcc: str, root: Path, tmp_path: Path) -> None:
    """Every count of a vector addition is known: 50,000 floats are 6,250 sectors, 1,563 requests of a warp."""
    del nvcc
    for suffix in ("csv", "json"):
        out = tmp_path / f"profile.{suffix}"
        done = warpbook(root, "profile", "--out", out, "vector_add.cu", folder=PROGRAMS)
        assert (done.returncode, done.stdout) == (0, "Test PASSED\n")
        assert "add: 1 launch, the last <<<196x1x1, 256x1x1>>>" in done.stderr
        assert "vector_add.cu:5: 3,126 global ld requests, 12,500 global ld sectors" in " ".join(
            done.stderr.split()
        )
    kernel = json.loads((tmp_path / "profile.json").read_text())["kernels"][0]
    assert kernel["metrics"]["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] == 6250
    assert 1e-6 < kernel["modelled_seconds"] < 1e-5 and kernel["limiter"]
    rows = list(csv.DictReader((tmp_path / "profile.csv").open()))
    found = {row["Metric Name"]: row["Metric Value"] for row in rows if not row["Source"]}
    assert found["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] == "3126"
    assert any(row["Source"] == "vector_add.cu:5" for row in rows)


def test_profile_continues_past_an_access_outside(
    compiled: dict[str, Path], root: Path, tmp_path: Path
) -> None:
    """As on a GPU, whose pages are larger: the store of the 257th thread is told, and counted."""
    out = tmp_path / "profile.json"
    done = warpbook(root, "profile", "--out", out, compiled["mistakes"], "--", "past_end", folder=tmp_path)
    assert "mistakes.cu:11: OOB: " in done.stderr
    (kernel,) = json.loads(out.read_text())["kernels"]
    assert kernel["counters"]["global_st_requests"] == 256 // 32 + 1
    assert kernel["counters"]["global_st_sectors"] == 256 // 8 + 1


def test_places_of_allocations(nvcc: str, root: Path, tmp_path: Path) -> None:
    """In their page of 2 MiB they lie where an H200's driver puts them (tests/hardware_truth/README.md)."""
    del nvcc
    (tmp_path / "places.cu").write_text(
        """#include <cstdio>
        void place(char *p) { printf("%zx ", (size_t)p % (2 << 20)); }
        int main() {
            char *a, *b, *c;
            cudaMalloc(&a, 40000), place(a);
            cudaMalloc(&b, 20000), place(b);
            cudaMalloc(&c, 80000), place(c);
            cudaFree(b);
            cudaMalloc(&b, 98304), place(b);
            cudaFree(a);
            cudaMalloc(&a, 40000), place(a);
            cudaMalloc(&a, 3 << 20), place(a);
        }"""
    )
    done = warpbook(root, "run", "places.cu", folder=tmp_path)
    assert done.stdout.split() == ["0", "9e00", "ee00", "22800", "0", "0"]


def test_wrong_request(root: Path, tmp_path: Path) -> None:
    done = warpbook(root, "run", "missing.cu", folder=tmp_path)
    assert (done.returncode, done.stderr) == (2, "warpbook: missing.cu: no such file\n")
    done = warpbook(root, "run", PROGRAMS / "right.cu", "--seed", "3", folder=tmp_path)
    assert done.returncode == 2 and "write --seed before the program" in done.stderr


@pytest.mark.parametrize("compression", ["none", "default", "speed", "size", "balance"])
def test_compressed_device_code(compression: str, nvcc: str, root: Path, tmp_path: Path) -> None:
    """PTX is found in a program that was compiled elsewhere, however nvcc compressed it."""
    options = ["--compress-mode", compression, "--cudart", "shared", "-arch=sm_90"]
    program = tmp_path / "program"
    subprocess.run([nvcc, *options, "-o", program, PROGRAMS / "vector_add.cu"], check=True)
    done = warpbook(root, "run", program, folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Test PASSED\n", "")


def test_wrapper_for_builds(nvcc: str, root: Path, tmp_path: Path) -> None:
    """Compiled and linked apart, as a Makefile does, for an architecture that is replaced."""
    wrapper = [root / "warpbook-nvcc", "-O2", "-gencode", "arch=compute_80,code=sm_80"]
    environment = os.environ | {"WARPBOOK_NVCC": nvcc}
    for words in (["-c", "-o", "part.o", PROGRAMS / "vector_add.cu"], ["-o", "program", "part.o"]):
        subprocess.run([*wrapper, *words], cwd=tmp_path, env=environment, check=True)
    done = subprocess.run(
        [tmp_path / "program"], env=os.environ | {"WARPBOOK_CHECK": "1"}, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "Test PASSED\n", "warpbook: no findings\n")


def test_missing_function_names_itself(nvcc: str, root: Path, tmp_path: Path) -> None:
    del nvcc
    (tmp_path / "program.cu").write_text(
        "int main() { cudaCtxResetPersistingL2Cache();\n"
        "  cudaLogsCurrent(0, 0); return cudaLogsCurrent(0, 0) != cudaErrorNotSupported; }\n"
    )
    done = warpbook(root, "run", "program.cu", folder=tmp_path)
    words = "warpbook: cudaLogsCurrent is not supported yet, and returns cudaErrorNotSupported\n"
    assert (done.returncode, done.stderr) == (0, words)


# Without a seed, with seeds of plain orders, and with one under which loads return older values.
@pytest.mark.parametrize("seed", [0, 1, 3, 8])
def test_kernels_that_wait_for_others(seed: int, compiled: dict[str, Path], tmp_path: Path) -> None:
    """A kernel that polls memory lets the host, copies and other kernels store there."""
    checked = check(compiled["waiting"], "all", tmp_path, seed)
    assert (checked.status, checked.findings) == (0, set()), checked.errors


def test_kernels_that_wait_without_checks(compiled: dict[str, Path]) -> None:
    done = subprocess.run(
        [compiled["waiting"], "all"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("case", ["never_stored", "one_round_less", "grid_waits_for_ever", "unfenced_data"])
def test_kernel_that_waits_for_ever(case: str, compiled: dict[str, Path], tmp_path: Path) -> None:
    """Nothing can store any more: every thread of the program waits, and so does all work."""
    assert check(compiled["waiting"], case, tmp_path).findings == expected(case, "waiting")


def test_files_linked_on_the_device(nvcc: str, root: Path, tmp_path: Path) -> None:
    """With -rdc=true a kernel uses a function and a variable of another file."""
    del nvcc
    (tmp_path / "kernel.cu").write_text(
        "__device__ int twice(int); extern __device__ int seven;\n"
        "__global__ void set(int *out) { *out = twice(4) + seven; }\n"
        "int main() { int *out, got; cudaMalloc(&out, 4); set<<<1, 1>>>(out);\n"
        "  cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost); cudaFree(out); return got != 15; }\n"
    )
    (tmp_path / "other.cu").write_text(
        "__device__ int seven = 7; __device__ int twice(int x) { return 2 * x; }\n"
    )
    done = warpbook(root, "check", "kernel.cu", "other.cu", "-rdc=true", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "warpbook: no findings\n")


def test_a_kernel_of_another_file_is_launched(nvcc: str, root: Path, tmp_path: Path) -> None:
    """A kernel launches one that another file defines."""
    del nvcc
    (tmp_path / "kernel.cu").write_text(
        "__global__ void set(int *out);\n"
        "__global__ void parent(int *out) { set<<<1, 1>>>(out); }\n"
        "int main() { int *out, got; cudaMalloc(&out, 4); parent<<<1, 1>>>(out);\n"
        "  cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost); cudaFree(out); return got != 15; }\n"
    )
    (tmp_path / "other.cu").write_text("__global__ void set(int *out) { *out = 15; }\n")
    done = warpbook(root, "check", "kernel.cu", "other.cu", "-rdc=true", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "warpbook: no findings\n")


# Kernels that launch kernels, and graphs with nodes that decide.
DEVICE_DECIDES = ("launches", "conditions")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", DEVICE_DECIDES)
def test_device_decides_what_runs(name: str, seed: int, compiled: dict[str, Path], tmp_path: Path) -> None:
    checked = check(compiled[name], "all", tmp_path, seed)
    assert (checked.status, checked.findings) == (0, set()), checked.errors


@pytest.mark.parametrize(
    ("name", "case"),
    [
        (name, case)
        for name in DEVICE_DECIDES
        for case in re.findall(r"FINDING (\w+)", (PROGRAMS / f"{name}.cu").read_text())
    ],
)
def test_mistakes_in_what_a_device_decided(
    name: str, case: str, compiled: dict[str, Path], tmp_path: Path
) -> None:
    checked = check(compiled[name], case, tmp_path)
    assert checked.findings == expected(case, name), checked.errors


@pytest.mark.parametrize("seed", range(2))
def test_two_processes(seed: int, compiled: dict[str, Path], tmp_path: Path) -> None:
    checked = check(compiled["processes"], "all", tmp_path, seed)
    assert (checked.status, checked.findings) == (0, set()), checked.errors
    assert set(checked.errors.splitlines()) == {"warpbook: no findings"}


@pytest.mark.parametrize(
    ("case", "name"),
    [
        ("second_frees", "frees_theirs"),
        ("second_beyond", "beyond_theirs"),
        ("second_closes_not", "closes_not"),
    ],
)
def test_mistakes_of_a_second_process(
    case: str, name: str, compiled: dict[str, Path], tmp_path: Path
) -> None:
    """They are on standard error; the file of findings is the first process's, which ends last."""
    checked = check(compiled["processes"], case, tmp_path)
    (finding,) = expected(name, "processes")
    assert f"processes.cu:{finding[1]}: {finding[0]}: " in checked.errors
    assert not checked.findings


def test_profile_of_kernels_that_launch_kernels(
    compiled: dict[str, Path], root: Path, tmp_path: Path
) -> None:
    """The launches of kernels are counted as those of the host are: 64 of add_to, of 8 integers each."""
    out = tmp_path / "profile.json"
    done = warpbook(root, "profile", "--out", out, compiled["launches"], "--", "children", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    kernels = {kernel["name"]: kernel for kernel in json.loads(out.read_text())["kernels"]}
    assert (kernels["add_to"]["launches"], kernels["each_thread_launches"]["launches"]) == (64, 1)


# ---- For continuous integration


def test_formats_of_findings(compiled: dict[str, Path], root: Path, tmp_path: Path) -> None:
    """SARIF names the file relative to the folder of the command; JUnit has a case for the end and each finding."""
    paths = {name: tmp_path / "out" / f"findings.{name}" for name in ("sarif", "junit", "findings")}
    files = [word for name, path in paths.items() for word in (f"--{name}", path)]
    folder = PROGRAMS.parent
    done = warpbook(root, "check", *files, compiled["mistakes"], "--", "leak_in_loop", folder=folder)
    assert done.returncode == 1
    ((verdict, line),) = expected("leak_in_loop")
    run = json.loads(paths["sarif"].read_text())["runs"][0]
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "programs/mistakes.cu", "uriBaseId": "%SRCROOT%"}
    assert (place["region"]["startLine"], result["level"]) == (line, "warning")
    rules = run["tool"]["driver"]["rules"]
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == verdict
    suite = ElementTree.parse(paths["junit"]).getroot()[0]
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("mistakes", "2", "1")
    assert [len(case) for case in suite] == [0, 1]
    document = json.loads(paths["findings"].read_text())
    assert (document["program"], document["status"]) == ("mistakes", 0)


def test_every_verdict_is_documented() -> None:
    text = (Path(__file__).parent.parent / "docs" / "programs.md").read_text("utf-8")
    text = text.partition("\n## What check reports\n")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `([A-Z_]+)` \| (.+) \|$", text, re.MULTILINE))
    assert rows == HOST_VERDICTS
    listed = next(line for line in text.splitlines() if line.startswith("| `OOB`"))
    assert set(re.findall(r"`([A-Z_]+)`", listed)) == set(KERNEL_VERDICTS)


_PROJECT = """
NVCC ?= nvcc
program: saxpy.cu
	$(NVCC) -O2 -o $@ $<
test: program
	./program
	./program
"""
_SAXPY = """
__global__ void saxpy(float a, const float *x, float *y) { y[threadIdx.x] += a * x[threadIdx.x]; }
int main() {
    float *x, *y;
    cudaMalloc(&x, 128), cudaMalloc(&y, 128);
    cudaMemset(x, 0, 128), cudaMemset(y, 0, 128);
    saxpy<<<1, 33>>>(2, x, y);
    cudaFree(x);
    return 0;
}
"""


def test_workflow(nvcc: str, root: Path, tmp_path: Path) -> None:
    """The commands of docs/ci.md, in a repository with a kernel that has one thread too many."""
    text = (root / "docs" / "ci.md").read_text("utf-8")
    workflow = text.partition("<!-- workflow -->\n```yaml\n")[2].partition("```")[0]
    commands = re.findall(
        r"^      - name: (\w+)\n(?:        if: .*\n)?        run: (.*)$", workflow, re.MULTILINE
    )
    steps = {name: command.strip("'") for name, command in commands}
    assert set(steps) == {"Build", "Test", "Findings"}  # "Set up Warpbook" has three words: done here already
    (tmp_path / "Makefile").write_text(_PROJECT.lstrip())
    (tmp_path / "saxpy.cu").write_text(_SAXPY)
    environment = os.environ | {"WARPBOOK": str(root), "WARPBOOK_NVCC": nvcc}
    checks = re.findall(r"^          (WARPBOOK_\w+): (.*)$", workflow, re.MULTILINE)
    assert len(checks) == 2
    settings = {name: value.replace("${{ github.workspace }}", str(tmp_path)) for name, value in checks}
    statuses = {}
    for name, command in steps.items():
        here = environment | (settings if name == "Test" else {})
        done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=here, capture_output=True, text=True)
        statuses[name] = done.returncode
    assert statuses == {"Build": 0, "Test": 0, "Findings": 1}, done.stderr
    found = {line.partition(": ")[0] + " " + line.split(": ")[1] for line in done.stdout.splitlines()[:-1]}
    assert {"saxpy.cu:2 OOB", "saxpy.cu:5 LEAK"} <= found, done.stdout
    assert done.stdout.endswith("in 2 programs\n")
    results = json.loads((tmp_path / "findings.sarif").read_text())["runs"][0]["results"]
    places = [one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in results]
    assert set(places) == {"saxpy.cu"}
    assert len(ElementTree.parse(tmp_path / "findings.xml").getroot()) == 2


def test_findings_of_something_else(root: Path, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"schema": "other/1"}')
    done = warpbook(root, "findings", "a.json", folder=tmp_path)
    words = "warpbook: a.json: the schema is other/1, not warpbook/program-findings/1\n"
    assert (done.returncode, done.stderr) == (2, words)


def test_findings_before_an_abort(nvcc: str, root: Path, tmp_path: Path) -> None:
    """What was found is reported although the program ends by assert()."""
    del nvcc
    (tmp_path / "program.cu").write_text(
        "#include <cassert>\nint main() {\n  int *p;\n  cudaMalloc(&p, 4);\n  cudaFree(p + 1);\n  assert(!p);\n}\n"
    )
    done = warpbook(root, "check", "--junit", "o.xml", "program.cu", folder=tmp_path)
    assert done.returncode == 1 and "program.cu:5: BAD_FREE: " in done.stderr
    (suite,) = ElementTree.parse(tmp_path / "o.xml").getroot()
    assert suite.get("failures") == "2" and "134" in suite[0][0].get("message", "")


@pytest.mark.parametrize("how", ["check", "wrapper"])
def test_line_of_a_template(how: str, nvcc: str, root: Path, tmp_path: Path) -> None:
    """A function template has lines of its source, although the linker keeps its code in its own section."""
    (tmp_path / "program.cu").write_text(
        "template <typename T> void allocate(T *&p) {\n  cudaMalloc(&p, 4);\n}\n"
        "int main() {\n  int *p;\n  allocate(p);\n}\n"
    )
    if how == "check":
        errors = warpbook(root, "check", "program.cu", folder=tmp_path).stderr
    else:
        wrapper = [root / "warpbook-nvcc", "program.cu", "-o", "program"]
        subprocess.run(wrapper, cwd=tmp_path, env=os.environ | {"WARPBOOK_NVCC": nvcc}, check=True)
        settings = os.environ | {"WARPBOOK_CHECK": "1"}
        errors = subprocess.run(
            [tmp_path / "program"], cwd=tmp_path, env=settings, capture_output=True, text=True, check=False
        ).stderr
    assert "program.cu:2: LEAK: " in errors and "cudafe1" not in errors, errors
