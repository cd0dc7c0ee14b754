// What a change of the PTX says, written into kernel.cu: a compiler may have turned a loop round, so that `<`
// of the PTX is not the `<` of the source.
#include <stdio.h>
#include <string.h>

#include "driver/judge/variants/proposer.h"

enum { WORD = 64 };

// "32 instead of one of the numbers 31 in line 30". False: the words are about something else.
static bool read_words(const char *words, char now[WORD], char was[WORD]) {
    static const char of_several[] = "one of the numbers ";
    int behind = 0;
    if (sscanf(words, "%63s instead of %n", now, &behind) != 1 || behind == 0) return false;
    if (strncmp(words + behind, of_several, sizeof of_several - 1) == 0) behind += (int)sizeof of_several - 1;
    int end = 0;
    return sscanf(words + behind, "%63s in line %n", was, &end) == 1 && end > 0;
}

int variants_propose_said(const Code *code, ChangeKind kind, int line, const char *words,
                          Variants *variants) {
    const Proposer proposer = {.code = code, .variants = variants};
    char now[WORD], was[WORD];
    int places = 0;
    if (!read_words(words, now, was)) return 0;
    for (int at = 0; at < code->tokens.count; at++) {
        if (code->tokens.all[at].line != line || !token_is(&code->tokens, at, was)) continue;
        places++;
        if (code->is_open[at]) proposer_replace(&proposer, kind, LIKELY, at, at, now);
    }
    return places;
}
