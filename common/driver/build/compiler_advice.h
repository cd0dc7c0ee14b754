// What to write instead of what the compiler refuses or warns about.
#pragma once

#include "driver/build/compiler_messages.h"

// Adds one sentence or two, without a newline. False, with nothing added, if none is known for the message.
// `line` is the text of its line in kernel.cu, `source` all of it.
bool compiler_add_advice(Text *into, const CompilerMessage *message, const char *line, const char *source);
