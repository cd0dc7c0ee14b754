// A program timed on a GPU, in turn with a rival where there is one.
#ifndef WARPBOOK_RUNNER_TIMING_H
#define WARPBOOK_RUNNER_TIMING_H

#include "driver/run/runner_program.h"

// Answers a REQUEST_TIME.
void runner_time(Session *session, const Request *request, Reply *reply);

#endif
