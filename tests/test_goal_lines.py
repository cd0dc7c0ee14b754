"""A missed goal names the lines of kernel.cu in which it is missed: on the page, in the JSON and for editors."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from whole_kernels import kernel_file


def judged(built: Path, name: str, folder: Path) -> tuple[str, dict[str, Any]]:
    """The page, in single spaces, and the missed goals by their measure."""
    result = folder / "result.json"
    command = [
        f"./{name.split('/')[1]}",
        "--device",
        "emulator",
        "--kernel",
        kernel_file(name),
        "--json",
        result,
    ]
    done = subprocess.run(command, cwd=built, capture_output=True, text=True)
    goals = json.loads(result.read_text())["goals"]
    assert all(goal["lines"] == [] for goal in goals if goal["state"] != "missed")
    return " ".join(done.stdout.split()), {
        goal["measure"]: goal for goal in goals if goal["state"] == "missed"
    }


@pytest.mark.parametrize(
    ("name", "measure", "lines", "words"),
    [
        (  # parts of a sum, of which one is left out
            "right/ch03/butterfly",
            "barriers / warps",
            [(22, 8), (24, 8)],
            "By line: 8 in line 22, 8 in line 24, the rest elsewhere.",
        ),
        (
            "wrong/ch04/barrier_to_be_safe",
            "barriers",
            [(19, 42240)],
            "Counted in line 19.",
        ),
        (  # a quotient of two counts: each line alone
            "right/ch12/eight_elements_in_float4",
            "global_st_sectors / global_st_requests",
            [(111, 16), (113, 16)],
            "By line: 16 in line 111, 16 in line 113.",
        ),
        (  # of a count that has to be small for the value to be large
            "wrong/ch07/four_by_index",
            "n / global_ld_requests",
            [(39, 32)],
            "Counted in line 39.",
        ),
        ("wrong/ch06/grid_of_n", "waves", [], ""),  # of the launch, not of a line
        (  # besides those of the input, which the goal takes away
            "right/ch03/tail_with_syncwarp",
            "(global_ld_sectors - n / 8) / blocks",
            [(22, 56), (28, 23), (30, 20)],
            "By line: 56 in line 22, 23 in line 28, 20 in line 30, the rest elsewhere.",
        ),
    ],
    ids=lambda value: value.split("/")[-1] if isinstance(value, str) and value.count("/") == 2 else "",
)
def test_a_missed_goal_names_its_lines(
    nvcc: str,
    built: Path,
    tmp_path: Path,
    name: str,
    measure: str,
    lines: list[tuple[int, float]],
    words: str,
) -> None:
    page, missed = judged(built, name, tmp_path)
    assert [(line["line"], line["value"]) for line in missed[measure]["lines"]] == lines
    assert words in page


def test_editors_open_the_line(nvcc: str, built: Path) -> None:
    kernel = kernel_file("wrong/ch04/barrier_to_be_safe")
    command = ["./ch04", "--device", "emulator", "--kernel", kernel, "--format", "gcc"]
    done = subprocess.run(command, cwd=built, capture_output=True, text=True)
    assert f"{kernel.name}:19:1: warning: SLOW: 42240 barriers: the goal is 0." in done.stdout


@pytest.mark.parametrize(
    ("name", "said", "not_said"),
    [
        (  # each round has a shuffle
            "wrong/ch04/fold_in_each_round",
            ["lanes or warps meet in it, in line", "with 8 loads in flight"],
            ["index and step"],
        ),
        (  # limited by instructions: the PTX's lines are not those of the machine code
            "wrong/ch17/ring_of_sums_by_row",
            ["accesses an array of the thread in local memory: its index follows the loop of line 108"],
            ["Of the instructions, "],
        ),
        (  # of two barriers a level, the one at its end
            "wrong/ch03/two_barriers_a_level",
            ["without the barrier in line 27, all", "cases that were tried pass, with 8 barriers per warp"],
            [],
        ),
        ("right/ch03/butterfly", ["barriers per warp"], ["without the barrier"]),  # both are needed
        (  # nothing is loaded again, and the groups of a thread are neighbours
            "wrong/ch18/groups_side_by_side",
            ["Neighbouring lanes should access neighbouring elements", "with coalesced accesses"],
            ["stays in registers is loaded once"],
        ),
        (  # the bytes that are asked for are within the goal, and the sectors of one line are not
            "wrong/ch18/a_piece_for_each_thread",
            [
                "Neighbouring lanes should access neighbouring elements",
                "neighbouring lanes are 32 bytes apart: 32 lanes of 4 bytes touch 32 sectors.",
            ],
            ["stays in registers is loaded once"],
        ),
        (  # lanes are in order, and the first of them is inside a sector
            "wrong/ch07/head_of_four",
            ["of lanes side by side that begin between two sectors"],
            ["neighbouring lanes are"],
        ),
        (  # lanes are as far apart as rows
            "wrong/ch11/padded_by_two",
            [
                "neighbouring lanes are 34 words apart: the words of 32 lanes are in 16 of 32 banks, up to 2 in",
                "rows of an odd number of words",
            ],
            [],
        ),
        (  # and here they are not
            "wrong/ch11/column_in_two_banks_each",
            ["lanes 0 and 16 access words 512 apart, which are in one bank"],
            ["rows of an odd number of words"],
        ),
        (  # of single words, an even number apart
            "wrong/ch05/a_tree_with_conflicts",
            ["neighbouring lanes are 8 words apart: the words of 32 lanes are in 4 of 32 banks, up to 8 in"],
            [],
        ),
        (
            "wrong/ch06/as_many_blocks_as_an_sm_tracks",
            [
                (
                    "8 blocks of 256 threads fit on an SM, where the places for warps run out first: one wave is "
                    "1,056 blocks, and the launch has 4,096."
                )
            ],
            [],
        ),
        (
            "wrong/ch06/roomy_shared",
            ["where the bytes of shared memory run out first: a block has 32,768 of them."],
            [],
        ),
        (  # no line alone misses the goal, and the loads are wide
            "wrong/ch10/four_single_stores",
            ["a request has 128 bytes in line", "Stores of less than 16 bytes."],
            ["Loads"],
        ),
        (  # two goals are missed: one by much, and the other by little
            "wrong/ch16/tiles_take_turns",
            ["Of one launch: Each block waits for the one before it.", "one launch: if no block had to wait"],
            ["Of three launches:", "three launches: without"],
        ),
        (  # what one thread does alone costs nothing beside the rest
            "right/ch16/cub_scans_the_block",
            ["correct, but a goal is missed"],
            ["One thread does work"],
        ),
    ],
    ids=lambda value: value.split("/")[-1] if isinstance(value, str) else "",
)
def test_a_slow_page_says_what_is_counted(
    nvcc: str, built: Path, tmp_path: Path, name: str, said: list[str], not_said: list[str]
) -> None:
    page, _ = judged(built, name, tmp_path)
    assert [words for words in said if words not in page] == []
    assert [words for words in not_said if words in page] == []
