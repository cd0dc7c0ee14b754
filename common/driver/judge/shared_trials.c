#include "driver/judge/shared_trials.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/system.h"
#include "driver/judge/page_work.h"

// Of what one process would take.
static const double share_of_two = 0.6;

struct SharedTrials {
    Judge *judge;
    SharedTrial *trial;
    void *context;
    int first, count, next;
    size_t bytes;
    double *works;          // by trial from the first on; in memory that both processes have
    unsigned char *results; // the same
    size_t mapped;
    bool is_for_two; // there are several, whether or not this machine has two processors
    double left;     // of the page's work, for each trial
    pid_t process;   // that does those at odd places; 0: there is none
    int told;        // from which a byte comes for each that is done
};

static void do_trial(const SharedTrials *trials, int place) {
    trials->judge->work_left = trials->left;
    trials->trial(trials->context, trials->first + place, trials->results + (size_t)place * trials->bytes);
    trials->works[place] = trials->left - trials->judge->work_left;
}

// In the other process, which ends with this one. It starts its own runner.
static void do_odd_ones(SharedTrials *trials, int tell, pid_t parent) {
    system_end_with_parent(SIGKILL);
    if (getppid() != parent) _exit(0);
#ifdef _OPENMP
    omp_set_num_threads(1); // the others are threads of the first process
#endif
    trials->judge->changed = NULL;
    for (int place = 1; place < trials->count; place += 2) {
        do_trial(trials, place);
        if (write(tell, "", 1) != 1) _exit(0);
    }
    _exit(0);
}

static void begin_process(SharedTrials *trials) {
    int ends[2];
    if (trials->count < 2 || sysconf(_SC_NPROCESSORS_ONLN) < 2 || !system_pipe(ends)) return;
    const pid_t parent = getpid(), process = fork();
    if (process == 0) do_odd_ones(trials, ends[1], parent);
    close(ends[1]);
    if (process > 0) {
        trials->process = process;
        trials->told = ends[0];
    } else {
        close(ends[0]);
    }
}

SharedTrials *shared_trials_begin(Judge *judge, int first, int count, double most, size_t bytes,
                                  SharedTrial *trial, void *context) {
    SharedTrials *trials = calloc(1, sizeof *trials);
    if (!trials) return NULL;
    *trials = (SharedTrials){.judge = judge,
                             .trial = trial,
                             .context = context,
                             .first = first,
                             .count = count - first,
                             .bytes = bytes,
                             .left = most < judge->work_left ? most : judge->work_left};
    if (trials->count < 0) trials->count = 0;
    trials->is_for_two = trials->count > 1;
    trials->mapped = ((size_t)trials->count + 1) * (sizeof *trials->works + bytes);
    void *memory = mmap(NULL, trials->mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        free(trials);
        return NULL;
    }
    trials->works = memory;
    trials->results = (unsigned char *)(trials->works + trials->count + 1);
    begin_process(trials);
    return trials;
}

static void end_process(SharedTrials *trials) {
    if (trials->process == 0) return;
    kill(trials->process, SIGKILL);
    while (waitpid(trials->process, NULL, 0) < 0 && errno == EINTR) continue;
    close(trials->told);
    trials->process = 0;
}

// Whether the other process has done the next of its trials.
static bool is_done_there(SharedTrials *trials) {
    char byte;
    ssize_t got = -1;
    if (trials->process == 0) return false;
    while ((got = read(trials->told, &byte, 1)) < 0 && errno == EINTR) continue;
    if (got == 1) return true;
    end_process(trials); // the rest is done here
    return false;
}

const void *shared_trials_next(SharedTrials *trials, double *work) {
    const int place = trials->next++;
    const double left = trials->judge->work_left;
    if (place % 2 == 0 || !is_done_there(trials)) do_trial(trials, place);
    *work = trials->works[place];
    trials->judge->work_left = left;
    page_work_take(trials->judge, trials->is_for_two ? share_of_two * *work : *work);
    return trials->results + (size_t)place * trials->bytes;
}

void shared_trials_end(SharedTrials *trials) {
    if (!trials) return;
    end_process(trials);
    munmap(trials->works, trials->mapped);
    free(trials);
}
