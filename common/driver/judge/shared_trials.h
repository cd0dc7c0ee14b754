// Trials that do not depend on each other, every second of which another process does meanwhile where a
// processor is free. Their results come in order, and are the same with one process.
#pragma once

#include "driver/judge/state.h"

typedef struct SharedTrials SharedTrials;

// Fills a result, and may take from the page's work: for each as much is left as at the beginning, or `most`.
typedef void SharedTrial(void *context, int which, void *result);

// Those from `first` on. Results are `bytes` long and hold no pointers. NULL: memory ran out. What a trial
// changes besides its result may be lost.
SharedTrials *shared_trials_begin(Judge *judge, int first, int count, double most, size_t bytes,
                                  SharedTrial *trial, void *context);
// The result of the next one, valid until the end. Says how much work it was, and takes from the page's what
// that is for two processes.
const void *shared_trials_next(SharedTrials *trials, double *work);
void shared_trials_end(SharedTrials *trials);
