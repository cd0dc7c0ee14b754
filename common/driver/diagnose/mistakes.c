#include "driver/diagnose/mistakes.h"

#include <string.h>

// The first entry whose clues all hold is named, so the order of the two files matters.
const Mistake mistakes[] = {
#include "driver/diagnose/mistakes_by_task.def"
#include "driver/diagnose/mistakes_stopped.def"
#include "driver/diagnose/mistakes_result.def"
};
const int mistake_count = sizeof mistakes / sizeof mistakes[0];

const Mistake *mistake_named(const char *slug) {
    for (int i = 0; i < mistake_count; i++)
        if (strcmp(mistakes[i].slug, slug) == 0) return &mistakes[i];
    return NULL;
}
