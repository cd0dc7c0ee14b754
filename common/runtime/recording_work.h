// The part of the record that is about operations: what a program asks for, and what is carried out.
#pragma once

#include "runtime/op.h"

void recording_issue(const Op *op);
// Before it runs, and after.
void recording_run(const Op *op);
void recording_ran(const Op *op);
