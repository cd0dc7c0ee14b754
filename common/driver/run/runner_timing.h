// A program timed on a GPU, in turn with a rival where there is one.
#pragma once

#include "driver/run/runner_program.h"

// Answers a REQUEST_TIME.
void runner_time(Session *session, const Request *request, Reply *reply);
