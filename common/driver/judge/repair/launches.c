// Other launches: more blocks than LAUNCH asks for, or blocks of another size.
#include <stdio.h>
#include <string.h>

#include "driver/judge/repair/kernel.h"
#include "driver/judge/repair/words.h"
#include "driver/plan/elements.h"
#include "support/text.h"

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
    const int blocks = kernel->symptoms->blocks;
    char n[32];
    count_text(kernel->symptoms->n, n, sizeof n);
    if (blocks > 0)
        snprintf(change->words, sizeof change->words,
                 "one more block in the launch (%d instead of %d at n = %s)", blocks + 1, blocks, n);
    else
        say(change, "one more block in the launch");
}

// ---- A launch that is too small by a factor
// -------------------------------------------------------------------------

// Whether a kernel's name is in the line of the PTX that declares it, as it is or with its length before it.
static bool declares(const PtxLine *line, const char *name, size_t length) {
    char text[512], word[160];
    snprintf(text, sizeof text, "%.*s", line->length, line->text);
    const char *entry = strstr(text, ".entry ");
    if (!entry) return false;
    entry += strlen(".entry ");
    if (strncmp(entry, name, length) == 0 && !is_word(entry[length])) return true;
    snprintf(word, sizeof word, "_Z%zu%.*s", length, (int)length, name);
    return starts_with(entry, word);
}

static bool declares_kernel(const Kernel *kernel, const char *name, size_t length) {
    const int function = kernel->lines->lines[kernel->first].function;
    for (int i = 0; i < kernel->first; i++)
        if (kernel->lines->lines[i].function == function && declares(&kernel->lines->lines[i], name, length))
            return true;
    return false;
}

// The only line of the kernel's LAUNCH that says `what`, as "launch->grid"; 0: there is none, or several.
static int line_of_launch(const Kernel *kernel, const char *what) {
    const char *source = kernel->symptoms->source, *at = source;
    while (at && (at = strstr(at, "LAUNCH(")) != NULL) {
        at += strlen("LAUNCH(");
        const size_t length = strcspn(at, ")");
        if (length == 0 || !declares_kernel(kernel, at, length)) continue;
        const char *end = strstr(at, "\n}"), *said = strstr(at, what);
        if (!end || !said || said > end) return 0;
        const char *again = strstr(said + 1, what);
        if (again && again < end) return 0;
        int line = 1;
        for (const char *c = source; c < said; c++) line += *c == '\n';
        return line;
    }
    return 0;
}

static void say_in(Change *change, const char *words, int line) {
    if (line > 0)
        snprintf(change->words, sizeof change->words, "%s in line %d", words, line);
    else
        say(change, words);
    change->source = line;
}

// Block and grid are computed from one number of rows or elements for a block, which one of them has wrong:
// the block is too small for the grid, or there are too few blocks of it.
void propose_larger_launch(const Kernel *kernel) {
    enum { MOST_THREADS = 1024 };
    const int now = kernel->symptoms->block_threads, times = kernel->symptoms->launch_lacks;
    char words[96];
    if (now > 0 && times <= MOST_THREADS / now) {
        Change *change = changes_add(kernel->changes, CHANGE_LARGER_LAUNCH, 0);
        if (!change) return;
        change->launch.block_threads = times * now;
        change->launch.keeps_blocks = true;
        snprintf(words, sizeof words, "blocks of %d threads instead of %d, and as many of them,", times * now,
                 now);
        say_in(change, words, line_of_launch(kernel, "launch->block"));
    }
    Change *change = changes_add(kernel->changes, CHANGE_LARGER_LAUNCH, 0);
    if (!change) return;
    change->launch.times_blocks = times;
    snprintf(words, sizeof words, "%d times as many blocks", times);
    say_in(change, times == 2 ? "twice as many blocks" : words, line_of_launch(kernel, "launch->grid"));
}

// ---- Blocks of another size ------------------------------------------------------------------------------

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
