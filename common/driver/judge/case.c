#include "driver/judge/case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "driver/plan/elements.h"

long long case_threads(const CaseShape *shape) {
    long long threads = 0;
    for (int l = 0; l < shape->launch_count; l++) threads += shape->launches[l].threads;
    return threads;
}

uint64_t case_step_limit(long long n, long long threads) {
    const uint64_t elements = (uint64_t)n, few = elements < 1u << 20 ? elements : 1u << 20;
    // An instruction of a warp is 16 steps, and 1 for each lane: what 32 lanes share is expensive for one
    // alone.
    const uint64_t of_another = threads < 32 ? 800 : 300;
    return 200000000u + 1000u * few + of_another * (elements - few) + 2000u * (uint64_t)threads;
}

// On the emulator each launch has its own limit, in seconds of a processor. If the runner does not answer
// after that either, the kernel is not to blame.
double case_seconds(bool is_gpu, long long n) {
    return is_gpu ? 20 + (double)n * 1e-7 : 10 * EMULATED_SECONDS;
}

// ---- Findings --------------------------------------------------------------------------------------------

const Finding *worst_finding(const RunReply *reply, Verdict *verdict, int *count) {
    const Finding *worst = NULL;
    *verdict = VERDICT_PASS;
    *count = 0;
    for (int i = 0; i < reply->header->finding_count; i++) {
        Verdict here = verdict_of_finding(reply->findings[i].kind);
        if (here == VERDICT_PASS) continue;
        (*count)++;
        if (worst && here >= *verdict) continue;
        worst = &reply->findings[i];
        *verdict = here;
    }
    return worst;
}

// Where a wrong access may have begun: the first use of an undefined value, else the first race; NULL:
// neither.
static const Finding *cause_of_wrong_access(const RunReply *reply, Verdict verdict) {
    const Finding *race = NULL;
    if (verdict != VERDICT_OOB && verdict != VERDICT_MISALIGNED && verdict != VERDICT_FAULT) return NULL;
    for (int i = 0; i < reply->header->finding_count; i++) {
        const Finding *finding = &reply->findings[i];
        if (finding->kind == FINDING_UNINITIALISED) return finding;
        if (finding->kind == FINDING_RACE && !race) race = finding;
    }
    return race;
}

// What explains a wrong value under a weak schedule; NULL: nothing was found.
static const Finding *stale_read(const RunReply *reply) {
    for (int i = 0; i < reply->header->finding_count; i++)
        if (reply->findings[i].kind == FINDING_STALE_READ) return &reply->findings[i];
    return NULL;
}

// ---- Layout and request ----------------------------------------------------------------------------------

bool case_layout(const Task *task, const CaseShape *shape, size_t limit, CaseLayout *layout, char *why,
                 size_t why_bytes) {
    *layout = (CaseLayout){0};
    for (int b = 0; b < task_buffer_count(task); b++) {
        const Buffer *buffer = &task->buffers[b];
        long long count = quantity_value(task, &buffer->count, shape);
        if (count < 0) {
            snprintf(why, why_bytes, "the chapter's size of %s is not valid", buffer->name);
            return false;
        }
        const size_t each = element_bytes(buffer->type);
        if ((size_t)count > (limit - layout->bytes) / each) {
            char number[32];
            count_text(count, number, sizeof number);
            snprintf(why, why_bytes,
                     "LAUNCH asks for so many threads that %s would have %s elements, more than fit into "
                     "memory here",
                     buffer->name, number);
            return false;
        }
        layout->counts[b] = count;
        layout->offsets[b] = layout->bytes;
        layout->bytes += ((size_t)count * each + 255) / 256 * 256;
        if (layout->bytes > limit) layout->bytes = limit;
    }
    for (int l = 0; l < shape->launch_count; l++)
        if (shape->launches[l].blocks > 0) layout->launch_index[layout->launch_count++] = l;
    return true;
}

static Fill fill_of(BufferRole role) {
    switch (role) {
    case INPUT: return FILL_DATA;
    case OUTPUT_ZEROED:
    case ZEROED: return FILL_ZERO;
    default: return FILL_POISON;
    }
}

static uint64_t argument_bits(const Task *task, const Argument *argument, const CaseShape *shape) {
    long long number = quantity_value(task, &argument->value, shape);
    uint64_t bits = 0;
    if (element_is_float(argument->type))
        element_set(&bits, argument->type, 0, (double)number);
    else
        bits = (uint64_t)number;
    return bits;
}

static void fill_launch(const Task *task, const CaseShape *shape, int index, const ImageKernel *kernel,
                        RunLaunch *out) {
    const Launch *launch = &task->launches[index];
    const ShapeOfLaunch *here = &shape->launches[index];
    memcpy(out->symbol, kernel->symbol, sizeof out->symbol);
    memcpy(out->grid, here->grid, sizeof out->grid);
    memcpy(out->block, here->block, sizeof out->block);
    out->shared = here->shared;
    out->registers = kernel->registers;
    out->max_steps = case_step_limit(shape->size.n, here->threads);
    for (int a = 0; a < MAX_ARGUMENTS; a++) {
        const Argument *argument = &launch->arguments[a];
        if (argument->buffer) {
            out->arguments[a] = (RunArgument){.buffer = task_find_buffer(task, argument->buffer), .bytes = 8};
        } else if (argument->type != F32 || argument->value.kind != QUANTITY_N) {
            out->arguments[a] = (RunArgument){.buffer = -1,
                                              .bytes = (uint32_t)element_bytes(argument->type),
                                              .value = argument_bits(task, argument, shape)};
        } else {
            break;
        }
        out->argument_count = a + 1;
    }
}

static void fill_buffer(const Buffer *buffer, const CaseLayout *layout, int index, RunBuffer *out) {
    snprintf(out->name, sizeof out->name, "%s", buffer->name);
    out->bytes = (uint64_t)layout->counts[index] * element_bytes(buffer->type);
    out->arena_offset = layout->offsets[index];
    out->fill = fill_of(buffer->role);
    out->is_read_only = buffer->role == INPUT;
    out->is_constant = buffer->is_constant;
    out->stays_zero = buffer->stays_zero;
    out->is_read_back = (buffer->role == INPUT && !buffer->is_constant) || buffer->role == OUTPUT ||
                        buffer->role == OUTPUT_ZEROED || buffer->stays_zero;
}

void case_program(const Task *task, const Case *one, const CaseShape *shape, const CaseLayout *layout,
                  const ImageKernel kernels[], RunProgram *program) {
    memset(program, 0, sizeof *program);
    program->buffer_count = task_buffer_count(task);
    unsigned offset = one->misalignment;
    for (int b = 0; b < program->buffer_count; b++) {
        const Buffer *buffer = &task->buffers[b];
        fill_buffer(buffer, layout, b, &program->buffers[b]);
        program->buffers[b].misalignment = one->shift;
        if (!buffer->misaligned) continue;
        program->buffers[b].misalignment += offset;
        if (one->is_staggered) offset = (offset + (unsigned)element_bytes(buffer->type)) % 16;
    }
    for (int l = 0; l < layout->launch_count; l++) {
        int index = layout->launch_index[l];
        fill_launch(task, shape, index, &kernels[index], &program->launches[l]);
        program->launches[l].most_resident = (uint32_t)task->most_resident;
    }
    program->launch_count = layout->launch_count;
}

void case_write_inputs(const Task *task, const CaseLayout *layout, const Prepared *prepared,
                       unsigned char *arena) {
    for (int b = 0; b < task_buffer_count(task); b++)
        if (task->buffers[b].role == INPUT && layout->counts[b] > 0)
            copy_bytes(arena + layout->offsets[b], prepared->inputs[b],
                       (size_t)layout->counts[b] * element_bytes(task->buffers[b].type));
}

void case_request(const Task *task, const Case *one, const CaseShape *shape, const CaseLayout *layout,
                  const Prepared *prepared, const ImageKernel kernels[], unsigned char *arena,
                  Request *request) {
    memset(request, 0, sizeof *request);
    case_program(task, one, shape, layout, kernels, &request->program);
    case_write_inputs(task, layout, prepared, arena);
    for (int b = 0; b < task_buffer_count(task); b++)
        if (task->buffers[b].stays_zero && !one->is_counted) request->rounds = 2;
    request->schedule = one->schedule;
    request->checks = one->is_drawn ? CHECK_MEMORY | CHECK_SYNC : CHECK_ALL;
    request->count = one->is_counted;
}

// ---- Answers ---------------------------------------------------------------------------------------------

static bool decide(CaseReport *report, Verdict verdict, const char *words) {
    report->verdict = verdict;
    snprintf(report->words, sizeof report->words, "%.511s", words);
    return true;
}

// FNV-1a (Fowler, Noll, Vo), enough to tell two results of one kernel apart.
static uint64_t hash_bytes(const unsigned char *bytes, size_t count) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < count; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

static void judge_values(const Task *task, const CaseShape *shape, const CaseLayout *layout,
                         const Prepared *prepared, const unsigned char *arena, CaseReport *report) {
    const void *after[MAX_BUFFERS], *pristine[MAX_BUFFERS];
    for (int b = 0; b < MAX_BUFFERS; b++) {
        after[b] = arena + layout->offsets[b];
        pristine[b] = prepared->inputs[b];
    }
    // The runner never touches an arena place of zeroed outputs that no launch wrote; it reads all of them
    // back.
    const CheckedCase finished = {.task = task,
                                  .shape = shape,
                                  .family = report->settings.family,
                                  .counts = layout->counts,
                                  .pristine = pristine,
                                  .after = after,
                                  .expected = &prepared->expected,
                                  .misalignment = report->settings.misalignment,
                                  .candidates = report->candidates};
    report->has_check = true;
    const bool is_right = check_case(&finished, &report->check);
    report->candidates = report->check.shapes;
    if (!is_right) {
        report->verdict = report->check.outcome == CHECK_BROKEN          ? VERDICT_INFRA
                          : report->check.outcome == CHECK_INPUT_CHANGED ? VERDICT_OOB
                                                                         : VERDICT_WRONG;
        for (int l = 0; l < shape->launch_count; l++) {
            if (report->check.outcome != CHECK_NOT_WRITTEN || shape->launches[l].blocks > 0) continue;
            snprintf(report->check.why, sizeof report->check.why,
                     "LAUNCH(%.100s) asks for a grid of 0 blocks here, so no thread ran that could write it.",
                     task->launches[l].kernel);
        }
        return;
    }
    int out = task_output(task);
    if (out >= 0) {
        size_t bytes = (size_t)layout->counts[out] * element_bytes(task->buffers[out].type);
        if (task->is_bit_identical) report->output_hash = hash_bytes(after[out], bytes);
        if (bytes > 0) report->output_first = element_get(after[out], task->buffers[out].type, 0);
    }
    report->verdict = VERDICT_PASS;
}

// The emulator counts elements as wide as the access; those of the buffer may be of another width.
static void count_in_elements(const Task *task, Finding *finding) {
    static const char words[] = "(element ";
    const int b = task_find_buffer(task, finding->object);
    const char *at = strstr(finding->message, words), *end = at ? strchr(at, ')') : NULL;
    if (b < 0 || !end || finding->index < 0) return;
    char message[sizeof finding->message];
    const size_t bytes = element_bytes(task->buffers[b].type);
    snprintf(message, sizeof message, "%.*s%lld of %zu bytes%s",
             (int)(at - finding->message) + (int)sizeof words - 1, finding->message,
             (long long)finding->index / (long long)bytes, bytes, end);
    memcpy(finding->message, message, sizeof message);
}

bool case_has_failed(const Task *task, const CaseLayout *layout, const RunReply *reply, CaseReport *report) {
    const ReplyHeader *header = reply->header;
    report->lane_instructions = header->lane_instructions;
    report->steps = header->steps;
    report->race_compared = header->race_compared;
    report->seconds = header->seconds;
    for (int i = 0; i < header->finding_count; i++)
        report->has_partial_barrier |= reply->findings[i].kind == FINDING_PARTIAL_BARRIER;
    int failed = header->failed_launch;
    if (failed >= 0 && failed < layout->launch_count)
        snprintf(report->kernel, sizeof report->kernel, "%s",
                 task->launches[layout->launch_index[failed]].kernel);
    Verdict verdict;
    const Finding *finding = worst_finding(reply, &verdict, &report->finding_count);
    if (finding) {
        report->has_finding = true;
        report->finding = *finding;
        count_in_elements(task, &report->finding);
        report->verdict = verdict;
        const Finding *cause = cause_of_wrong_access(reply, verdict);
        if (cause) {
            report->has_cause = true;
            report->cause = *cause;
            count_in_elements(task, &report->cause);
        }
        return true;
    }
    if (header->status == REPLY_FAULT) {
        verdict = verdict_of_finding((FindingKind)header->finding);
        return decide(report, verdict == VERDICT_PASS ? VERDICT_FAULT : verdict, header->message);
    }
    return false;
}

bool case_judge(const Task *task, const CaseShape *shape, const CaseLayout *layout, const Prepared *prepared,
                const RunReply *reply, const unsigned char *arena, bool is_gpu, CaseReport *report) {
    report->was_run = true;
    if (reply->end == RUN_TIMED_OUT && is_gpu)
        return decide(report, VERDICT_TIMEOUT, "the kernel was still running at the time limit");
    if (reply->end != RUN_REPLIED) {
        decide(report, VERDICT_INFRA, reply->words);
        return false;
    }
    const ReplyHeader *header = reply->header;
    if (case_has_failed(task, layout, reply, report)) return true;
    if (header->status == REPLY_ERROR) {
        decide(report, VERDICT_INFRA, header->message);
        return !header->machines_fault;
    }
    if (header->damaged_buffer >= 0 && header->damaged_buffer < task_buffer_count(task)) {
        const char *name = task->buffers[header->damaged_buffer].name;
        char words[256];
        const long long bytes = layout->counts[header->damaged_buffer] *
                                (long long)element_bytes(task->buffers[header->damaged_buffer].type);
        if (header->damaged_index < 0)
            snprintf(words, sizeof words, "something was written %lld bytes before the start of %s",
                     -(long long)header->damaged_index, name);
        else if (header->damaged_index == bytes)
            snprintf(words, sizeof words, "something was written right after the end of %s", name);
        else
            snprintf(words, sizeof words, "something was written %lld bytes past the end of %s",
                     (long long)header->damaged_index - bytes, name);
        return decide(report, VERDICT_OOB, words);
    }
    if (reply->output_was_cut)
        return decide(report, VERDICT_OUTPUT_LIMIT, "the kernel printed more than 64 KiB");
    judge_values(task, shape, layout, prepared, arena, report);
    const Finding *stale = report->verdict == VERDICT_WRONG ? stale_read(reply) : NULL;
    if (stale) {
        report->has_finding = true;
        report->finding = *stale;
        count_in_elements(task, &report->finding);
    }
    return true;
}
