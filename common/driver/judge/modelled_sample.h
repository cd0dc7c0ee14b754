// A few blocks of a launch at its whole size, for the time model: a kernel may take another way there than at
// the smaller sizes from which modelled_runs.h extrapolates.
#pragma once

#include "driver/judge/modelled_runs.h"

// If these blocks show that the launches take longer than extrapolated: replaces the estimate, and returns by
// which factor. Else returns 1.
double modelled_follow_blocks(ModelledTask *modelled, const ModelDevice *device, const ModelledWorks *works,
                              ModelEstimate *estimate);
// Keeps what the blocks of a large case did, so that they need not run again.
void modelled_keep_sample(const CaseShape *whole, const LargeCase *large, const RunReply *reply,
                          ModelledWorks *kept);
