// Finding a clang that compiles CUDA to PTX without any of NVIDIA's files.
#pragma once

#include "driver/build/toolchain.h"

// WARPBOOK_CLANG, else the ziglang package in .venv or $VIRTUAL_ENV, else `clang` on PATH if it has the NVPTX
// target and is new enough for common/include/clang, else ziglang where `python3` keeps its packages. Fills
// path, version and identity. False when there is none, with what to do in `why`.
bool find_clang(Toolchain *toolchain, const char *include_directory, char *why, size_t why_bytes);
