"""libemulator.so as ctypes sees it: the structures of emulator.h and model.h, and the library's functions.

tests/native/layout_probe.c prints what the C compiler makes of those headers, and a test compares.
"""

from __future__ import annotations

import ctypes as c
import functools
import os

from bench.table import ROOT

# Another build than the workbook's own: with sanitizers, or of a copy of the checkout.
LIBRARY_NAMED = os.environ.get("WARPBOOK_EMULATOR_LIBRARY")
BINS = 32  # MODEL_BINS
COUNTERS = [
    *("instructions", "thread_instructions"),
    *("global_ld_requests", "global_ld_sectors", "global_ld_bytes", "input_ld_requests", "input_ld_sectors"),
    *("global_st_requests", "global_st_sectors", "global_st_bytes"),
    *("global_red_requests", "global_red_sectors", "global_atom_requests", "global_atom_sectors"),
    *("shared_ld", "shared_st", "shared_atom"),
    *("shared_ld_wavefronts", "shared_st_wavefronts", "shared_atom_wavefronts"),
    *("shared_ld_conflicts", "shared_st_conflicts"),
    *("local_ld_requests", "local_ld_sectors", "local_st_requests", "local_st_sectors"),
    *(
        "const_ld",
        "texture_requests",
        "texture_sectors",
        "branches",
        "branch_divergent",
        "issued_branch_divergent",
        "issued_shared_ld",
        "issued_shared_st",
        "issued_shared_atom",
        "barriers",
        "partial_barriers",
    ),
    *("warp_barriers", "shuffles", "votes", "matches", "reductions", "fences"),
    *("atomic_max_lanes", "float_ops", "float_distance"),
]


# ---- model.h ---------------------------------------------------------------------------------------------------
class ModelTime(c.Structure):
    """ModelTime of model.h."""

    _fields_ = [(name, c.c_double) for name in ("cycles", "l2_trips", "dram_trips")]


class ModelWork(c.Structure):
    """ModelWork of model.h."""

    _fields_ = [
        *((name, c.c_double) for name in ("blocks", "warps")),
        *((name, ModelTime) for name in ("block_time", "block_most", "warp_time")),
        *((name, c.c_double) for name in ("regions", "meetings", "meeting_spread")),
        *(
            (name, c.c_double)
            for name in ("issued", "code", "pipe_alu", "pipe_special", "pipe_double", "fused", "lsu")
        ),
        *((name, c.c_double) for name in ("shared_wavefronts", "barriers")),
        *((name, c.c_double) for name in ("load_requests", "load_lines", "load_bytes", "load_sectors")),
        *((name, c.c_double) for name in ("far_loads",)),
        *((name, c.c_double) for name in ("store_requests", "store_lines", "store_sectors")),
        *((name, c.c_double) for name in ("local_loads", "local_stores")),
        *((name, c.c_double) for name in ("first", "again_warp", "again_block", "again_grid")),
        *((name, c.c_double * BINS) for name in ("warp_distance", "block_distance", "grid_distance")),
        *((name, c.c_double) for name in ("first_pairs", "stored_first", "loads_stored")),
        *((name, c.c_double) for name in ("atomic_requests", "atomic_operations", "atomic_sectors")),
        *((name, c.c_double) for name in ("atomic_slice", "atomic_whole", "atomic_floats", "atomic_waits")),
        ("passed_on", c.c_double),
        ("chain", ModelTime),
        ("links", c.c_double),
        ("told_plainly", c.c_double),
        ("collecting", ModelTime),
    ]


# ---- emulator.h ------------------------------------------------------------------------------------------------
class CError(c.Structure):
    """EmulatorError."""

    _fields_ = [
        ("status", c.c_int),
        ("line", c.c_int),
        ("column", c.c_int),
        ("file", c.c_char * 256),
        ("source_line", c.c_int),
        ("message", c.c_char * 2048),
    ]


class CPlace(c.Structure):
    """SourcePlace."""

    _fields_ = [
        ("file", c.c_char * 256),
        ("line", c.c_int),
        ("column", c.c_int),
        ("ptx_line", c.c_int),
        ("call", c.c_int),
    ]


class CFinding(c.Structure):
    """Finding."""

    _fields_ = [
        ("kind", c.c_int),
        ("fatal", c.c_bool),
        ("place", CPlace),
        ("other_place", CPlace),
        ("block", c.c_uint * 3),
        ("thread", c.c_uint * 3),
        ("other_thread", c.c_uint * 3),
        ("other_block", c.c_uint * 3),
        ("warp", c.c_int),
        ("lane", c.c_int),
        ("address", c.c_uint64),
        ("bytes", c.c_uint),
        ("is_store", c.c_bool),
        ("is_atomic", c.c_bool),
        ("object", c.c_char * 128),
        ("index", c.c_int64),
        ("object_bytes", c.c_uint64),
        ("is_endless", c.c_bool),
        ("count", c.c_uint64),
        ("message", c.c_char * 1024),
    ]


class CCounters(c.Structure):
    """Counters."""

    _fields_ = [(name, c.c_uint64) for name in COUNTERS]


class CBankConflict(c.Structure):
    """BankConflict."""

    _fields_ = [
        ("extra", c.c_uint32),
        ("lanes", c.c_uint32),
        ("lane_words", c.c_uint32),
        ("banks", c.c_uint32),
        ("most", c.c_uint32),
        ("pair", c.c_uint32 * 2),
        ("pair_apart", c.c_uint32),
        ("words_apart", c.c_uint32),
    ]


class CScatter(c.Structure):
    """Scatter."""

    _fields_ = [
        ("extra", c.c_uint32),
        ("lanes", c.c_uint32),
        ("lane_bytes", c.c_uint32),
        ("sectors", c.c_uint32),
        ("bytes_apart", c.c_uint64),
        ("between", c.c_uint64),
    ]


class CLine(c.Structure):
    """LineCounters."""

    _fields_ = [
        ("place", CPlace),
        ("counters", CCounters),
        ("conflict", CBankConflict),
        ("scatter", CScatter),
    ]


class CDevice(c.Structure):
    """EmulatorDevice."""

    _fields_ = [
        ("name", c.c_char * 64),
        *((name, c.c_int) for name in ("compute_major", "compute_minor", "sm_count")),
        *((name, c.c_int) for name in ("max_threads_per_block", "max_threads_per_sm", "max_blocks_per_sm")),
        *((name, c.c_int) for name in ("registers_per_sm", "registers_per_block", "registers_per_thread")),
        *((name, c.c_int) for name in ("shared_per_sm", "shared_per_block", "shared_per_block_optin")),
        ("shared_reserved_per_block", c.c_int),
        ("max_grid", c.c_uint32 * 3),
        ("max_block", c.c_uint32 * 3),
        ("clock_khz", c.c_int),
        ("global_bytes", c.c_size_t),
    ]


class CParameter(c.Structure):
    """A parameter of EmulatorKernelInfo."""

    _fields_ = [("offset", c.c_size_t), ("bytes", c.c_size_t), ("align", c.c_size_t)]


class CKernelInfo(c.Structure):
    """EmulatorKernelInfo."""

    _fields_ = [
        ("name", c.c_char * 256),
        ("parameter_count", c.c_int),
        ("parameters", CParameter * 64),
        ("parameter_bytes", c.c_size_t),
        ("static_shared", c.c_size_t),
        ("required_threads", c.c_int * 3),
        ("max_threads", c.c_int * 3),
    ]


class CLaunch(c.Structure):
    """EmulatorLaunch."""

    _fields_ = [
        ("grid", c.c_uint32 * 3),
        ("block", c.c_uint32 * 3),
        ("cluster", c.c_uint32 * 3),
        ("dynamic_shared", c.c_uint32),
        ("arguments", c.c_char_p),
        ("argument_bytes", c.c_size_t),
        ("checks", c.c_uint),
        ("count", c.c_bool),
        ("timing", c.c_bool),
        ("schedule", c.c_uint64),
        ("max_steps", c.c_uint64),
        ("max_output", c.c_size_t),
        ("max_findings", c.c_int),
        ("max_seconds", c.c_double),
        ("trace_bytes", c.c_size_t),
        ("sample", c.c_void_p),
        ("sample_count", c.c_uint64),
        ("footprint", c.c_void_p),
        ("touched", c.c_void_p),
        ("guarded_line", c.c_int),
        ("whole_pages", c.c_bool),
        ("what_if", c.c_uint),
        ("most_resident", c.c_uint32),
        ("pause", c.c_void_p),
        ("pause_self", c.c_void_p),
        ("child", c.c_void_p),
        ("condition", c.c_void_p),
        ("child_self", c.c_void_p),
    ]


class CTexels(c.Structure):
    """EmulatorTexels."""

    _fields_ = [
        ("type", c.c_int),
        ("channels", c.c_int),
        ("width", c.c_uint32),
        ("height", c.c_uint32),
        ("depth", c.c_uint32),
        ("is_layered", c.c_bool),
        ("is_cube", c.c_bool),
    ]


class CTexture(c.Structure):
    """EmulatorTexture."""

    _fields_ = [
        ("texels", CTexels),
        ("address", c.c_uint64),
        ("is_linear", c.c_bool),
        ("pitch", c.c_size_t),
        ("address_mode", c.c_int * 3),
        ("is_filtered", c.c_bool),
        ("has_normalised_coordinates", c.c_bool),
        ("reads_normalised", c.c_bool),
        ("border", c.c_float * 4),
    ]


class CVariable(c.Structure):
    """EmulatorVariable."""

    _fields_ = [
        ("name", c.c_char_p),
        ("address", c.c_uint64),
        ("bytes", c.c_size_t),
        ("is_constant", c.c_bool),
        ("is_managed", c.c_bool),
        ("is_texture", c.c_bool),
    ]


class CText(c.Structure):
    """EmulatorText."""

    _fields_ = [("text", c.c_char_p), ("bytes", c.c_size_t), ("name", c.c_char_p)]


class CResult(c.Structure):
    """EmulatorResult."""

    _fields_ = [
        ("completed", c.c_bool),
        ("finding_count", c.c_int),
        ("findings", c.POINTER(CFinding)),
        ("findings_total", c.c_uint64),
        ("counters", CCounters),
        ("line_count", c.c_int),
        ("lines", c.POINTER(CLine)),
        ("lane_instructions", c.c_uint64),
        ("steps", c.c_uint64),
        ("race_compared", c.c_uint64),
        ("seconds", c.c_double),
        ("output", c.POINTER(c.c_char)),
        ("output_bytes", c.c_size_t),
        ("work", c.POINTER(ModelWork)),
        ("trace", c.c_void_p),
        ("trace_bytes", c.c_size_t),
    ]


# ---- The functions ---------------------------------------------------------------------------------------------
@functools.cache
def library() -> c.CDLL:
    """libemulator.so."""
    lib = c.CDLL(LIBRARY_NAMED or str(ROOT / "build" / "lib" / "libemulator.so"))
    emulator, error = c.c_void_p, c.POINTER(CError)
    for name, result, arguments in [
        ("open", c.c_void_p, [c.POINTER(CDevice)]),
        ("close", None, [emulator]),
        ("allocate", c.c_uint64, [emulator, c.c_size_t, c.c_uint, c.c_char_p, error]),
        ("free", c.c_bool, [emulator, c.c_uint64, error]),
        ("write", c.c_bool, [emulator, c.c_uint64, c.c_char_p, c.c_size_t, error]),
        ("read", c.c_bool, [emulator, c.c_void_p, c.c_uint64, c.c_size_t, error]),
        ("fill", c.c_bool, [emulator, c.c_uint64, c.c_uint32, c.c_size_t, c.c_bool, error]),
        ("set_read_only", c.c_bool, [emulator, c.c_uint64, c.c_bool, error]),
        ("create_array", c.c_uint64, [emulator, c.POINTER(CTexels), c.c_char_p, error]),
        ("create_texture", c.c_uint64, [emulator, c.POINTER(CTexture), error]),
        ("create_surface", c.c_uint64, [emulator, c.POINTER(CTexels), c.c_uint64, error]),
        ("destroy_texture", c.c_bool, [emulator, c.c_uint64, error]),
        ("add_image", c.c_void_p, [emulator, c.POINTER(CText), c.c_int, error]),
        ("remove_image", None, [c.c_void_p]),
        ("find_variable", c.c_bool, [emulator, c.c_void_p, c.c_char_p, c.POINTER(CVariable)]),
        ("set_heap", c.c_bool, [emulator, c.c_size_t, error]),
        ("load", c.c_bool, [emulator, c.c_char_p, c.c_size_t, c.c_char_p, error]),
        ("find_kernel", c.c_void_p, [emulator, c.c_char_p]),
        ("kernel_count", c.c_int, [emulator]),
        ("kernel_at", c.c_void_p, [emulator, c.c_int]),
        ("kernel_info", None, [c.c_void_p, c.POINTER(CKernelInfo)]),
        ("set_registers", None, [c.c_void_p, c.c_int]),
        ("reset_variables", None, [emulator]),
        ("variables_changed", c.c_bool, [emulator, c.c_char_p]),
        ("launch", c.c_bool, [emulator, c.c_void_p, c.POINTER(CLaunch), c.POINTER(CResult), error]),
        ("result_free", None, [c.POINTER(CResult)]),
    ]:
        function = getattr(lib, f"emulator_{name}")
        function.restype, function.argtypes = result, arguments
    return lib
