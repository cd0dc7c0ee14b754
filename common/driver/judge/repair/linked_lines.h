// Whether a line of kernel.cu has what another one computes: a change of either may be one of the same value.
#pragma once

#include <stdbool.h>

// `source`: the text of kernel.cu; NULL: not known. Lines count from 1.
bool lines_are_linked(const char *source, int a, int b);
// Whether a line says a variable that the statement `text` assigns to.
bool text_leads_to(const char *text, const char *source, int line);
