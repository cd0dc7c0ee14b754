"""c = a + b in Triton: a program adds BLOCK elements, and masks those after the end."""

import triton
import triton.language as tl


@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):  # noqa: N803 - Triton's constants are in capitals
    """Of the n elements, this program's."""
    element = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    is_inside = element < n
    total = tl.load(a + element, mask=is_inside) + tl.load(b + element, mask=is_inside)
    tl.store(c + element, total, mask=is_inside)
