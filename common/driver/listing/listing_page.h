// ./chNN --ptx and --sass: each source line with its instructions and what they do.
#pragma once

#include "driver/listing/listing.h"
#include "driver/page/terminal.h"

// Of each function. `source_text` may be NULL: then only the numbers of lines are shown.
void listing_add_page(Text *page, const Terminal *terminal, const Listing *listing, const char *source_text);
