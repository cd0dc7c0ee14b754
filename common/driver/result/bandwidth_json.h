// The "bandwidth" and "timings" of the JSON.
#pragma once

#include "support/json.h"
#include "driver/page/report.h"

// "bandwidth": {...} or null.
void result_add_bandwidth(JsonWriter *json, const Report *report);
// "timings": [...], where sizes were timed one by one.
void result_add_timings(JsonWriter *json, const Report *report);
