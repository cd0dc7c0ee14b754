// The cases of a program: its argument names one, or `all` of the right ones.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>

static const char *running; // the case
static void need(bool good) {
    if (good) return;
    fprintf(stderr, "%s fails\n", running);
    exit(3);
}

#define CASE(name) {#name, name}
typedef struct {
    const char *name;
    void (*run)();
} Case;

// Returns the program's exit status: 2 if the argument names no case.
template <size_t COUNT>
static int run_cases(const Case (&cases)[COUNT], bool are_right, const char *name) {
    for (const Case &c : cases)
        if (!strcmp(c.name, name) || (are_right && !strcmp("all", name))) {
            running = c.name;
            c.run();
        }
    return running ? 0 : 2;
}
