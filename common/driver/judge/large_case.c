#include "driver/judge/large_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/large_reach.h"
#include "driver/plan/elements.h"
#include "driver/plan/expected.h"
#include "driver/plan/expected_rows.h"
#include "driver/plan/large.h"
#include "driver/plan/product.h"
#include "driver/plan/timed_size.h"

// An input repeats after so many elements, a prime, so that an index that is wrong by a power of two finds
// other values.
static const uint64_t period_elements = 65521;

enum {
    WRITTEN_MOST = 1 << 16, // elements of the output that are compared
    SUM_TERMS = 1 << 20,    // inputs that are added are whole numbers of which that many have an exact sum
    OTHER_TERMS = 16,
    STREAM_INPUTS = 303,
    STREAM_BLOCK = 304,
    SAMPLE_WORK = 1 << 21,  // elements of all sampled blocks together, where a few have no more
    SAMPLE_LIMIT = 5 << 22, // elements of a sampled block, on average: beyond it takes seconds
    TAKE_OVER = 8,          // times its share, after which a block has taken over the work of others
    SMALL_SHARE = 1 << 16,  // elements that any block may read
};

size_t large_case_arena_bytes(const Task *task) {
    size_t bytes = WRITTEN_MOST * sizeof(WrittenElement);
    for (int b = 0; b < task_buffer_count(task); b++)
        if (task->buffers[b].role == INPUT)
            bytes += period_elements * element_bytes(task->buffers[b].type) + EMULATOR_OVERLAP + 256;
    return bytes;
}

void large_case_free(LargeCase *large) {
    for (int b = 0; b < MAX_BUFFERS; b++) free(large->content[b]);
    free(large->row);
    memset(large, 0, sizeof *large);
}

// ---- Asking ----------------------------------------------------------------------------------------------

static bool say_nothing(CaseReport *report, const char *words) {
    report->was_run = true;
    report->is_inconclusive = true;
    report->verdict = VERDICT_PASS;
    snprintf(report->words, sizeof report->words, "%s", words);
    return false;
}

// The most elements that a launch has to read or write of one buffer.
static long long work_of(const Task *task, const Launch *launch, const CaseLayout *layout) {
    long long most = 0;
    for (int a = 0; a < MAX_ARGUMENTS; a++) {
        if (!launch->arguments[a].buffer) continue;
        const int b = task_find_buffer(task, launch->arguments[a].buffer);
        if (layout->counts[b] > most) most = layout->counts[b];
    }
    return most;
}

// The fewest blocks that tell something: of those that exchange values, one may wait for all others.
static uint64_t fewest_blocks(const Task *task) { return task_has_workspace(task) ? 3 : 2; }

// Whether bandwidth is modelled for that size.
static bool is_modelled_size(const Task *task, const CaseShape *shape) {
    return shape->size.n == timed_size(task, 0).n;
}

// Which blocks of a launch run. False: too much to do.
static bool fill_sample(const Task *task, const CaseShape *shape, const CaseLayout *layout, int index,
                        uint64_t seed, RunLaunch *out) {
    const Buffer *in = &task->buffers[task_input(task) < 0 ? 0 : task_input(task)];
    const uint64_t blocks = (uint64_t)shape->launches[index].blocks;
    const uint64_t work = (uint64_t)work_of(task, &task->launches[index], layout);
    // At the modelled size, too few rounds are what there is to find: any block shows them.
    const bool is_timed = is_modelled_size(task, shape);
    // Rows are computed whole on the host, which takes longer than to run them.
    const uint64_t bearable_work = is_timed                         ? SAMPLE_WORK / 16
                                   : task->expect == EXPECT_ROWS    ? SAMPLE_WORK / 8
                                   : task->expect == EXPECT_PRODUCT ? SAMPLE_WORK / 16 // many operations each
                                                                    : SAMPLE_WORK;
    const uint64_t share = work / blocks + 1, wanted = bearable_work / share;
    // Of sums only repetitions show that a block reads elements of another: run those that it may be.
    const int least = is_timed || task->expect != EXPECT_SUM ? 2 : 6;
    int most = wanted < (uint64_t)least ? least : wanted < MAX_SAMPLE ? (int)wanted : MAX_SAMPLE;
    const uint64_t fewest = fewest_blocks(task), limit = fewest * SAMPLE_LIMIT, bearable = limit / share;
    if ((uint64_t)most > bearable) most = (int)(bearable < fewest ? fewest : bearable);
    out->sample_count = 0;
    out->most_read = UINT64_MAX;
    if (blocks > (uint64_t)most) {
        out->sample_count =
            (uint64_t)large_sample(blocks, (uint64_t)shape->launches[index].block_threads, (long long)work,
                                   element_bytes(in->type), most, seed, out->sample);
        // Of two blocks, the first one is like most others. The one that runs in its place is drawn.
        if (is_timed && out->sample_count == 2)
            out->sample[0] = random_bits(seed, STREAM_BLOCK, 0) % (blocks - 1);
        out->most_read = TAKE_OVER * share + SMALL_SHARE;
    }
    const uint64_t run = out->sample_count ? out->sample_count : blocks;
    const uint64_t elements = run * share;
    out->max_steps = case_step_limit((long long)(elements > limit ? limit : elements),
                                     (long long)run * shape->launches[index].block_threads);
    return elements <= limit;
}

// How many terms the values of an input are made for.
static long long terms_of(const Task *task, const CaseShape *shape, Family family) {
    if (family_is_of_rows(family)) return shape->size.columns;
    const bool adds = task->expect == EXPECT_SUM || task->expect == EXPECT_ROW_SUMS;
    if (task->expect == EXPECT_PRODUCT) return product_terms(shape->size.depth);
    return task->expect == EXPECT_FILTER ? filter_terms(task) : adds ? SUM_TERMS : OTHER_TERMS;
}

// Makes one period of an input, or all if it has less.
static void *content_of(const Task *task, const CaseShape *shape, int b, long long count, uint64_t seed) {
    const Buffer *buffer = &task->buffers[b];
    const bool adds = task->expect == EXPECT_SUM || task->expect == EXPECT_ROW_SUMS;
    void *content = calloc((size_t)count + 1, element_bytes(buffer->type));
    const uint64_t key = random_bits(seed, STREAM_INPUTS, 0);
    if (!content) return NULL;
    if (buffer->data) {
        memcpy(content, buffer->data, (size_t)count * element_bytes(buffer->type));
    } else if (buffer->make) {
        buffer->make(&(TableView){.seed = key, .count = count}, content);
    } else {
        fill_inputs(content, buffer->type, count, terms_of(task, shape, buffer->family), buffer->family, key,
                    (unsigned)b);
        // How long a histogram takes depends on what it counts, and the modelled size is compared with
        // others.
        const bool is_compared = task->expect == EXPECT_HISTOGRAM && is_modelled_size(task, shape);
        if (!adds && !is_compared && buffer->family == FAMILY_INTEGERS)
            place_zeros(content, buffer->type, count, key, (unsigned)b);
    }
    return content;
}

// Puts the inputs into the arena, each with its beginning once more.
static bool fill_buffers(const Task *task, const CaseShape *shape, LargeCase *large, uint64_t seed,
                         unsigned char *arena, RunProgram *program) {
    size_t at = WRITTEN_MOST * sizeof(WrittenElement);
    for (int b = 0; b < program->buffer_count; b++) {
        RunBuffer *out = &program->buffers[b];
        const size_t each = element_bytes(task->buffers[b].type);
        out->type = (uint32_t)task->buffers[b].type;
        out->is_read_back = 0;
        out->fill = task->buffers[b].role == INPUT ? FILL_DATA : FILL_ZERO;
        if (out->fill != FILL_DATA) continue;
        const bool repeats = out->bytes / each > period_elements;
        large->period[b] = repeats ? period_elements : out->bytes / each;
        large->content[b] = content_of(task, shape, b, (long long)large->period[b], seed);
        if (!large->content[b]) return false;
        const size_t bytes = large->period[b] * each;
        out->arena_offset = at;
        out->period = repeats ? bytes : 0;
        memcpy(arena + at, large->content[b], bytes);
        memcpy(arena + at + bytes, large->content[b], bytes < EMULATOR_OVERLAP ? bytes : EMULATOR_OVERLAP);
        at += (bytes + EMULATOR_OVERLAP + 255) / 256 * 256;
    }
    return true;
}

bool large_case_begin(const Task *task, const CaseShape *shape, const ImageKernel kernels[], uint64_t seed,
                      Runner *runner, LargeCase *large, Request *request, CaseReport *report) {
    const Case plain = {.family = FAMILY_INTEGERS};
    char why[512];
    memset(request, 0, sizeof *request);
    large_case_free(large);
    if (!case_layout(task, shape, (size_t)1 << 40, &large->layout, why, sizeof why))
        return say_nothing(report, why);
    RunProgram *program = &request->program;
    case_program(task, &plain, shape, &large->layout, kernels, program);
    for (int l = 0; l < program->launch_count; l++) {
        const int index = large->layout.launch_index[l];
        if (!fill_sample(task, shape, &large->layout, index, seed, &program->launches[l]))
            return say_nothing(report,
                               "so few blocks share the work that even a sample of them takes too long");
        large->blocks[l] = (uint64_t)shape->launches[index].blocks;
        large->sampled[l] =
            program->launches[l].sample_count ? program->launches[l].sample_count : large->blocks[l];
    }
    if (!fill_buffers(task, shape, large, seed, runner_arena(runner), program)) {
        report->was_run = true;
        report->verdict = VERDICT_INFRA;
        snprintf(report->words, sizeof report->words, "out of memory for the inputs");
        return false;
    }
    const int coefficients = filter_coefficients(task);
    if (task->expect == EXPECT_FILTER)
        filter_weights(task, coefficients < 0 ? NULL : large->content[coefficients], &large->filter);
    request->kind = REQUEST_SAMPLE;
    request->checks = CHECK_MEMORY | CHECK_SYNC;
    // Of the sizes that take little time this has the most rounds, and what only many of them show. Tasks
    // that are not large have the kernel of another one.
    if (is_modelled_size(task, shape) && task->large.n == 0) request->checks |= CHECK_SHARED_RACE;
    request->output = task_output(task);
    request->written_most = WRITTEN_MOST;
    bool is_load = false;
    const int watched = large_watched_buffer(task, &shape->size, &is_load);
    request->watched = watched < 0 ? 0 : watched;
    request->watches_load = is_load;
    return true;
}

// ---- Values ----------------------------------------------------------------------------------------------

static double input_at(const Task *task, const LargeCase *large, int b, long long index) {
    return element_get(large->content[b], task->buffers[b].type, index % (long long)large->period[b]);
}

static double row_sum(const Task *task, const LargeCase *large, long long row, long long columns) {
    const int in = task_input(task);
    double sum = 0;
    for (long long i = row * columns; i < (row + 1) * columns; i++) sum += input_at(task, large, in, i);
    return sum;
}

// The same of a reference that is asked for one element, from one of every input that has as many.
static double reference_at(const Task *task, const CaseShape *shape, const LargeCase *large, long long index,
                           double *magnitude) {
    ReferenceView view = {.shape = *shape};
    double value = 0;
    for (int b = 0; b < task_buffer_count(task); b++) {
        if (task->buffers[b].role != INPUT) continue;
        const ElementType type = task->buffers[b].type;
        const bool is_by_element = large->layout.counts[b] == large->layout.counts[task_output(task)];
        const size_t at = is_by_element ? (size_t)index % large->period[b] : 0;
        view.inputs[view.input_count] = (const char *)large->content[b] + at * element_bytes(type);
        view.types[view.input_count] = type;
        view.counts[view.input_count++] = is_by_element ? 1 : large->layout.counts[b];
    }
    task->reference(&view, &value, magnitude, 1);
    return value;
}

static double filtered_at(const Task *task, const CaseShape *shape, const LargeCase *large, long long index,
                          double *budget) {
    const int in = task_input(task);
    const ElementType type = task->buffers[in].type;
    const long long columns = shape->size.columns, period = (long long)large->period[in];
    const FilterImage image = {large->content[in], type, shape->size.rows, columns, period};
    const FilterSum sum = filter_at(&large->filter, &image, 1, index / columns, index % columns);
    *budget =
        sum.magnitude > 0 ? error_budget(type, longest_chain(task, shape), sum.magnitude, sum.value) : 0;
    return sum.value;
}

// Of whole numbers so small that nothing rounds.
static double product_at(const Task *task, const CaseSize *size, const LargeCase *large, long long index) {
    const int left = task_input(task), right = product_right(task);
    const long long row = index / size->columns, column = index % size->columns;
    double sum = 0;
    for (long long d = 0; d < size->depth; d++)
        sum += input_at(task, large, left, row * size->depth + d) *
               input_at(task, large, right, d * size->columns + column);
    return sum;
}

// An element of a row of EXPECT_ROWS, and its bound. Rows are computed whole; listed elements of one row
// follow each other, so that only the last row is kept. False when memory ran out.
static bool row_element(const Task *task, const CaseShape *shape, LargeCase *large, long long index,
                        double *value, double *bound) {
    const long long columns = shape->size.columns, number = index / columns;
    long long others_count = 0;
    for (int b = 0; b < task_buffer_count(task); b++)
        if (task->buffers[b].role == INPUT && b != task_input(task)) others_count += large->layout.counts[b];
    const bool is_new = !large->row || large->row_number != number;
    if (!large->row) large->row = malloc((size_t)(3 * columns + others_count + 1) * sizeof(double));
    if (!large->row) return false;
    double *row = large->row, *values = row + columns, *bounds = values + columns, *at = bounds + columns;
    if (is_new) {
        const double *others[MAX_ROW_OTHERS] = {0};
        for (int b = 0, used = 0; b < task_buffer_count(task) && used < MAX_ROW_OTHERS; b++) {
            if (task->buffers[b].role != INPUT || b == task_input(task)) continue;
            others[used++] = at;
            for (long long i = 0; i < large->layout.counts[b]; i++) *at++ = input_at(task, large, b, i);
        }
        for (long long c = 0; c < columns; c++)
            row[c] = input_at(task, large, task_input(task), number * columns + c);
        memset(values, 0, 2 * (size_t)columns * sizeof *values);
        expect_row(task, columns, longest_chain(task, shape), row, others, values, bounds);
        large->row_number = number;
    }
    *value = values[index % columns];
    *bound = bounds[index % columns];
    return true;
}

// What element `index` of the output should be, and how much rounding may change it. False: that is not known
// of single elements.
static bool expected_at(const Task *task, const CaseShape *shape, LargeCase *large, long long index,
                        double *value, double *budget) {
    double inputs[MAX_BUFFERS], sum = 0;
    int used = 0;
    *budget = 0;
    switch (task->expect) {
    case EXPECT_ROW_SUMS: *value = row_sum(task, large, index, shape->size.columns); return true;
    case EXPECT_ROWS: return row_element(task, shape, large, index, value, budget);
    case EXPECT_TRANSPOSE:
        *value = input_at(task, large, task_input(task),
                          index % shape->size.rows * shape->size.columns + index / shape->size.rows);
        return true;
    case EXPECT_ELEMENTWISE:
        for (int b = 0; b < task_buffer_count(task); b++)
            if (task->buffers[b].role == INPUT) sum += inputs[used++] = input_at(task, large, b, index);
        *value = task->element ? task->element(inputs, used) : sum;
        return true;
    case EXPECT_PRODUCT: *value = product_at(task, &shape->size, large, index); return true;
    case EXPECT_FILTER: *value = filtered_at(task, shape, large, index, budget); return true;
    case EXPECT_REFERENCE:
        if (!task->is_by_element) return false;
        *value = reference_at(task, shape, large, index, &sum);
        *budget =
            error_budget(task->buffers[task_output(task)].type, longest_chain(task, shape), sum, *value);
        return true;
    default: return false;
    }
}

// The elements in the order of their places, so that those of a row follow each other. NULL when memory ran
// out. By 16 bits of the place at a time, the lowest first, as often as the largest place has more.
static WrittenElement *in_order(const WrittenElement *written, uint64_t count) {
    static uint32_t first[1 << 16]; // where the next element with these bits goes
    WrittenElement *sorted = malloc((count + 1) * sizeof *sorted),
                   *other = malloc((count + 1) * sizeof *other);
    uint64_t largest = 0;
    for (uint64_t i = 0; sorted && i < count; i++) {
        sorted[i] = written[i];
        if (written[i].index > largest) largest = written[i].index;
    }
    for (int shift = 0; sorted && other && shift < 64 && largest >> shift; shift += 16) {
        memset(first, 0, sizeof first);
        for (uint64_t i = 0; i < count; i++) first[(sorted[i].index >> shift) & 0xffff]++;
        for (uint32_t digit = 0, before = 0; digit <= 0xffff; digit++) {
            const uint32_t here = first[digit];
            first[digit] = before;
            before += here;
        }
        for (uint64_t i = 0; i < count; i++) other[first[(sorted[i].index >> shift) & 0xffff]++] = sorted[i];
        WrittenElement *const exchanged = sorted;
        sorted = other;
        other = exchanged;
    }
    if (!other) {
        free(sorted);
        return NULL;
    }
    free(other);
    return sorted;
}

static bool has_wrong_value(const Task *task, const CaseShape *shape, LargeCase *large,
                            const WrittenElement *written, uint64_t count, CaseReport *report) {
    const Buffer *out = &task->buffers[task_output(task)];
    for (uint64_t i = 0; i < count; i++) {
        double value, budget;
        uint64_t right = 0;
        const long long index = (long long)written[i].index;
        if (index < 0 || index >= large->layout.counts[task_output(task)]) continue;
        if (!expected_at(task, shape, large, index, &value, &budget)) return false;
        const double got = element_get(&written[i].bits, out->type, 0);
        if (task->expect == EXPECT_ROWS && is_near(out->type, value, budget, got)) continue;
        element_set(&right, out->type, 0, value);
        if (memcmp(&right, &written[i].bits, element_bytes(out->type)) == 0) continue;
        if (budget > 0 && task->expect != EXPECT_ROWS && fabs(got - value) <= budget) continue;
        CheckReport *check = &report->check;
        large_say_wrong(report, budget > 0 ? CHECK_BUDGET : CHECK_VALUE, out->name, index);
        element_text(&right, out->type, 0, check->expected_words, sizeof check->expected_words);
        element_text(&written[i].bits, out->type, 0, check->got_words, sizeof check->got_words);
        snprintf(check->what, sizeof check->what, "%s[%lld] is %s, not %s", out->name, index,
                 check->got_words, check->expected_words);
        return true;
    }
    return false;
}

// Whether the bins count more elements than the sampled blocks read.
static bool counts_twice(const Task *task, const SampleReply *sample, CaseReport *report) {
    const int in = task_input(task);
    uint64_t read = 0;
    for (int l = 0; l < MAX_LAUNCHES; l++) read += sample->all[l][in].read;
    if (sample->written_sum <= (double)read) return false;
    char words[2][32];
    count_text((long long)sample->written_sum, words[0], sizeof words[0]);
    count_text((long long)read, words[1], sizeof words[1]);
    large_say_wrong(report, CHECK_TWICE, task->buffers[in].name, -1);
    snprintf(report->check.what, sizeof report->check.what,
             "the blocks that were run count elements of %s more than once: all bins together count %s "
             "elements, and the blocks read %s",
             task->buffers[in].name, words[0], words[1]);
    return true;
}

// Whether the bins lack what counters of 16 bits lose: 65,536 each time that one begins at 0 again, or 1 less
// if that carries into the next one of its word.
static bool loses_counts(const Task *task, const SampleReply *sample, CaseReport *report) {
    enum { ALL_VALUES = 1 << 16, MOST_TIMES = 1 << 12 }; // beyond it any number would fit
    const int in = task_input(task);
    uint64_t read = 0;
    for (int l = 0; l < MAX_LAUNCHES; l++) {
        const uint64_t here = sample->all[l][in].read;
        if (here > 0 && read > 0) return false; // two launches may need an element for one count
        read += here;
    }
    if (sample->written_sum >= (double)read) return false;
    const uint64_t missing = read - (uint64_t)sample->written_sum,
                   times = (missing + ALL_VALUES - 1) / ALL_VALUES, carried = times * ALL_VALUES - missing;
    if (times > MOST_TIMES || carried > times) return false;
    char words[4][32];
    const long long numbers[4] = {(long long)read, (long long)sample->written_sum, (long long)times,
                                  (long long)carried};
    for (int i = 0; i < 4; i++) count_text(numbers[i], words[i], sizeof words[i]);
    large_say_wrong(report, CHECK_LEFT_OUT, task->buffers[in].name, -1);
    snprintf(
        report->check.what, sizeof report->check.what,
        "the blocks that were run read %s elements of %s, and all bins together count %s: %s times 65,536 "
        "less %s are missing",
        words[0], task->buffers[in].name, words[1], words[2], words[3]);
    return true;
}

// Whether the sampled blocks add what they read, once. If the sum is neither that nor what they read with
// repetitions, it is not known which elements they meant to add.
static bool adds_twice(const Task *task, const SampleReply *sample, CaseReport *report) {
    const int in = task_input(task);
    const double once = sample->sum_once[in], all = sample->sum_of_all[in], got = sample->written_sum;
    if (task->expect == EXPECT_HISTOGRAM)
        return counts_twice(task, sample, report) || loses_counts(task, sample, report);
    if (task->expect != EXPECT_SUM || got == once || got != all) return false;
    char words[2][64];
    value_text(got, words[0], sizeof words[0]);
    value_text(once, words[1], sizeof words[1]);
    large_say_wrong(report, CHECK_TWICE, task->buffers[in].name, -1);
    snprintf(report->check.what, sizeof report->check.what,
             "the blocks that were run add elements of %s more than once: their sums come to %s, and every "
             "element that they read, once, to %s",
             task->buffers[in].name, words[0], words[1]);
    return true;
}

// Whether every element of the output is a block's own, and no block that was run stores one.
static bool stores_nothing(const Task *task, const LargeCase *large, const SampleReply *sample,
                           CaseReport *report) {
    const int b = task_output(task);
    const bool is_divided =
        large->layout.launch_count == 1 && (uint64_t)large->layout.counts[b] >= large->blocks[0];
    if (!is_divided || sample->most[0][b].written > 0) return false;
    const char *name = task->buffers[b].name;
    large_say_wrong(report, CHECK_LEFT_OUT, name, -1);
    snprintf(report->check.what, sizeof report->check.what,
             "elements of %s are left out: none of the blocks that were run stores one", name);
    return true;
}

bool large_case_judge(const Task *task, const CaseShape *shape, LargeCase *large, const RunReply *reply,
                      const unsigned char *arena, CaseReport *report) {
    report->was_run = true;
    if (reply->end != RUN_REPLIED) {
        report->verdict = VERDICT_INFRA;
        snprintf(report->words, sizeof report->words, "%.511s", reply->words);
        return false;
    }
    const ReplyHeader *header = reply->header;
    const SampleReply *sample = &header->sample;
    if (case_has_failed(task, &large->layout, reply, report)) return true;
    if (header->status == REPLY_ERROR) {
        report->verdict = VERDICT_INFRA;
        snprintf(report->words, sizeof report->words, "%.511s", header->message);
        return !header->machines_fault;
    }
    report->verdict = VERDICT_PASS;
    if (sample->is_unreserved) {
        say_nothing(report, "the system does not reserve that many addresses");
        return true;
    }
    const WrittenElement *written = (const WrittenElement *)(const void *)arena;
    const uint64_t listed = sample->listed < WRITTEN_MOST ? sample->listed : WRITTEN_MOST;
    WrittenElement *sorted = task->expect == EXPECT_ROWS ? in_order(written, listed) : NULL;
    const bool is_wrong = has_wrong_value(task, shape, large, sorted ? sorted : written, listed, report);
    free(sorted);
    if (is_wrong) return true;
    if (sample->takes_over && large_starts_again(task, shape, sample, report)) return true;
    if (sample->takes_over) {
        say_nothing(report, "one block takes over the work of others, as from a queue");
        return true;
    }
    if (sample->waits && sample->ended[0] < 2) {
        say_nothing(report, "the blocks that were run wait for others");
        return true;
    }
    const bool sums = task->expect == EXPECT_SUM, reduces = sums || task->expect == EXPECT_HISTOGRAM;
    if (reduces && large_leaves_out(task, large, sample, task_input(task), true, report)) return true;
    if (large_passes_too_few(task, large, sample, report)) return true;
    if (sample->waits) return true;
    if (sums && stores_nothing(task, large, sample, report)) return true;
    if (!reduces && large_leaves_out(task, large, sample, task_output(task), false, report)) return true;
    adds_twice(task, sample, report);
    return true;
}
