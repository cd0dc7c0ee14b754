// A few blocks of a launch that is too large to run: SAMPLE.
#pragma once

#include "driver/run/runner_program.h"

void runner_sample(Session *session, const Request *request, Reply *reply);
