// --profile: counters beside the lines of the source, and the time of a CPU for the same work.
#pragma once

#include "driver/page/report.h"
#include "driver/page/terminal.h"

void profile_add(Text *page, const Terminal *terminal, const Report *report);
