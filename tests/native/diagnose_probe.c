// The catalogue of mistakes and the engine that matches it, without a device: the evidence comes from the
// command line, line by line from standard input.
//
//   diagnose_probe catalogue            one entry a line: slug, title, why, lessons, shape names,
//   tab-separated,
//                                       then its expressions; status 1 when one of them does not compile
//   diagnose_probe shapes               the names of the shapes of error
//   diagnose_probe match                KEY VALUE lines; prints slug, why, hint, lesson and check.why, one a
//   line diagnose_probe fit COUNT MISALIGNMENT BLOCKS THREADS NAME
//                                       makes the sum that shape NAME predicts and prints the shapes that fit
//                                       it
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/diagnose/diagnose.h"
#include "support/text.h"

const Chapter chapter = {
    .number = 4,
    .name = "ch04",
    .tasks = {{.name = "sum",
               .buffers = {{.name = "in", .role = INPUT},
                           {.name = "scratch", .role = SCRATCH},
                           {.name = "partial", .role = OUTPUT}},
               .launches = {{.kernel = "sum"}},
               .expect = EXPECT_SUM}},
    .goals = {{.words = "sectors", .measure = "global_ld_sectors / global_ld_requests"}},
};

static bool compiles(const char *expression) {
    regex_t compiled;
    if (!expression) return true;
    if (regcomp(&compiled, expression, REG_EXTENDED | REG_NOSUB) != 0) return false;
    regfree(&compiled);
    return true;
}

static int print_catalogue(void) {
    int status = 0;
    for (int i = 0; i < mistake_count; i++) {
        const Mistake *m = &mistakes[i];
        const char *expressions[] = {m->says, m->line, m->other, m->loop, m->source, m->absent, m->missed};
        printf("%s\t%s\t%s\t%s\t%s\t%u\n", m->slug, m->title, m->why, m->lessons, m->shape ? m->shape : "",
               m->verdicts);
        for (size_t e = 0; e < sizeof expressions / sizeof expressions[0]; e++) {
            if (compiles(expressions[e])) continue;
            fprintf(stderr, "%s: %s does not compile\n", m->slug, expressions[e]);
            status = 1;
        }
        const unsigned compilers = BIT(VERDICT_BUILD) | BIT(VERDICT_BUILD_TIMEOUT);
        if (m->verdicts & compilers && (!m->says || m->source || m->absent)) {
            fprintf(stderr, "%s: only the compiler's message may explain why a kernel does not compile\n",
                    m->slug);
            status = 1;
        }
        for (const Mistake *other = mistakes; other < m; other++) {
            if (strcmp(other->slug, m->slug) != 0 || strcmp(other->title, m->title) == 0) continue;
            fprintf(stderr, "%s has two titles\n", m->slug);
            status = 1;
        }
    }
    return status;
}

static FindingKind finding_named(const char *name) {
    for (int kind = 0; kind < FINDING_KINDS; kind++)
        if (strcmp(finding_name((FindingKind)kind), name) == 0) return (FindingKind)kind;
    return FINDING_NONE;
}

static CheckOutcome outcome_named(const char *name) {
    for (int outcome = 0; outcome <= CHECK_BROKEN; outcome++)
        if (strcmp(check_outcome_name((CheckOutcome)outcome), name) == 0) return (CheckOutcome)outcome;
    return CHECK_BROKEN;
}

static ShapeSet shape_named(const char *name) {
    ShapeSet set = {0};
    for (int s = 0; s < error_shape_count(); s++) {
        const ShapeSet one = only_shape(s);
        if (strcmp(error_shape(s)->name, name) != 0) continue;
        for (size_t w = 0; w < sizeof set.bits / sizeof set.bits[0]; w++) set.bits[w] |= one.bits[w];
    }
    return set;
}

static int match(void) {
    static Judgement judgement;
    static Chapter of;
    static CaseReport report, reports[4]; // the one told; others, by `again` and `ended`
    int report_count = 1;
    Finding *finding = &report.finding;
    Text source = {0};
    char line[1024], repaired[32];
    bool has_case = true;
    of = chapter;
    long long per_block = 0; // elements; 0: every case has one block
    report.was_run = true;
    report.settings.size.n = 33;
    report.shape = (CaseShape){.launch_count = 1, .launches = {{.blocks = 1, .warps = 8, .threads = 256}}};
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        char *value = strchr(line, ' ');
        if (!value) continue;
        *value++ = '\0';
        if (strcmp(line, "verdict") == 0) judgement.verdict = report.verdict = verdict_from_word(value);
        if (strcmp(line, "message") == 0) {
            snprintf(finding->message, sizeof finding->message, "%s", value);
            snprintf(judgement.message, sizeof judgement.message, "%s", value);
            snprintf(report.check.what, sizeof report.check.what, "%s", value);
        }
        if (strcmp(line, "finding") == 0) {
            finding->kind = finding_named(value);
            report.has_finding = true;
        }
        if (strcmp(line, "check") == 0) {
            report.check.outcome = outcome_named(value);
            report.has_check = true;
        }
        if (strcmp(line, "shape") == 0) judgement.shapes[0] = shape_named(value);
        if (strcmp(line, "line") == 0) finding->place.line = atoi(value);
        if (strcmp(line, "other") == 0) finding->other_place.line = atoi(value);
        if (strcmp(line, "object") == 0) snprintf(finding->object, sizeof finding->object, "%s", value);
        if (strcmp(line, "index") == 0) finding->index = atoll(value);
        if (strcmp(line, "bytes") == 0) finding->bytes = (unsigned)atoi(value);
        if (strcmp(line, "size") == 0) finding->object_bytes = (uint64_t)atoll(value);
        if (strcmp(line, "store") == 0) finding->is_store = true;
        if (strcmp(line, "endless") == 0) finding->is_endless = true;
        if (strcmp(line, "repair") == 0) {
            snprintf(repaired, sizeof repaired, "%s", value);
            judgement.repair.changes[judgement.repair.change_count++].name = repaired;
        }
        if (strcmp(line, "other_block") == 0) finding->other_block[0] = (unsigned)atoi(value);
        if (strcmp(line, "n") == 0) report.settings.size.n = atoll(value);
        if (strcmp(line, "difference") == 0) report.check.difference = atof(value);
        if (strcmp(line, "got") == 0) report.check.got = atof(value);
        if ((strcmp(line, "again") == 0 || strcmp(line, "ended") == 0) && report_count < 4) {
            reports[report_count].verdict = line[0] == 'e' ? VERDICT_PASS : report.verdict;
            reports[report_count++].settings.size.n = atoll(value);
        }
        if (strcmp(line, "no_case") == 0) has_case = false;
        if (strcmp(line, "threads") == 0) report.shape.launches[0].threads = atoll(value);
        if (strcmp(line, "workspace") == 0) of.tasks[0].buffers[1].role = ZEROED;
        if (strcmp(line, "per_block") == 0) per_block = atoll(value);
        if (strcmp(line, "code") == 0) {
            text_add(&source, value);
            text_add_char(&source, '\n');
        }
    }
    reports[0] = report;
    for (int i = 1; i < report_count; i++) {
        const CaseReport other = reports[i];
        reports[i] = report;
        reports[i].settings.size.n = other.settings.size.n;
        reports[i].verdict = other.verdict;
        if (other.verdict == VERDICT_PASS) reports[i].check.outcome = CHECK_RIGHT;
    }
    for (int i = 0; i < report_count && per_block > 0; i++) {
        ShapeOfLaunch *launch = &reports[i].shape.launches[0];
        launch->block_threads = 256;
        launch->blocks = (reports[i].settings.size.n + per_block - 1) / per_block;
    }
    judgement.cases = reports;
    judgement.case_count = has_case ? report_count : 0;
    judgement.first = has_case ? 0 : -1;
    Diagnosis diagnosis;
    diagnose(&of, source.bytes ? text_chars(&source) : NULL, &judgement, &diagnosis);
    printf("%s\n%s\n%d\n%s\n%s\n", diagnosis.mistake ? diagnosis.mistake->slug : "none", diagnosis.why,
           diagnosis.hint, diagnosis.lesson, reports[0].check.why);
    text_free(&source);
    return 0;
}

static int fit(char **a) {
    const long long count = atoll(a[0]);
    const unsigned misalignment = (unsigned)atoi(a[1]);
    CaseShape shape = {.launch_count = 1};
    ShapeOfLaunch *launch = &shape.launches[0];
    launch->blocks = atoll(a[2]);
    launch->block_threads = atoi(a[3]);
    launch->threads = launch->blocks * launch->block_threads;
    float *values = calloc((size_t)count + 1, sizeof *values);
    if (!values) return 3;
    fill_inputs(values, F32, count, count, FAMILY_INTEGERS, 0, 0);
    double expected = 0, got = 0;
    // The sum that the shape stands for, found by asking for it: exactly one number fits.
    const ShapeSet wanted = shape_named(a[4]);
    const long long head = (4 - misalignment / 4 % 4) % 4;
    const ShapeView view = {.count = count,
                            .head = head < count ? head : count,
                            .threads = launch->threads,
                            .block = launch->block_threads,
                            .blocks = launch->blocks};
    for (int s = 0; s < error_shape_count(); s++) {
        if (!has_shape(&wanted, s)) continue;
        for (long long i = 0; i < count; i++) {
            expected += (double)values[i];
            got += (double)error_shape(s)->times(&view, i) * (double)values[i];
        }
        break;
    }
    const ShapeSet found =
        shapes_that_fit(all_shapes(), values, F32, count, misalignment, &shape, expected, got);
    for (int s = 0; s < error_shape_count(); s++)
        if (has_shape(&found, s)) printf("%s\n", error_shape(s)->name);
    free(values);
    return expected == got;
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    if (strcmp(what, "catalogue") == 0) return print_catalogue();
    if (strcmp(what, "match") == 0) return match();
    if (strcmp(what, "fit") == 0 && count == 7) return fit(arguments + 2);
    for (int s = 0; s < error_shape_count(); s++)
        printf("%s\t%s\n", error_shape(s)->name, error_shape(s)->words);
    return 0;
}
