// A race is believed when it is seen: a schedule that shows it.
#pragma once

#include "driver/judge/state.h"

// judgement->replay says under which schedule the race gives a wrong value. The most promising case runs
// under one seed after the other until a result is wrong.
void judge_show_race(Judge *judge);
