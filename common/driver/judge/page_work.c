#include "driver/judge/page_work.h"

#include <math.h>

static const double work_of_run = 0.5, work_of_step = 2.7e-6, work_of_compared = 7e-5, work_of_element = 4e-5;
// Two blocks that go through long loops take less than their steps say.
static const double share_of_ends = 0.4;
// Most runs take half a millisecond of a processor or less for each of these, and some three times as much.
// What takes longer than that is taken by its time: the limit is far from what a loaded machine makes of
// others.
static const double most_milliseconds = 2, work_of_millisecond = 2.3;

void page_work_begin(Judge *judge, double most) { judge->work_left = most; }
void page_work_take(Judge *judge, double work) { judge->work_left -= work; }
bool page_work_is_over(const Judge *judge) { return judge->work_left <= 0; }

uint64_t page_work_steps(const Judge *judge) {
    return page_work_is_over(judge) ? 1 : (uint64_t)(judge->work_left / work_of_step) + 1;
}

double page_work_seconds(const Judge *judge) {
    const double least = 1e-3;
    return fmax(1e-3 * judge->work_left / work_of_millisecond, least);
}

static double work_of_launches(const CaseReport *report) {
    return work_of_step * (double)report->steps + work_of_compared * (double)report->race_compared;
}

// `counted`: what its steps and elements are worth.
static double work_of_count(const CaseReport *report, double counted) {
    const double milliseconds = 1000 * report->seconds;
    return milliseconds > most_milliseconds * counted ? work_of_millisecond * milliseconds : counted;
}

double judge_work_of(const CaseReport *report) {
    const double elements = report->settings.is_large ? 0 : (double)report->settings.size.n;
    return work_of_count(report, work_of_run + work_of_launches(report) + work_of_element * elements);
}

double page_work_of_ends(const CaseReport *report) {
    return work_of_count(report, work_of_run + share_of_ends * work_of_launches(report));
}
