// The cases of a run: asks each LAUNCH for its shapes, hands the cases to the runners, and collects what they
// answer.
#pragma once

#include "driver/judge/state.h"

// Shapes of all cases, then the cases themselves. False if the device cannot be used any more, or if
// builds_finish() has refused the kernel meanwhile.
bool judge_ask_shapes(Judge *judge);
bool judge_run_cases(Judge *judge);
// What each line counted in a case's reply, for --profile.
void judge_keep_lines(Judge *judge, const Case *one, const CaseLayout *layout, const RunReply *reply);
// A case that was wrong only in comparison with others.
void judge_note_failure(Judge *judge, const CaseReport *report);
