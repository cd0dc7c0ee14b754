#include "support/command_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_packaged(void) {
    const char *command = getenv("WARPBOOK_COMMAND");
    return command && strcmp(command, "warpbook") == 0;
}

const char *command_run(void) { return is_packaged() ? "warpbook " : "./"; }

const char *command_make(void) { return is_packaged() ? "warpbook " : "make "; }

void command_judge(const char *chapter, char *words, size_t bytes) {
    if (is_packaged())
        snprintf(words, bytes, "warpbook %s", chapter);
    else
        snprintf(words, bytes, "make %s && ./%s", chapter, chapter);
}

void command_hint(const char *chapter, int step, char *words, size_t bytes) {
    char which[24] = "";
    if (step) snprintf(which, sizeof which, is_packaged() ? " --step %d" : " STEP=%d", step);
    snprintf(words, bytes, is_packaged() ? "warpbook hint %s%s" : "make hint-%s%s", chapter, which);
}
