// What the elements that were never written have in common in all cases of a task.
#pragma once

#include "driver/diagnose/mistakes.h"
#include "driver/judge/judgement.h"

// Of the task with that number. Nothing if it fails in another way as well.
Facts facts_of_unwritten(const Judgement *judgement, int task);
