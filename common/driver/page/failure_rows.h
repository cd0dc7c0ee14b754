// A failure on the page: what happened, why, where, and how to see it again.
#pragma once

#include "driver/page/report.h"
#include "driver/page/terminal.h"

// The first failure in full, and the number of the others.
void page_add_failure(Text *page, const Terminal *terminal, const Report *report);
// The mistake by its name if it is known, otherwise the verdict's usual cause. `why` is the evidence of the
// numbers (`is_evidence`, shown in either case) or the general sentence. `task`: -1 for none.
void page_add_why(Text *page, const Terminal *terminal, const Report *report, const char *why,
                  bool is_evidence, int task);
// "n = 4,096, integers": what tells a case from others of its task, without its schedule.
void page_case_words(const Report *report, const Case *one, Text *words);
// Why nothing could be judged. Of kernel.cu, all that the compiler says: a judgement keeps only the first
// 1,200 bytes.
const char *page_message(const Report *report);
// "with __syncthreads() before line 32, all 58 cases of up to 131,072 elements pass", of a repair that was
// found; without the changes if the page may not name them.
void page_repair_words(const Report *report, Text *words);
// Whether there is a repair that the page may show at all.
bool page_shows_repair(const Report *report);
// Whether the page may say what was changed: a chapter that asks for the names of mistakes does not.
bool page_names_changes(const Report *report);
