#include "driver/program/schedule.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

Work *schedule_find(Schedule *s, uint64_t number) {
    for (int i = s->count; i-- > 0;)
        if (s->work[i].number == number) return &s->work[i];
    return NULL;
}

static bool has_engine(const Work *w) { return w->work != WORK_EVENT && w->work != WORK_WAIT; }

// Whether work waits for what is before it in another stream, because one of the two is the default stream.
static bool follows(const Work *w, const Work *before) {
    if (w->stream == before->stream) return true;
    return (w->stream == 0 && before->is_blocking) || (before->stream == 0 && w->is_blocking);
}

// When the host has waited.
static double host_after(const Schedule *s, int wait, double host) {
    for (int i = 0; i < s->waits[wait].before; i++) {
        const Work *w = &s->work[i];
        const bool is_meant =
            s->waits[wait].kind == RECORD_WAIT_ALL ||
            (s->waits[wait].kind == RECORD_WAIT_WORK && w->number == s->waits[wait].number) ||
            (s->waits[wait].kind == RECORD_WAIT_STREAM &&
             (w->stream == s->waits[wait].stream || (s->waits[wait].stream == 0 && w->is_blocking)));
        if (is_meant && w->end > host) host = w->end;
    }
    return host;
}

static void place_all(Schedule *s) {
    double host = 0, free_from[ENGINES] = {0};
    for (int i = 0, wait = 0; i < s->count; i++) {
        Work *w = &s->work[i];
        for (; wait < s->wait_count && s->waits[wait].before <= i; wait++) host = host_after(s, wait, host);
        w->start = host;
        for (int k = 0; k < i; k++)
            if ((follows(w, &s->work[k]) || (w->work == WORK_WAIT && s->work[k].number == w->waits_for)) &&
                s->work[k].end > w->start)
                w->start = s->work[k].end;
        if (has_engine(w) && free_from[w->engine] > w->start) w->start = free_from[w->engine];
        w->end = w->start + w->seconds;
        if (has_engine(w)) free_from[w->engine] = w->end;
    }
}

// How long at least one engine works.
static double union_of(const Schedule *s) {
    double all = 0, until = 0;
    bool is_used[MOST_WORK] = {0};
    for (;;) {
        int next = -1;
        for (int i = 0; i < s->count; i++)
            if (!is_used[i] && has_engine(&s->work[i]) &&
                (next < 0 || s->work[i].start < s->work[next].start))
                next = i;
        if (next < 0) return all;
        is_used[next] = true;
        const Work *w = &s->work[next];
        if (w->end > until) all += w->end - fmax(w->start, until);
        until = fmax(until, w->end);
    }
}

// Streams by the order of their first work; the default stream stays 0.
static int name_stream(uint32_t stream, uint32_t known[MOST_STREAMS], int *count) {
    if (stream == 0) return 0;
    for (int i = 0; i < *count; i++)
        if (known[i] == stream) return i + 1;
    if (*count < MOST_STREAMS) known[(*count)++] = stream;
    return *count;
}

static double time_of(Schedule *s, uint64_t number) {
    const Work *w = number ? schedule_find(s, number) : NULL;
    return w ? w->end : (double)NAN;
}

void schedule_run(Schedule *s, Timeline *t) {
    uint32_t known[MOST_STREAMS] = {0};
    double first = INFINITY, last = 0, all = 0, timed = 0;
    place_all(s);
    const double from = time_of(s, s->timed_from), to = time_of(s, s->timed_to);
    for (int i = 0; i < s->count; i++) {
        const Work *w = &s->work[i];
        if (!has_engine(w)) continue;
        first = fmin(first, w->start);
        last = fmax(last, w->end);
        all += w->seconds;
        t->busy[w->engine] += w->seconds;
        if (w->start >= from && w->end <= to) timed += w->seconds;
        const int stream = name_stream(w->stream, known, &t->stream_count);
        if (t->count == MOST_TIMELINE) {
            t->is_cut = true;
            continue;
        }
        TimelineWork *work = &t->work[t->count++];
        *work = (TimelineWork){
            .stream = stream, .engine = w->engine, .start = w->start, .end = w->end, .bytes = w->bytes};
        memcpy(work->name, w->name, sizeof work->name);
    }
    if (t->count == 0) return;
    for (int i = 0; i < t->count; i++) {
        t->work[i].start -= first;
        t->work[i].end -= first;
    }
    t->seconds = last - first;
    double most = 0;
    for (int e = 0; e < ENGINES; e++) most = fmax(most, t->busy[e]);
    t->overlap = all > most ? 100 * (all - union_of(s)) / (all - most) : 0;
    t->timed = all > 0 ? 100 * timed / all : 0;
}
