"""Softmax and layer norm in Triton: a program has one row, of at most BLOCK elements."""

import triton
import triton.language as tl


@triton.jit
def softmax(source, target, columns, BLOCK: tl.constexpr):  # noqa: N803 - Triton's constants are in capitals
    """The shares of this program's row."""
    first = tl.program_id(0).to(tl.int64) * columns
    column = tl.arange(0, BLOCK)
    is_inside = column < columns
    row = tl.load(source + first + column, mask=is_inside, other=-float("inf")).to(tl.float32)
    power = tl.exp(row - tl.max(row, axis=0))
    tl.store(target + first + column, power / tl.sum(power, axis=0), mask=is_inside)


@triton.jit
def layer_norm(source, gamma, beta, target, columns, BLOCK: tl.constexpr):  # noqa: N803
    """Of this program's row: mean 0 and variance 1, times gamma and plus beta."""
    first = tl.program_id(0).to(tl.int64) * columns
    column = tl.arange(0, BLOCK)
    is_inside = column < columns
    row = tl.load(source + first + column, mask=is_inside, other=0.0).to(tl.float32)
    deviation = tl.where(is_inside, row - tl.sum(row, axis=0) / columns, 0.0)
    scale = tl.rsqrt(tl.sum(deviation * deviation, axis=0) / columns + 1e-5)
    factor = tl.load(gamma + column, mask=is_inside)
    offset = tl.load(beta + column, mask=is_inside)
    tl.store(target + first + column, deviation * scale * factor + offset, mask=is_inside)
