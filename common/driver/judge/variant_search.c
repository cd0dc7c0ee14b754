#include "driver/judge/variant_search.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/file.h"
#include "driver/build/compile_beside.h"
#include "driver/judge/repair/linked_lines.h"
#include "driver/judge/repair_elsewhere.h"
#include "driver/judge/shared_trials.h"
#include "driver/judge/variants/variants.h"

enum {
    MOST_SOURCE = 64 * 1024, // bytes of a kernel.cu that is searched
    MOST_VARIANTS = 700,
    FEWEST = 40,                // if a case is much work: each variant in a text slows all of them
    DEAREST = 4,                // milliseconds of a case of which as many are tried
    MOST_SURVIVORS = 40,        // variants with which the smallest case passes, all of which are confirmed
    SCREENING = 3,              // cases that are run with each variant,
    CANDIDATES = 8,             // of that many,
    SMALL = 1 << 10,            // elements with which most mistakes show
    LARGEST_SCREENED = 1 << 13, // with at most that many elements or those of the smallest one,
    DEARER = 4,                 // and at most that many times the work of the others
    // Of a launch: at least, and for each instruction of a lane that the kernel takes without a change.
    // EmulatorLaunch.max_steps says what they are.
    LEAST_STEPS = 1 << 20,
    LEAST_OF_STOPPED = 1 << 24, // if a finding stopped it, so that it does not say what it would take
    STEPS_OF_LANE = 30,
    MOST_COMPILATIONS = 3, // without those variants that do not compile
    MOST_PTX = 16 << 20,   // bytes
};
// Processor time: for an image, and so far if it is compiled again.
static const double seconds_to_compile = 2.5, seconds_to_repeat = 1;
// Of the page's work: a text, and each byte of its PTX.
static const double work_of_text = 200, work_of_byte = 0.0038;
// That are tried, the likeliest first, for each of the page's work.
static const double variants_for_work = 0.1;
// In milliseconds of a usual machine, as judge_work_of(): for all that survive, and one of them.
static const double work_to_choose = 1500, work_of_choice = 150;

struct VariantSearch {
    Search search; // with the image of all variants
    Code code;
    Variants variants;
    bool *is_left_out;           // by variant: of the text that is compiled
    bool *is_refused;            // by variant: it does not compile, or is not asked for
    bool *is_needed, *is_chosen; // by function: it is run, and has variants
    Image image;
    VariantLines lines; // of its text
    int survivors[MOST_SURVIVORS], survivor_count;
    int found;                      // the variant that repairs the kernel; -1: none is known
    uint64_t steps[MOST_SURVIVORS]; // of the first case that each was screened with, in their order
    pid_t compiler;                 // beside; 0: none
    bool is_quick;                  // the image of many variants; that of the few that are left is not
    char source[PATH_MAX], headers[PATH_MAX]; // the folder of kernel.cu's own image has those
};

// ---- The image -------------------------------------------------------------------------------------------

static bool calls(const Code *code, const Function *from, const Function *to) {
    for (int i = from->first; i < from->last; i++)
        if (tokens_are_same(&code->tokens, i, to->name) &&
            (token_is(&code->tokens, i + 1, "(") || code->tokens.all[i + 1].is_type) && // else a variable
            !token_is_one_of(&code->tokens, i - 1, ". -> ::"))                          // one of a struct
            return true;
    return false;
}

// Marks the kernels of a task, or that one alone if `kernel` is not "".
static void mark_kernels(const VariantSearch *of, int task, const char *kernel, bool marked[]) {
    const Task *its = &of->search.ptx.judge->of->tasks[task];
    const Code *code = &of->code;
    for (int f = 0; f < code->function_count; f++)
        for (int l = 0; l < task_launch_count(its); l++)
            marked[f] |= code->functions[f].is_kernel &&
                         token_is(&code->tokens, code->functions[f].name, its->launches[l].kernel) &&
                         (!kernel[0] || strcmp(kernel, its->launches[l].kernel) == 0);
}

static void mark_called(const VariantSearch *of, bool marked[]) {
    const Code *code = &of->code;
    for (bool has_more = true; has_more;) {
        has_more = false;
        for (int f = 0; f < code->function_count; f++)
            for (int g = 0; g < code->function_count; g++)
                if (marked[f] && !marked[g] && calls(code, &code->functions[f], &code->functions[g]))
                    has_more = marked[g] = true;
    }
}

// Whether a kernel of the task is this function, or calls it.
static bool has_function(const VariantSearch *of, int task, int function) {
    bool *marked = calloc((size_t)of->code.function_count + 1, sizeof *marked);
    if (marked) {
        mark_kernels(of, task, "", marked);
        mark_called(of, marked);
    }
    const bool has_it = marked && marked[function];
    free(marked);
    return has_it;
}

static bool has_passed(const Judgement *judgement, int task) {
    int passed = 0;
    for (int i = 0; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        if (report->settings.task != task || !report->was_run) continue;
        if (report->verdict != VERDICT_PASS) return false;
        passed++;
    }
    return passed > 0;
}

// The kernels that may have failed, and what they call, except the functions of a task that passes: those are
// right. False: out of memory.
static bool choose_functions(VariantSearch *of) {
    const Search *search = &of->search;
    const Judgement *judgement = search->ptx.judge->judgement;
    bool *right = calloc((size_t)of->code.function_count + 1, sizeof *right);
    of->is_needed = calloc((size_t)of->code.function_count + 1, sizeof *of->is_needed);
    of->is_chosen = calloc((size_t)of->code.function_count + 1, sizeof *of->is_chosen);
    if (right && of->is_needed && of->is_chosen) {
        for (int t = 0; t < chapter_task_count(search->ptx.judge->of); t++)
            if (t != search->ptx.task && has_passed(judgement, t)) mark_kernels(of, t, "", right);
        mark_called(of, right);
        mark_kernels(of, search->ptx.task, "", of->is_needed);
        mark_kernels(of, search->ptx.task, search->shown->kernel, of->is_chosen);
        mark_called(of, of->is_chosen);
        // One instance of a template may be right and another one wrong.
        for (int f = 0; f < of->code.function_count; f++)
            of->is_chosen[f] &= !right[f] || code_declares(&of->code, &of->code.functions[f], "template");
    }
    free(right);
    return right && of->is_needed && of->is_chosen;
}

static bool leave_out(VariantSearch *of, int which) {
    const bool was_in = !of->is_left_out[which];
    of->is_left_out[which] = of->is_refused[which] = true;
    return was_in;
}

// The same for all that have its place.
static bool leave_out_place(VariantSearch *of, int which) {
    const SourceEdit *edit = &of->variants.all[which].edits[0];
    bool was_any_in = false;
    for (int v = 0; v < of->variants.count; v++)
        if (source_edits_compare(&of->variants.all[v].edits[0], edit) == 0) was_any_in |= leave_out(of, v);
    return was_any_in;
}

// Leaves out the variants that the compiler complains of: "kernel.cu(30): error" or "kernel.cu:30:7: error".
// Beside the lines of variants it complains of the types of all that have their place. False: of none.
static bool heed_errors(VariantSearch *of, const char *log, const VariantLines *lines) {
    bool is_any = false;
    for (const char *at = log; (at = strstr(at, ": error")) != NULL; at++) {
        const char *line = at;
        while (line > log && line[-1] != '\n') line--;
        const char *place = strpbrk(line, "(:");
        const long number = place && place < at ? strtol(place + 1, NULL, 10) : 0;
        if (number <= 0 || number >= lines->count) continue;
        if (lines->all[number].variant >= 0) {
            is_any |= leave_out(of, lines->all[number].variant);
            continue;
        }
        long before = number, behind = number;
        while (before > 0 && lines->all[before].variant < 0) before--;
        while (behind < lines->count && lines->all[behind].variant < 0) behind++;
        if (before > 0) is_any |= leave_out_place(of, lines->all[before].variant);
        if (behind < lines->count) is_any |= leave_out_place(of, lines->all[behind].variant);
    }
    return is_any;
}

static const Variants *ordered; // for compare_order()

static int compare_order(const void *left, const void *right) {
    return variants_compare(&ordered->all[*(const int *)left], &ordered->all[*(const int *)right]);
}

// The places of the variants, the likeliest first.
static int *order_of(const VariantSearch *of) {
    int *order = calloc((size_t)of->variants.count + 1, sizeof *order);
    for (int v = 0; order && v < of->variants.count; v++) order[v] = v;
    ordered = &of->variants;
    if (order) qsort(order, (size_t)of->variants.count, sizeof *order, compare_order);
    return order;
}

// How many variants the text has.
static int likeliest(const VariantSearch *of) {
    const double work = judge_work_of(of->search.shown),
                 most = variants_for_work * of->search.ptx.judge->options->repair_work;
    const int count = (int)(work <= DEAREST ? most : DEAREST * most / work);
    return count > FEWEST ? count : FEWEST;
}

void variant_search_keep_line(VariantSearch *of, int line) {
    for (int v = 0; v < of->variants.count; v++) of->is_refused[v] |= of->variants.all[v].line != line;
}

// The text has the likeliest variants that compile.
static void choose_text(VariantSearch *of) {
    const int most = likeliest(of);
    int *order = order_of(of), count = 0;
    for (int i = 0; order && i < of->variants.count; i++) {
        of->is_left_out[order[i]] = count == most || of->is_refused[order[i]];
        count += !of->is_left_out[order[i]];
    }
    free(order);
}

typedef enum { COMPILED, COMPLAINED, FAILED } Compiled;

// `seconds`: what the compilers of the image have taken so far.
static CompileRequest request_of(const VariantSearch *of, double seconds) {
    const Subjects *subjects = of->search.ptx.judge->subjects;
    return (CompileRequest){.source = of->source,
                            .output_directory = subjects->variants_folder,
                            .headers_directory = of->headers,
                            .include_directory = subjects->include_folder,
                            .ptx_arch = subjects->ptx_arch,
                            .sass_arch = -1,
                            .is_quick = of->is_quick,
                            .time_limit = seconds_to_compile - seconds};
}

// Receives what each line has, to be freed.
static bool write_source(const VariantSearch *of, VariantLines *lines) {
    Text text = {0};
    FileError error;
    variants_write(&of->code, &of->variants, of->is_left_out, of->is_needed, &text, lines);
    const bool is_written = !text.failed &&
                            make_directories(of->search.ptx.judge->subjects->variants_folder, &error) &&
                            write_file_atomically(of->source, text_chars(&text), text.bytes, &error);
    text_free(&text);
    return is_written;
}

// Adds the processor seconds of the compiler to *seconds, if it was run here.
static Compiled compile(VariantSearch *of, double *seconds) {
    const CompileRequest request = request_of(of, *seconds);
    FileError error;
    Compiled end = FAILED;
    VariantLines lines = {0};
    if (write_source(of, &lines)) {
        CompileResult result;
        if (compile_kernel(&request, &result) &&
            read_regular_file(result.ptx_path, MOST_PTX, &of->image.text, &error))
            end = COMPILED;
        else if (result.status == COMPILE_BUILD && heed_errors(of, result.log, &lines))
            end = COMPLAINED;
        *seconds += result.status == COMPILE_BUILD_TIMEOUT ? request.time_limit : result.processor_seconds;
        compile_result_free(&result);
        page_work_take(of->search.ptx.judge, work_of_text + work_of_byte * (double)of->image.text.bytes);
    }
    free(of->lines.all); // NOLINT(clang-analyzer-unix.Malloc): those of the text before
    of->lines = lines;
    return end;
}

static bool make_image(VariantSearch *of) {
    Compiled end = COMPLAINED;
    double seconds = 0;
    for (int i = 0; i < MOST_COMPILATIONS && end == COMPLAINED && seconds <= seconds_to_repeat &&
                    !page_work_is_over(of->search.ptx.judge);
         i++)
        end = compile(of, &seconds);
    return end == COMPILED;
}

void variant_search_begin(VariantSearch *of) {
    VariantLines lines;
    of->is_quick = true;
    const CompileRequest request = request_of(of, 0);
    if (of->compiler) return;
    choose_text(of);
    if (write_source(of, &lines)) of->compiler = compile_begin(&request);
    free(lines.all);
}

void variant_search_leave_off(VariantSearch *of) {
    compile_stop(of->compiler);
    of->compiler = 0;
}

// ---- The search ------------------------------------------------------------------------------------------

// The lines of the text that begin in what an edit is in place of. If an expression around it has variants,
// too, they are those of the largest one: a compiler merges what several of them have.
static LineRange lines_of(const VariantSearch *of, const SourceEdit *edit) {
    LineRange range = {.first = INT_MAX};
    int from = edit->from, to = edit->to;
    for (int v = 0; v < of->variants.count; v++)
        for (int e = 0; e < of->variants.all[v].edit_count && !of->is_left_out[v]; e++) {
            const SourceEdit *around = &of->variants.all[v].edits[e];
            if (around->form != EDIT_EXPRESSION || around->from > from || around->to < to) continue;
            from = around->from;
            to = around->to;
        }
    for (int l = 1; l < of->lines.count; l++) {
        if (of->lines.all[l].from < from || of->lines.all[l].from >= to) continue;
        if (l < range.first) range.first = l;
        range.last = l;
    }
    return range;
}

static Change change_of(const VariantSearch *of, int which) {
    const Variant *variant = &of->variants.all[which];
    Change change = {.kind = variant->kind, .source = variant->line, .variant = which + 1};
    memcpy(change.words, variant->words, sizeof change.words);
    for (int e = 0; e < variant->edit_count; e++)
        change.own[change.own_count++] = lines_of(of, &variant->edits[e]);
    return change;
}

// The failing cases of the task with few elements that are least work.
static int find_least_work(const VariantSearch *of, const CaseReport *found[CANDIDATES]) {
    const Search *search = &of->search;
    const Judgement *judgement = search->ptx.judge->judgement;
    const long long largest =
        search->smallest.size.n > LARGEST_SCREENED ? search->smallest.size.n : LARGEST_SCREENED;
    int count = 0;
    for (int i = 0; i < judgement->case_count; i++) {
        const CaseReport *report = &judgement->cases[i];
        if (!report->was_run || report->verdict == VERDICT_PASS || report->settings.size.n > largest ||
            !search_has_case(search, search->largest, report))
            continue;
        int at = count < CANDIDATES ? count++ : CANDIDATES;
        for (; at > 0 && found[at - 1]->lane_instructions > report->lane_instructions; at--)
            if (at < CANDIDATES) found[at] = found[at - 1];
        if (at < CANDIDATES) found[at] = report;
    }
    return count;
}

// Those that fail with all variants in the text and none of them chosen, too, as a case whose schedule
// decides need not: in the order of the work that they take then. Limits the work of a variant, which may
// never end.
static int choose_cases(VariantSearch *of, Worker *worker, Case cases[SCREENING]) {
    Search *search = &of->search;
    const CaseReport *candidates[CANDIDATES];
    const Change none = {0}, *one[] = {&none};
    const int candidate_count = find_least_work(of, candidates);
    uint64_t most = 0;
    int count = 0;
    search->ptx.most_steps = 0;
    for (int c = 0; c < candidate_count && count < SCREENING && !search_is_over(search); c++) {
        CaseReport report;
        Case settings = candidates[c]->settings;
        settings.is_counted = false;
        bool is_known = false;
        for (int k = 0; k < count; k++) is_known |= cases[k].size.n == settings.size.n;
        if (is_known || !task_ptx_run(&search->ptx, worker, &settings, one, 1, PATIENCE * VARIANT_PATIENCE,
                                      search->is_of_the_end, NULL, &report))
            continue;
        search->work -= judge_work_of(&report);
        if (report.verdict == VERDICT_PASS) continue;
        if (count > 0 && report.lane_instructions > DEARER * (most + DEARER)) break;
        if (report.lane_instructions > most) most = report.lane_instructions;
        cases[count++] = settings;
    }
    if (search->shown->verdict != VERDICT_TIMEOUT)
        search->ptx.most_steps =
            (search->shown->has_finding ? LEAST_OF_STOPPED : LEAST_STEPS) + STEPS_OF_LANE * most;
    return count;
}

// What screen() shares.
typedef struct {
    VariantSearch *of;
    int *order; // the variants of the text, the likeliest first
    int count;
    Case cases[SCREENING];
    int case_count;
    OwnWorker own; // with the image loaded
} Screening;

typedef struct {
    bool survives;
    uint64_t steps; // of the first case
} Screened;

// Whether the cases pass with a variant.
static void screen_one(void *context, int which, void *result) {
    Screening *screening = context;
    Screened *screened = result;
    const Search *search = &screening->of->search;
    const Change change = change_of(screening->of, screening->order[which]), *one[] = {&change};
    *screened = (Screened){0};
    Worker *worker = own_worker(&search->ptx, NULL, 0, &screening->own);
    for (int c = 0; worker && c < screening->case_count; c++) {
        CaseReport report;
        const bool was_run = task_ptx_run(&search->ptx, worker, &screening->cases[c], one, 1, PATIENCE,
                                          search->is_of_the_end, NULL, &report);
        if (c == 0) screened->steps = report.steps;
        // A finding stopped the case without a change: what it takes to its end is not known.
        if (was_run && c > 0 && report.verdict == VERDICT_TIMEOUT && search->shown->has_finding) break;
        if (!was_run || report.verdict != VERDICT_PASS) return;
    }
    screened->survives = worker != NULL;
}

static void take_survivors(VariantSearch *of, Screening *screening) {
    Search *search = &of->search;
    SharedTrials *trials = shared_trials_begin(search->ptx.judge, 0, screening->count, search->work,
                                               sizeof(Screened), screen_one, screening);
    for (int i = 0;
         trials && i < screening->count && !search_is_over(search) && of->survivor_count < MOST_SURVIVORS;
         i++) {
        double work;
        const Screened *screened = shared_trials_next(trials, &work);
        search->work -= work;
        if (!screened->survives) continue;
        of->steps[of->survivor_count] = screened->steps;
        of->survivors[of->survivor_count++] = screening->order[i];
    }
    shared_trials_end(trials);
}

// Runs a few cases with each variant, with the image loaded once.
static void screen(VariantSearch *of) {
    Search *search = &of->search;
    Screening screening = {.of = of, .order = order_of(of)};
    if (!screening.order) return;
    page_work_take(search->ptx.judge, task_ptx_start_work(&search->ptx));
    Worker *worker = own_worker(&search->ptx, NULL, 0, &screening.own);
    if (worker) screening.case_count = choose_cases(of, worker, screening.cases);
    for (int i = 0; screening.case_count > 0 && i < of->variants.count; i++)
        if (!of->is_left_out[screening.order[i]]) screening.order[screening.count++] = screening.order[i];
    if (screening.count > 0) take_survivors(of, &screening);
    own_worker_stop(&search->ptx, &screening.own);
    search->ptx.most_steps = 0;
    free(screening.order);
}

// A barrier or a fence is right in any of several lines; a value that repairs the kernel in two places proves
// nothing.
static bool orders(ChangeKind kind) {
    return kind == CHANGE_BARRIER || kind == CHANGE_WARP_BARRIER || kind == CHANGE_FENCE ||
           kind == CHANGE_MOVED;
}

// Which lane takes the result of shuffles and which way they go are one question.
static bool is_of_lanes(const Variant *shuffle, const Variant *taker) {
    return strstr(shuffle->edits[0].text, "__shfl_") && taker->kind == CHANGE_CONSTANT &&
           strstr(taker->edits[0].text, "==");
}

// Whether a statement that is added sets what the other one changes the use of: two ways to leave out what
// the variable held before.
static bool sets_what_changes(const VariantSearch *of, const Variant *added, const Variant *other) {
    const char *text = added->edits[0].text;
    return added->kind == CHANGE_ADDED && other->edit_count > 0 &&
           (text_leads_to(text, of->code.tokens.source, other->line) ||
            text_leads_to(text, other->edits[0].text, 1));
}

static bool is_same_mistake(const VariantSearch *of, const Variant *a, const Variant *b) {
    if (abs(a->line - b->line) <= 1 || (orders(a->kind) && orders(b->kind)) || is_of_lanes(a, b) ||
        is_of_lanes(b, a) || sets_what_changes(of, a, b) || sets_what_changes(of, b, a))
        return true;
    return lines_are_linked(of->code.tokens.source, a->line, b->line);
}

// Whether it is in a function of another task, whose cases it harms.
static bool harms_another(const VariantSearch *of, int which) {
    const Change change = change_of(of, which), *one[] = {&change};
    bool harms = false;
    for (int t = 0; t < chapter_task_count(of->search.ptx.judge->of) && !harms; t++) {
        TaskPtx other;
        if (t == of->search.ptx.task || !has_function(of, t, of->variants.all[which].function)) continue;
        if (task_ptx_make(of->search.ptx.judge, &of->image, t, "kernel.cu", &other))
            harms = repair_harms(&other, one, 1, true);
        task_ptx_free(&other);
    }
    return harms;
}

// Whether the cases of all tasks that it is about say that it repairs the kernel.
static bool repairs(VariantSearch *of, int which) {
    const Change change = change_of(of, which), *one[] = {&change};
    Repair *repair = &of->search.ptx.judge->judgement->repair, before = *repair;
    if (!search_attempt(&of->search, one, 1, -1)) return false;
    if (!harms_another(of, which)) return true;
    *repair = before;
    return false;
}

// Whether the number that a variant has in place of another is said in kernel.cu, too.
static bool says_known_number(const VariantSearch *of, const Variant *variant) {
    const Tokens *tokens = &of->code.tokens;
    const char *end = strstr(variant->words, " instead of "), *from = end;
    while (from && from > variant->words && isdigit((unsigned char)from[-1])) from--;
    for (int t = 0; from < end && t < tokens->count; t++) {
        const Token *token = &tokens->all[t];
        if (token->kind == TOKEN_INTEGER && token->to - token->from == end - from &&
            memcmp(tokens->source + token->from, from, (size_t)(end - from)) == 0)
            return true;
    }
    return false;
}

// The likeliest first, of barriers the nearest to the finding, and of the others comparisons, in which one
// sign is another one, then the shortest, and then those with a number that kernel.cu says.
static bool comes_before(const VariantSearch *of, const Variant *a, const Variant *b) {
    const CaseReport *shown = of->search.shown;
    if (a->rank != b->rank) return a->rank < b->rank;
    if (shown->has_finding && orders(a->kind) && orders(b->kind))
        return abs(a->line - shown->finding.place.line) < abs(b->line - shown->finding.place.line);
    const bool compares = a->kind == CHANGE_COMPARISON;
    if (compares != (b->kind == CHANGE_COMPARISON)) return compares;
    if (strlen(a->words) != strlen(b->words)) return strlen(a->words) < strlen(b->words);
    return says_known_number(of, a) && !says_known_number(of, b);
}

static void sort_survivors(VariantSearch *of) {
    for (int s = 1; s < of->survivor_count; s++) {
        const int one = of->survivors[s];
        const uint64_t steps = of->steps[s];
        int at = s;
        for (; at > 0; at--) {
            const int other = of->survivors[at - 1];
            if (!comes_before(of, &of->variants.all[one], &of->variants.all[other])) break;
            of->survivors[at] = other;
            of->steps[at] = of->steps[at - 1];
        }
        of->survivors[at] = one;
        of->steps[at] = steps;
    }
}

// The judgement gets the one that repairs the kernel, unless there are several. False: there is none.
static bool choose(VariantSearch *of) {
    Search *search = &of->search;
    Repair *repair = &search->ptx.judge->judgement->repair;
    const Variant *found = NULL;
    uint64_t steps = 0; // of it
    search->work = work_to_choose;
    of->found = -1;
    sort_survivors(of);
    for (int s = 0; s < of->survivor_count; s++) {
        const Variant *variant = &of->variants.all[of->survivors[s]];
        // A last resort, such as another function, is not a rival of what is likely.
        if (found && (is_same_mistake(of, found, variant) || (variant->rank == LAST && found->rank < LAST)))
            continue;
        // Nor is one after which work is done again that another does once.
        if (found && of->steps[s] > steps + steps / 2) continue;
        // What cannot be tried any more may repair it too, unless it is less likely.
        if (found && search_is_over(search) && variant->rank > found->rank) continue;
        if (search_is_over(search) || (repairs(of, of->survivors[s]) && found)) {
            *repair = (Repair){0};
            of->found = -1;
            return true;
        }
        if (found || repair->change_count == 0) continue;
        search->work -= work_of_choice;
        found = variant;
        of->found = of->survivors[s];
        steps = of->steps[s];
    }
    return found != NULL;
}

// ---- All of it -------------------------------------------------------------------------------------------

void variant_search_free(VariantSearch *of) {
    if (!of) return;
    compile_stop(of->compiler);
    task_ptx_free(&of->search.ptx);
    text_free(&of->image.text);
    variants_free(&of->variants);
    code_free(&of->code);
    free(of->lines.all);
    free(of->is_left_out);
    free(of->is_refused);
    free(of->is_needed);
    free(of->is_chosen);
    free(of);
}

// Without variants. NULL as variant_search_new().
static VariantSearch *without_variants(const Search *search) {
    const Subjects *subjects = search->ptx.judge->subjects;
    if (!subjects->source_text || strlen(subjects->source_text) > MOST_SOURCE ||
        !subjects->variants_folder[0] || search->smallest.is_large)
        return NULL;
    VariantSearch *of = calloc(1, sizeof *of);
    if (!of) return NULL;
    of->found = -1;
    of->search =
        (Search){.ptx = {.judge = search->ptx.judge, .image = search->ptx.image, .task = search->ptx.task},
                 .smallest = search->smallest,
                 .largest = search->largest,
                 .shown = search->shown,
                 .beyond = search->beyond,
                 .known = search->known,
                 .known_count = search->known_count};
    of->image = *search->ptx.image;
    of->image.text = (Text){0};
    snprintf(of->source, sizeof of->source, "%s/kernel.cu", subjects->variants_folder);
    snprintf(of->headers, sizeof of->headers, "%s/..", subjects->variants_folder);
    if (code_make(subjects->source_text, &of->code) && choose_functions(of)) return of;
    variant_search_free(of);
    return NULL;
}

// False: there are none, or memory ran out.
static bool take_variants(VariantSearch *of) {
    of->is_left_out = calloc((size_t)of->variants.count + 1, sizeof *of->is_left_out);
    of->is_refused = calloc((size_t)of->variants.count + 1, sizeof *of->is_refused);
    return of->is_left_out && of->is_refused && !of->variants.failed && of->variants.count > 0;
}

VariantSearch *variant_search_new(const Search *search) {
    const CaseReport *shown = search->shown;
    const VariantClues clues = {.line = search->line         ? search->line
                                        : shown->has_cause   ? shown->cause.place.line
                                        : shown->has_finding ? shown->finding.place.line
                                                             : 0,
                                .is_of_order =
                                    shown->verdict == VERDICT_RACE || shown->verdict == VERDICT_SYNC ||
                                    shown->verdict == VERDICT_UNINIT || shown->verdict == VERDICT_TIMEOUT ||
                                    shown->has_cause || shown->settings.schedule != 0,
                                .is_of_size = search->smallest.size.n >= SMALL};
    VariantSearch *of = without_variants(search);
    if (!of) return NULL;
    variants_propose(&of->code, of->is_chosen, &clues, MOST_VARIANTS, &of->variants);
    if (take_variants(of)) return of;
    variant_search_free(of);
    return NULL;
}

// Reads the image of the variants that are not left out.
static bool read_image(VariantSearch *of) {
    TaskPtx *ptx = &of->search.ptx;
    Judge *judge = ptx->judge;
    const int task = ptx->task;
    task_ptx_free(ptx);
    text_free(&of->image.text);
    *ptx = (TaskPtx){.judge = judge, .image = &of->image, .task = task};
    return make_image(of) && task_ptx_make(judge, &of->image, task, "kernel.cu", ptx);
}

// The text has the survivors alone from now on: without all other variants its cases take a fraction of the
// time, more than another compilation, which has all optimizations.
static bool narrow(VariantSearch *of) {
    of->is_quick = false;
    for (int v = 0; v < of->variants.count; v++) of->is_left_out[v] = true;
    for (int s = 0; s < of->survivor_count; s++) {
        const int function = of->variants.all[of->survivors[s]].function;
        of->is_left_out[of->survivors[s]] = false;
        for (int t = 0; t < chapter_task_count(of->search.ptx.judge->of); t++)
            if (has_function(of, t, function)) mark_kernels(of, t, "", of->is_needed);
    }
    return of->survivor_count > 0 && read_image(of);
}

void variant_search_keep(VariantSearch *of) {
    if (!of || of->found < 0) {
        variant_search_free(of);
        return;
    }
    Judge *judge = of->search.ptx.judge;
    variant_search_free(judge->proved);
    judge->proved = of;
}

bool variant_search_try_proved(const Search *search) {
    Judge *judge = search->ptx.judge;
    VariantSearch *of = judge->proved;
    const int task = search->ptx.task;
    if (!of || !has_function(of, task, of->variants.all[of->found].function)) return false;
    Search here = *search;
    here.changes = (Changes){0};
    here.ptx = (TaskPtx){.judge = judge, .image = &of->image, .task = task};
    const Change none = {0}, change = change_of(of, of->found), *without[] = {&none}, *with[] = {&change};
    const bool is_proved = task_ptx_make(judge, &of->image, task, "kernel.cu", &here.ptx) &&
                           !search_passes_smallest(&here, without, 1, &here.work) &&
                           search_attempt(&here, with, 1, -1);
    task_ptx_free(&here.ptx);
    return is_proved;
}

bool variant_search_try_known(VariantSearch *of) {
    for (int v = 0; v < of->variants.count && of->survivor_count < MOST_SURVIVORS; v++)
        if (search_knows(&of->search, of->variants.all[v].words)) of->survivors[of->survivor_count++] = v;
    const bool is_known = narrow(of) && choose(of);
    of->survivor_count = 0;
    return is_known;
}

TextVerdict variant_search_try_said(const Search *search, ChangeKind kind) {
    Repair *repair = &search->ptx.judge->judgement->repair, said = *repair;
    VariantSearch *of = without_variants(search);
    TextVerdict verdict = TEXT_SILENT;
    if (!of) return TEXT_SILENT;
    const int places =
        variants_propose_said(&of->code, kind, said.changes[0].line, said.changes[0].words, &of->variants);
    if (take_variants(of)) {
        for (int v = 0; v < of->variants.count && v < MOST_SURVIVORS; v++)
            of->survivors[of->survivor_count++] = v;
        if (narrow(of)) {
            *repair = (Repair){0};
            if (choose(of) && repair->change_count > 0) {
                verdict = TEXT_AGREES;
                repair->is_of_source = false; // the PTX has it, too
            } else if (places == 1) {
                verdict = TEXT_REFUTES;
            }
            if (verdict != TEXT_AGREES) *repair = said;
        }
    }
    variant_search_free(of);
    return verdict;
}

void variant_search_run(VariantSearch *of, double work) {
    of->search.most_work = of->search.work = work;
    of->is_quick = true;
    choose_text(of);
    if (!read_image(of)) return;
    screen(of);
    if (narrow(of)) choose(of);
}
