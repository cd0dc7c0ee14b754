#include "driver/run/timing.h"

#include <math.h>
#include <stdio.h>

#include "support/process.h"

enum { WARM_UP_ROUNDS = 4, MOST_ROUNDS = 32 };
static const double warm_up_seconds = 0.1, longest_warm_up = 2;
// Below the first, a sample is of several runs that take about the second together.
static const double short_run = 20e-6, long_enough = 60e-6;

// Whether the clocks are held down, asked while the device works.
static bool clocks_are_held(const TimingPlan *plan, Timing *timing) {
    char why[128];
    const GpuClocks clocks = gpu_clocks(plan->gpu, why, sizeof why);
    if (clocks == GPU_CLOCKS_UNKNOWN) snprintf(timing->throttle, sizeof timing->throttle, "%s", why);
    if (clocks == GPU_CLOCKS_HELD)
        snprintf(timing->why, sizeof timing->why, "the clocks were throttled by %.60s", why);
    return clocks == GPU_CLOCKS_HELD;
}

// One sample: everything is queued before the host waits, and cleaning the cache keeps the device busy until
// the timed region is completely queued, so that the host causes no gap in it. If the host was late, it gets
// a longer lead the next time. False in `is_good` for a sample that cannot be used.
static bool sample(const TimingPlan *plan, int which, int copies, GpuTimer *timer, Timing *timing,
                   double *seconds, bool *is_good, GpuError *error) {
    const TimedProgram *program = plan->programs[which];
    bool fine = true, is_ahead = false;
    for (int c = 0; fine && c < copies; c++) fine = program->restore(program->context, c, error);
    fine = fine && sweep_queue(plan->sweep, error) && gpu_timer_start(plan->gpu, timer, error);
    for (int c = 0; fine && c < copies; c++) fine = program->run(program->context, c, error);
    fine = fine && gpu_timer_stop(plan->gpu, timer, error) &&
           gpu_timer_is_ahead(plan->gpu, timer, &is_ahead, error);
    if (!fine) return false;
    if (clocks_are_held(plan, timing)) *is_good = false;
    if (!is_ahead) {
        snprintf(timing->why, sizeof timing->why, "the host queued the GPU's work too late");
        if (plan->sweep->rounds < MOST_ROUNDS) plan->sweep->rounds *= 2;
        *is_good = false;
    }
    if (!gpu_synchronize(plan->gpu, error) || !gpu_timer_seconds(plan->gpu, timer, seconds, error))
        return false;
    *seconds /= copies;
    return true;
}

static int program_count(const TimingPlan *plan) { return plan->programs[1] ? 2 : 1; }

bool timing_estimate(const TimingPlan *plan, double *seconds, GpuError *error) {
    GpuTimer *timer = NULL;
    *seconds = INFINITY;
    if (!gpu_timer_create(plan->gpu, &timer, error)) return false;
    const double began = monotonic_seconds();
    Timing ignored = {0};
    bool fine = true, is_good;
    for (int round = 0; fine; round++) {
        const double elapsed = monotonic_seconds() - began;
        if ((round >= WARM_UP_ROUNDS && elapsed >= warm_up_seconds) || elapsed >= longest_warm_up) break;
        for (int p = 0; fine && p < program_count(plan); p++) {
            double one = 0;
            fine = sample(plan, p, 1, timer, &ignored, &one, &is_good, error);
            if (fine && (round > 0 || !isfinite(*seconds))) *seconds = fmin(*seconds, one);
        }
    }
    gpu_timer_free(plan->gpu, timer);
    return fine;
}

int timing_copies(double seconds, int most) {
    if (!(seconds < short_run)) return 1;
    const double wanted = ceil(long_enough / fmax(seconds, 1e-7));
    return wanted < most ? (int)wanted : most;
}

bool timing_take(const TimingPlan *plan, const StopRule *rule, Timing *timing, GpuError *error) {
    const int programs = program_count(plan);
    GpuTimer *timer = NULL;
    if (!gpu_timer_create(plan->gpu, &timer, error)) return false;
    timing->count = timing->dropped = 0;
    const double began = monotonic_seconds();
    bool fine = true;
    for (int pair = 0; fine; pair++) {
        if (is_enough(rule, timing->seconds[0], programs > 1 ? timing->seconds[1] : NULL, timing->count,
                      monotonic_seconds() - began))
            break;
        double seconds[2] = {0};
        bool is_good = true;
        // The order alternates, so that drift favours neither.
        for (int k = 0; fine && k < programs; k++) {
            const int which = programs > 1 ? (k + pair) % 2 : 0;
            fine = sample(plan, which, plan->copies, timer, timing, &seconds[which], &is_good, error);
        }
        if (!fine) break;
        if (!is_good) {
            timing->dropped++;
            continue;
        }
        for (int p = 0; p < programs; p++) timing->seconds[p][timing->count] = seconds[p];
        timing->count++;
    }
    gpu_timer_free(plan->gpu, timer);
    return fine;
}
