// What the shape of a launch shows of threads that have nothing to do.
#pragma once

#include "driver/diagnose/mistakes.h"
#include "driver/judge/judgement.h"

Facts facts_of_idle_threads(const Judgement *judgement);
