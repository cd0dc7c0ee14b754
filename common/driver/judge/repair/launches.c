// Other launches: more blocks than LAUNCH asks for, or blocks of another size.
#include <stdio.h>

#include "driver/judge/repair/kernel.h"

// Fewest first: with too many, the index of a round that is not needed overflows.
void propose_more_blocks(const Kernel *kernel) {
    static const int shares[] = {100, 12, 1};
    const bool has_rows = kernel->symptoms->has_rows;
    for (size_t s = has_rows ? 2 : 0; s < sizeof shares / sizeof shares[0]; s++) {
        Change *change = changes_add(kernel->changes, CHANGE_MORE_BLOCKS, 0);
        if (!change) return;
        change->launch.share = shares[s];
        if (has_rows)
            say(change, "at least as many blocks as rows");
        else if (shares[s] == 1)
            say(change, "at least as many threads as elements");
        else
            snprintf(change->words, sizeof change->words, "at least one thread for every %d elements",
                     shares[s]);
    }
}

void propose_one_more_block(const Kernel *kernel) {
    Change *change = changes_add(kernel->changes, CHANGE_MORE_BLOCKS, 0);
    if (!change) return;
    change->launch.more_blocks = 1;
    say(change, "one more block in the launch");
}

// A tree or a list of warps may be right for one size only.
void propose_block_sizes(const Kernel *kernel) {
    enum { WARP = 32, LEAST = 64, MOST = 1024 }; // of one warp, a block lacks what several have to do
    const int now = kernel->symptoms->block_threads, sizes[] = {now / 2, 2 * now};
    for (int s = 0; s < 2; s++) {
        if (sizes[s] < LEAST || sizes[s] > MOST || sizes[s] % WARP != 0) continue;
        Change *change = changes_add(kernel->changes, CHANGE_BLOCK_SIZE, 0);
        if (!change) return;
        change->launch.block_threads = sizes[s];
        snprintf(change->words, sizeof change->words, "blocks of %d threads instead of %d", sizes[s], now);
    }
}
