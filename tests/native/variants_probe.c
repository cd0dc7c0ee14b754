// The variants of a kernel.cu, all functions of it: their words in lines, or with --text the text that has
// them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/variants/variants.h"
#include "support/file.h"

enum { MOST_BYTES = 1 << 22, MOST_VARIANTS = 4000, MOST_IN_TEXT = 900 };

int main(int count, char **arguments) {
    Text source = {0}, text = {0};
    FileError error;
    Code code;
    Variants variants = {0};
    VariantLines lines;
    const bool wants_text = count == 3 && strcmp(arguments[2], "--text") == 0;
    if (count < 2 || !read_regular_file(arguments[1], MOST_BYTES, &source, &error)) return 2;
    if (!code_make(text_chars(&source), &code)) return 3;
    bool *all = malloc((size_t)code.function_count + 1);
    bool *none = calloc(MOST_VARIANTS, sizeof *none);
    if (!all || !none) return 3;
    memset(all, true, (size_t)code.function_count + 1);
    variants_propose(&code, all, &(VariantClues){.is_of_order = true},
                     wants_text ? MOST_IN_TEXT : MOST_VARIANTS, &variants);
    variants_write(&code, &variants, none, all, &text, &lines);
    if (wants_text)
        fwrite(text_chars(&text), 1, text.bytes, stdout);
    else
        for (int v = 0; v < variants.count; v++) puts(variants.all[v].words);
    free(all);
    free(none);
    free(lines.all);
    variants_free(&variants);
    code_free(&code);
    text_free(&text);
    text_free(&source);
    return 0;
}
