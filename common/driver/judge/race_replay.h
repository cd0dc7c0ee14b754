// A race is believed when it is seen: a schedule that shows it.
#pragma once

#include "driver/judge/state.h"

// judgement->replay says under which schedule the race gives a wrong value. The case with the most to lose in
// little time is run under one seed after the other until a result is wrong.
void judge_show_race(Judge *judge);
