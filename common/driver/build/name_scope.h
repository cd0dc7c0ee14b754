// Where a name of kernel.cu may be used, for advice on one that the compiler does not know there.
#pragma once

#include <stdbool.h>

typedef struct {
    int line;            // of the declaration; 0: none
    bool is_visible;     // at the place of the use, so that only an error elsewhere hides it
    bool is_below;       // declared after the use, where the use would see it
    char structure[128]; // the struct that it is a part of; "": none
    char object[128];    // a variable of that struct that the use can see, as "of." or "of->"; "": none
    int statement_line;  // of the for, while, if or else whose only statement it is, without { }; 0: none
    char keyword[8];     // which of them
} NameScope;

// Of the first declaration of `name`, seen from a column of a line; column 0: from the beginning of the line.
NameScope name_scope(const char *source, const char *name, int line, int column);
