// What nvcc printed, message by message.
#pragma once

#include "support/text.h"

typedef enum { COMPILER_ERROR, COMPILER_WARNING, COMPILER_NOTE } CompilerMessageKind;

typedef struct {
    CompilerMessageKind kind;
    char file[640]; // as the log has it; "" for the end of the source
    int line;
    int column;       // 0: not known
    int number;       // 549 of "#549-D"; 0: none
    char words[1200]; // of the first line: no operator "+=" matches these operands
    Text details;     // the lines after it, without indentation: operand types are: float += float4
    char code[1200];  // the line as the compiler sees it, with all macros replaced; "" if it shows none
    int caret;        // the place in `code` that the message is about; -1: none
} CompilerMessage;

// Reads the next message of a log that add_readable_log() has made, and moves `log` behind it. False when
// there is none left. Release message->details with text_free().
bool compiler_next_message(const char **log, CompilerMessage *message);
