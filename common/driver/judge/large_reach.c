#include "driver/judge/large_reach.h"

#include <stdio.h>
#include <string.h>

#include "support/text.h"
#include "driver/plan/elements.h"
#include "driver/plan/large.h"

enum { MUCH = 1 << 16 }; // elements of a block that goes through the whole array, or has a part of it

bool large_say_wrong(CaseReport *report, CheckOutcome outcome, const char *buffer, long long index) {
    report->verdict = VERDICT_WRONG;
    report->has_check = true;
    report->check.outcome = outcome;
    report->check.index = index;
    report->check.wrong = 1;
    snprintf(report->check.buffer, sizeof report->check.buffer, "%s", buffer);
    return true;
}

static bool say_left_out(CaseReport *report, const char *buffer, uint64_t all, uint64_t missing) {
    large_say_wrong(report, CHECK_LEFT_OUT, buffer, -1);
    report->check.elements = (long long)all;
    report->check.wrong = (long long)missing;
    return true;
}

int large_watched_buffer(const Task *task, const CaseSize *size, bool *is_load) {
    if (size->rows || size->columns) return -1;
    *is_load = task->expect == EXPECT_SUM || task->expect == EXPECT_HISTOGRAM;
    const bool is_by_element =
        task->expect == EXPECT_ELEMENTWISE || (task->expect == EXPECT_REFERENCE && task->is_by_element);
    if (!*is_load && !is_by_element) return -1;
    const int b = *is_load ? task_input(task) : task_output(task);
    return b >= 0 && task->buffers[b].count.kind == QUANTITY_N ? b : -1;
}

bool large_starts_again(const Task *task, const CaseShape *shape, const SampleReply *sample,
                        CaseReport *report) {
    static const long long end = 1LL << 32;
    const ShapeOfLaunch *launch = &shape->launches[0];
    const long long n = shape->size.n, reached = (long long)sample->highest_watched;
    bool is_load;
    const int b = large_watched_buffer(task, &shape->size, &is_load);
    if (b < 0 || !is_load || sample->has_polled || n <= end || reached >= end ||
        end - reached > large_round((uint64_t)launch->blocks, (uint64_t)launch->block_threads, n))
        return false;
    char first[32];
    large_say_wrong(report, CHECK_LEFT_OUT, task->buffers[b].name, -1);
    count_text(end, first, sizeof first);
    snprintf(report->check.what, sizeof report->check.what,
             "elements of %s from %s on are left out: a block that has come there continues at lower ones",
             task->buffers[b].name, first);
    return true;
}

// What is short by less than this says nothing: a block may have one element less than another, and tiles.
static uint64_t slack_of(uint64_t all) { return all / 64; }

// Whether all blocks together reach too few of the elements of buffer `b`.
static bool reaches_too_few(const Task *task, const LargeCase *large, const SampleReply *sample, int launches,
                            int b, bool is_read, CaseReport *report) {
    uint64_t reached = 0, most = 0, sampled = 0, blocks = 0;
    for (int l = 0; l < launches; l++) {
        const FootprintCount *count = &sample->most[l][b];
        const uint64_t here = is_read ? count->read : count->written;
        reached += here * large->blocks[l];
        if (here < most || (here == 0 && l > 0)) continue;
        most = here;
        sampled = large->sampled[l];
        blocks = large->blocks[l];
    }
    const uint64_t all = (uint64_t)large->layout.counts[b];
    if (reached >= all - slack_of(all)) return false;
    if (!is_read && (most == 0 || all < blocks))
        return false; // another block may write what this one does not
    char numbers[4][32];
    const long long values[] = {(long long)most, (long long)blocks, (long long)(most * blocks),
                                (long long)all};
    for (int i = 0; i < 4; i++) count_text(values[i], numbers[i], sizeof numbers[i]);
    const char *does = is_read ? "reads" : "writes", *name = task->buffers[b].name;
    say_left_out(report, name, all, all - reached);
    snprintf(
        report->check.what, sizeof report->check.what,
        "elements of %s are left out: each of the %llu blocks that were run %s at most %s of them; if the "
        "others reach as many, %s blocks reach %s of %s",
        name, (unsigned long long)sampled, does, numbers[0], numbers[1], numbers[2], numbers[3]);
    return true;
}

static bool say_too_little(const Task *task, const LargeCase *large, const SampleReply *sample, int launch,
                           int b, bool is_read, CaseReport *report) {
    const FootprintCount *most = &sample->most[launch][b], *each = &sample->all[launch][b];
    const uint64_t share = is_read ? most->read : most->written, done = is_read ? each->read : each->written;
    const uint64_t ended = sample->ended[launch];
    char numbers[3][32];
    const long long values[] = {(long long)done, (long long)(ended * share), (long long)share};
    for (int i = 0; i < 3; i++) count_text(values[i], numbers[i], sizeof numbers[i]);
    say_left_out(report, task->buffers[b].name, (uint64_t)large->layout.counts[b],
                 (ended * share - done) * (large->blocks[launch] / ended));
    snprintf(
        report->check.what, sizeof report->check.what,
        "elements of %s are left out: of %s that the %llu blocks that were run should %s at %s each, they "
        "%s %s",
        task->buffers[b].name, numbers[1], (unsigned long long)ended, is_read ? "read" : "write", numbers[2],
        is_read ? "read" : "write", numbers[0]);
    return true;
}

// Whether the busiest block does no more than an equal share, and others do less: nobody makes up for them.
// Elements that two blocks reach count once. If every block did as much as the busiest, all of them would
// reach `spare` elements too many: long shares that lack more than that leave elements out. Of short ones, a
// partial tile is a large part: among the blocks that run are the first and the last, so what three blocks
// lack says nothing.
static bool shares_too_little(const Task *task, const LargeCase *large, const SampleReply *sample, int launch,
                              int b, bool is_read, CaseReport *report) {
    const FootprintCount *most = &sample->most[launch][b], *each = &sample->all[launch][b];
    const uint64_t share = is_read ? most->read : most->written, done = is_read ? each->read : each->written;
    const uint64_t all = (uint64_t)large->layout.counts[b], ended = sample->ended[launch];
    const uint64_t few = ended / 6 > 3 ? ended / 6 : 3, every = share * large->blocks[launch];
    if (ended == large->blocks[launch] || every > all + slack_of(all)) return false;
    const uint64_t spare = every > all ? every - all : 0;
    const bool is_long = share > MUCH && every >= all && ended * share > done + spare + share / 4;
    if (!is_long && (sample->waits || ended <= few || done >= (ended - few) * share)) return false;
    return say_too_little(task, large, sample, launch, b, is_read, report);
}

// Whether the elements end just before a number of elements or bytes that needs 32 bits or more.
static bool ends_where_numbers_wrap(uint64_t highest, uint64_t all, size_t bytes) {
    for (uint64_t wrap = (1ull << 31) / bytes; wrap <= 1ull << 32; wrap *= 2)
        if (highest < wrap && wrap < all && wrap - highest <= slack_of(all) / 8) return true;
    return false;
}

// Whether no block writes elements at the end, and either they write others twice, or blocks with much to do
// all end where numbers wrap. Of few elements a block, other blocks may write those at the end.
static bool stops_before_the_end(const Task *task, const LargeCase *large, const SampleReply *sample,
                                 CaseReport *report) {
    const int b = task_output(task);
    const uint64_t all = (uint64_t)large->layout.counts[b];
    uint64_t most = 0, reached = 0;
    for (int l = 0; l < large->layout.launch_count; l++) {
        if (sample->most[l][b].written > most) most = sample->most[l][b].written;
        reached += sample->most[l][b].written * large->blocks[l];
    }
    const bool wraps =
        most > MUCH && ends_where_numbers_wrap(sample->highest, all, element_bytes(task->buffers[b].type));
    if (sample->highest >= all - slack_of(all) || reached > all + slack_of(all) ||
        (sample->rewritten <= slack_of(most) && !wraps))
        return false;
    char numbers[3][32];
    const long long values[] = {(long long)sample->highest, (long long)all, (long long)sample->rewritten};
    for (int i = 0; i < 3; i++) count_text(values[i], numbers[i], sizeof numbers[i]);
    say_left_out(report, task->buffers[b].name, all, all - 1 - sample->highest);
    snprintf(report->check.what, sizeof report->check.what,
             "elements of %s are left out: the blocks that were run write none after element %s of %s%s%s%s",
             task->buffers[b].name, numbers[0], numbers[1], sample->rewritten ? ", and " : "",
             sample->rewritten ? numbers[2] : "", sample->rewritten ? " of those before it twice" : "");
    return true;
}

bool large_leaves_out(const Task *task, const LargeCase *large, const SampleReply *sample, int b,
                      bool is_read, CaseReport *report) {
    const int launches = large->layout.launch_count;
    if (reaches_too_few(task, large, sample, launches, b, is_read, report)) return true;
    for (int l = 0; l < launches; l++)
        if (shares_too_little(task, large, sample, l, b, is_read, report)) return true;
    return !is_read && stops_before_the_end(task, large, sample, report);
}

bool large_passes_too_few(const Task *task, const LargeCase *large, const SampleReply *sample,
                          CaseReport *report) {
    for (int l = 0; l < large->layout.launch_count; l++) {
        const Launch *launch = &task->launches[large->layout.launch_index[l]];
        if (launch->n.kind != QUANTITY_ELEMENTS_OF || large->sampled[l] < large->blocks[l]) continue;
        const int b = task_find_buffer(task, launch->n.of);
        const uint64_t all = (uint64_t)large->layout.counts[b], read = sample->all[l][b].read;
        if (read >= all - slack_of(all)) continue;
        char numbers[2][32];
        count_text((long long)read, numbers[0], sizeof numbers[0]);
        count_text((long long)all, numbers[1], sizeof numbers[1]);
        say_left_out(report, task->buffers[b].name, all, all - read);
        snprintf(report->check.what, sizeof report->check.what,
                 "elements of %s are left out: %s reads %s of %s", task->buffers[b].name, launch->kernel,
                 numbers[0], numbers[1]);
        return true;
    }
    return false;
}
