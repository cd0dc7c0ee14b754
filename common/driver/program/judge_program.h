// Judges a chapter whose kernel.cu is a whole program.
//
// The program runs on the host, in its own process, which gets the input and nothing else: not the right
// results, not what they are drawn from, not this process. What it leaves behind is judged here:
//
//   result    its results, which are compared with the right ones
//   record    what it asked of the device; replay.h carries it out again, which shows whether the results
//             are the work of kernels, what these do wrong, and the timeline
//   findings  what the runtime library found, in the program's own process. A program could suppress
//             that, but then its record, too, must be one of a program that does its work
//
// For a class the steps are apart, because the program runs in its own sandbox: --write-cases, then
// build/bin/run_program there, then --outcomes.
#pragma once

#include "driver/judge/judge.h"

// As judge(). `program` is the compiled program, `source` the kernel.cu as people know it, `tree` the
// package's folder, or "" in a checkout.
void judge_program(const Chapter *of, const Subjects *subjects, const char *program, const char *source,
                   const char *tree, const Options *options, JudgeProgress progress, Judgement *judgement);
// Writes the cases into options->cases_folder. False with the reason in `why`.
bool judge_program_write_cases(const Chapter *of, const Subjects *subjects, const Options *options, char *why,
                               size_t why_bytes);
