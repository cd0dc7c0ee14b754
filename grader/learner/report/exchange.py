"""How values moved from thread to thread in one block: the reduction tree as it ran, level by level."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from .launches import LANES, Launch, runs

OWN, TAKE, SHUFFLE, BARRIER, OUTPUT = "own", "take", "shuffle", "barrier", "output"
_WORDS = {
    OWN: "reads its own share",
    TAKE: "takes what others wrote",
    SHUFFLE: "shuffle",
    BARRIER: "barrier",
    OUTPUT: "writes a result",
}

Link = tuple[int, int]  # (giver, receiver): threads of the block


@dataclass
class Level:
    """What the warps of a block did in the same way between two barriers."""

    kind: str
    line: int  # in the learner's file; 0 elsewhere
    events: list[int] = field(default_factory=list)  # indices into the launch's events
    active: set[int] = field(default_factory=set)  # threads that executed it
    links: set[Link] = field(default_factory=set)  # those whose values reach a result
    blocks: set[int] = field(default_factory=set)  # other blocks that gave values

    @property
    def does(self) -> str:
        """In words."""
        return _WORDS[self.kind]

    @property
    def takers(self) -> set[int]:
        """Threads that received a value that reaches a result."""
        return {taker for _, taker in self.links}

    def giving(self) -> str:
        """The givers and takers in words; "" if no value was passed."""
        said = []
        if self.links:
            apart = sorted({abs(giver - taker) for giver, taker in self.links})
            far = str(apart[0]) if len(apart) == 1 else f"{apart[0]} to {apart[-1]}"
            givers, takers = sorted({giver for giver, _ in self.links}), sorted(self.takers)
            said.append(f"{short(givers)} give to {short(takers)}, {far} apart")
        if self.blocks:
            said.append(f"from {'block' if len(self.blocks) == 1 else 'blocks'} {short(sorted(self.blocks))}")
        return "; ".join(said)


@dataclass(frozen=True)
class Exchange:
    """One block."""

    launch: Launch
    block: int
    levels: list[Level]
    left_out: int  # levels beyond those
    is_complete: bool  # every warp of it was recorded to its end


def exchanges(launch: Launch, file: str, most_levels: int) -> list[Exchange]:
    """The first block, and the first that took a value from another one; none if no value was passed.

    At most `most_levels` levels of each.
    """
    data = launch.data
    made: list[Exchange] = []
    if not most_levels:
        return made
    for block in dict.fromkeys(warp["block"] for warp in data["warps"]):
        levels = _Block(launch, block, file).levels
        crosses = any(level.blocks for level in levels)
        if not crosses and (made or not any(level.links for level in levels)):
            continue
        warps = [warp for warp in data["warps"] if warp["block"] == block]
        complete = all(warp["complete"] for warp in warps) and len(warps) == (launch.threads + 31) // 32
        left_out = max(0, len(levels) - most_levels)
        made.append(Exchange(launch, block, levels[:most_levels], left_out, complete))
        if crosses:
            break
    return made


class _Block:
    """Sort the events of one block into levels."""

    def __init__(self, launch: Launch, block: int, file: str) -> None:
        self.data = launch.data
        self.block, self.file = block, file
        roles = {buffer["name"]: buffer["role"] for buffer in launch.of_task["buffers"]}
        self.roles = [roles.get(one["name"], "") for one in self.data["objects"]]
        self.mine = [(i, event) for i, event in enumerate(self.data["events"]) if event["block"] == block]
        self.halves = self._halves()
        self.counting = self._counting()
        self.levels: list[Level] = []
        self.level_of: dict[int, Level] = {}
        open_levels: dict[tuple[Any, ...], Level] = {}
        for i, event in self.mine:
            instruction = self.data["instructions"][event["at"]]
            kind = self._kind(event, instruction)
            if i in self.halves:
                self._take(self.level_of[self.halves[i]], i, event)
                continue
            if kind is None:
                continue
            if kind == BARRIER:
                open_levels = {}
            place = (instruction["line"], instruction["column"], event["iteration"])
            key = (kind,) if kind == OWN else (kind, *place)
            if key not in open_levels:
                line = instruction["line"] if instruction["file"] == file else 0
                open_levels[key] = Level(kind, line)
                self.levels.append(open_levels[key])
            self.level_of[i] = open_levels[key]
            self._take(open_levels[key], i, event)

    def _kind(self, event: dict[str, Any], instruction: dict[str, Any]) -> str | None:
        """The role of an event in the tree; None if it has none."""
        kind = instruction["kind"]
        if kind in (BARRIER, SHUFFLE):
            return str(kind)
        if "object" not in event:
            return None
        role = self.roles[event["object"]]
        if kind in ("load", "atom") and self._sources(event):
            return TAKE
        if kind == "load":
            return OWN if role == "input" else None
        return OUTPUT if role == "output" else None

    def _take(self, level: Level, i: int, event: dict[str, Any]) -> None:
        level.events.append(i)
        if level.kind == BARRIER:
            for warp, mask in enumerate(event["masks"]):
                level.active |= _threads(warp, mask)
            return
        level.active |= _threads(event["warp"], event["mask"])
        level.links |= self.counting.get(i, set())
        level.blocks |= {block for block, _, _ in self._sources(event) if block != self.block}

    def _sources(self, event: dict[str, Any]) -> list[tuple[int, int, int]]:
        """(block, giver, taker) for all values that other threads wrote and this event takes."""
        found = []
        for i, mask, shift in event.get("sources", ()):
            giver = self.data["events"][i]
            for lane in LANES:
                if mask >> lane & 1:
                    thread = 32 * giver["warp"] + lane + shift
                    found.append((giver["block"], thread, 32 * event["warp"] + lane))
        return found

    def _counting(self) -> dict[int, set[Link]]:
        """For each event, the lanes whose values reach a store, an atomic or a vote.

        Backwards through the block: a value that a thread stores counts, and so does every value that it took
        before.
        """
        counting: dict[int, set[Link]] = {}
        counts: set[int] = set()
        first_store = self._first_stores()
        for i, event in reversed(self.mine):
            kind = self.data["instructions"][event["at"]]["kind"]
            if kind == "load" and event.get("sources") and first_store.get(event["warp"], i) < i:
                # The warp's earlier values went through memory: only the lanes that stored them still count.
                counts -= _threads(event["warp"], 0xFFFFFFFF)
            if i in self.halves:
                continue
            if kind == SHUFFLE:
                base = 32 * event["warp"]
                links = {
                    (base + giver, base + lane)
                    for lane, giver in enumerate(event["from"])
                    if giver is not None and giver != lane and base + lane in counts
                }
                counts |= {giver for giver, _ in links}
                counting[i] = links
            elif kind in ("store", "atom", "red", "vote", "redux", "match"):
                counts |= _threads(event["warp"], event["mask"])
            if event.get("sources"):
                found = {(a, b) for block, a, b in self._sources(event) if block == self.block and a != b}
                counting[i] = counting.get(i, set()) | found
        return counting

    def _halves(self) -> dict[int, int]:
        """Shuffles that move the second half of a 64-bit number, each with the one that moved the first half."""
        halves: dict[int, int] = {}
        before: dict[int, int] = {}  # the last event of each warp
        for i, event in self.mine:
            if "warp" not in event:
                continue
            j = before.get(event["warp"])
            if j is not None and j not in halves and "from" in event:
                other = self.data["events"][j]
                one, two = (self.data["instructions"][each["at"]] for each in (other, event))
                if other.get("from") == event["from"] and one["line"] == two["line"]:
                    halves[i] = j
            before[event["warp"]] = i
        return halves

    def _first_stores(self) -> dict[int, int]:
        """For each warp that stores, its first event that does."""
        first: dict[int, int] = {}
        for i, event in self.mine:
            if self.data["instructions"][event["at"]]["kind"] == "store":
                first.setdefault(event["warp"], i)
        return first


def _threads(warp: int, mask: int) -> set[int]:
    return {32 * warp + lane for lane in LANES if mask >> lane & 1}


def short(numbers: list[int], most: int = 4) -> str:
    """Numbers in few words, such as "0, 2, 4 ... 254"."""
    steps = {b - a for a, b in pairwise(numbers)}
    if len(numbers) > 3 and len(steps) == 1 and steps != {1}:
        return f"{numbers[0]}, {numbers[1]}, {numbers[2]} ... {numbers[-1]}"
    said = runs(numbers).replace(" to ", "–")
    if said.count(",") < most:
        return said
    return f"{', '.join(said.split(', ')[:most])} ... {numbers[-1]}"
