// With which coefficients an image was filtered, if they are fixed and the same for every output. One element
// that is 1 in an image of zeros leaves each coefficient in the output around it that takes the element so;
// then an image of other numbers has to come out as these coefficients give it.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver/judge/account.h"
#include "driver/plan/elements.h"
#include "driver/plan/filter.h"
#include "support/text.h"

enum { SIDE = 2 * MAX_FILTER_RADIUS + 1 };

typedef struct {
    Account *account;
    int radius;
    long long rows, columns;
    float *image;
    double weights[SIDE][SIDE]; // as they were found: of the element dy rows below and dx columns aside
} Weights;

static double output_at(const Weights *of, long long row, long long column) {
    return account_result(of->account, row * of->columns + column);
}

// False if the element reaches an output that is farther away.
static bool find_weights(Weights *of) {
    const long long row = of->rows / 2, column = of->columns / 2;
    of->image[row * of->columns + column] = 1;
    const bool has_run = account_run(of->account);
    of->image[row * of->columns + column] = 0;
    for (long long r = 0; has_run && r < of->rows; r++)
        for (long long c = 0; c < of->columns; c++) {
            const long long dy = row - r, dx = column - c;
            const double value = output_at(of, r, c);
            if (!isfinite(value)) return false;
            if (llabs(dy) <= of->radius && llabs(dx) <= of->radius)
                of->weights[dy + of->radius][dx + of->radius] = value;
            else if (value != 0)
                return false;
        }
    return has_run;
}

// Whether an output may be what those coefficients give at its place.
static bool is_filtered(const Weights *of, long long row, long long column) {
    double sum = 0, magnitude = 0;
    for (int dy = -of->radius; dy <= of->radius; dy++)
        for (int dx = -of->radius; dx <= of->radius; dx++) {
            const long long r = row + dy, c = column + dx;
            if (r < 0 || r >= of->rows || c < 0 || c >= of->columns) continue;
            const double product =
                of->weights[dy + of->radius][dx + of->radius] * (double)of->image[r * of->columns + c];
            sum += product;
            magnitude += fabs(product);
        }
    const double terms = (2 * of->radius + 1) * (2 * of->radius + 1);
    return fabs(output_at(of, row, column) - sum) <= (terms + 2) * 0x1p-24 * magnitude;
}

static bool are_confirmed(const Weights *of) {
    enum { LIMIT = 1000 };
    for (long long i = 0; i < of->rows * of->columns; i++)
        of->image[i] = (float)account_drawn(of->account, task_input(of->account->task), i, LIMIT);
    if (!account_run(of->account)) return false;
    for (long long r = 0; r < of->rows; r++)
        for (long long c = 0; c < of->columns; c++)
            if (!is_filtered(of, r, c)) return false;
    return true;
}

// "the element itself counts 0.2 times, not 0.5 times; that at row -1, column +0 from it counts ..."
static int say_weights(const Weights *of, Text *words) {
    enum { SHOWN = 5 };
    const int side = 2 * of->radius + 1, middle = side * side / 2;
    int wrong = 0;
    for (int n = 0; n < side * side; n++) {
        const int k = n == 0 ? middle : n <= middle ? n - 1 : n; // the middle one first
        const int dy = k / side - of->radius, dx = k % side - of->radius;
        const double right = (double)of->account->task->filter.fixed[k],
                     found = of->weights[dy + of->radius][dx + of->radius];
        char place[64] = "the element itself";
        if (found == right || wrong++ >= SHOWN) continue;
        if (k != middle) snprintf(place, sizeof place, "that at row %+d, column %+d from it", dy, dx);
        text_printf(words, "%s%s counts %.6g times, not %.6g times", wrong > 1 ? "; " : "", place, found,
                    right);
    }
    if (wrong > SHOWN) text_add(words, "; and so on");
    return wrong;
}

bool account_filter_weights(Account *account, Accounting *out) {
    const Task *task = account->task;
    const int in = task_input(task), output = task_output(task);
    static Weights of;
    of = (Weights){.account = account,
                   .radius = task->filter.radius,
                   .rows = account->one.size.rows,
                   .columns = account->one.size.columns,
                   .image = account->inputs[in]};
    const long long least = 4LL * of.radius + 1;
    if (!task->filter.fixed || task->buffers[in].type != F32 || task->buffers[output].type != F32 ||
        of.rows < least || of.columns < least || !find_weights(&of) || !are_confirmed(&of))
        return false;
    Text words = {0};
    const int wrong = say_weights(&of, &words);
    if (wrong > 0) {
        out->n = account->one.size.n;
        out->misplaced = out->n;
        snprintf(out->words, sizeof out->words, "in every output %s", text_chars(&words));
    }
    text_free(&words);
    return wrong > 0;
}
