#include "driver/judge/account_fit.h"

// A formula is a form with a unit: a number, or a number of times what the launch has of something.
typedef enum {
    CONSTANT,
    REST,
    ALL_BUT,
    ALL_WITHOUT_REST,
    UNIT,
    QUOTIENT,
    BEFORE_LAST,
    BLOCK_LATER,
    FORMS
} Form;
typedef enum { ONE, BLOCK, GRID, THREADS, BASES } Base;
enum {
    MOST_CONSTANT = 33, // of the first two forms, 0 among them
    SHIFTS = 5,         // times 1, 2, 4, 8 or 16 of each base, and of 1 times 2 to 32
    UNITS = BASES * SHIFTS,
    FORMULAS = 2 * MOST_CONSTANT + (FORMS - 2) * UNITS,
};

typedef struct {
    Form form;
    Base base;
    long long number; // the constant, or how many times the base
} Formula;

// From the simplest to others.
static Formula formula_of(int number) {
    if (number < MOST_CONSTANT) return (Formula){CONSTANT, ONE, number};
    number -= MOST_CONSTANT;
    if (number < MOST_CONSTANT) return (Formula){ALL_BUT, ONE, number};
    number -= MOST_CONSTANT;
    static const Form forms[FORMS - 2] = {REST, ALL_WITHOUT_REST, UNIT, QUOTIENT, BEFORE_LAST, BLOCK_LATER};
    const Base base = (Base)(number % UNITS / SHIFTS);
    return (Formula){forms[number / UNITS], base, 1LL << (number % SHIFTS + (base == ONE))};
}

static long long base_of(Base base, const ShapeOfLaunch *launch) {
    switch (base) {
    case BLOCK: return launch->block_threads;
    case GRID: return launch->blocks;
    case THREADS: return launch->threads;
    default: return 1;
    }
}

static long long value_of(int number, long long n, const ShapeOfLaunch *launch) {
    const Formula formula = formula_of(number);
    const long long unit = formula.number * base_of(formula.base, launch), whole = unit ? n - n % unit : 0;
    switch (formula.form) {
    case CONSTANT: return formula.number;
    case ALL_BUT: return n - formula.number;
    case REST: return n - whole;
    case ALL_WITHOUT_REST: return whole;
    case UNIT: return unit;
    case QUOTIENT: return unit ? n / unit : 0;
    case BLOCK_LATER: return whole + launch->block_threads;
    default: return whole - unit;
    }
}

// Of what may be outside of the elements.
static long long place_of(int number, long long n, const ShapeOfLaunch *launch) {
    const long long value = value_of(number, n, launch);
    return value < 0 ? 0 : value > n ? n : value;
}

// The next formula from `first` on that gives what all accounts have; FORMULAS: none is left.
static int next_formula(const FitPoint *points, int count, int first, bool is_end) {
    for (int f = first; f < FORMULAS; f++) {
        bool fits = true;
        for (int p = 0; p < count && fits; p++)
            fits = place_of(f, points[p].n, &points[p].launch) ==
                   (is_end ? points[p].stretch.end : points[p].stretch.begin);
        if (fits) return f;
    }
    return FORMULAS;
}

bool account_fit(const FitPoint *points, int count, StretchFit *fit) {
    if (count < FIT_LEAST) return false;
    if (fit->begin < 0) fit->begin = next_formula(points, count, 0, false);
    fit->end = next_formula(points, count, fit->end + 1, true);
    if (fit->end == FORMULAS) {
        fit->begin = next_formula(points, count, fit->begin + 1, false);
        fit->end = next_formula(points, count, 0, true);
    }
    return fit->begin < FORMULAS && fit->end < FORMULAS;
}

bool account_fit_is_all(const StretchFit *fit) {
    const Formula begin = formula_of(fit->begin), end = formula_of(fit->end);
    return begin.form == CONSTANT && begin.number == 0 && end.form == ALL_BUT && end.number == 0;
}

long long account_fit_count(const StretchFit *fit, long long n, const ShapeOfLaunch *launch) {
    const long long begin = place_of(fit->begin, n, launch), end = place_of(fit->end, n, launch);
    return begin < end ? end - begin : 0;
}

static void say_unit(const Formula *formula, bool needs_brackets, Text *words) {
    static const char *const names[BASES] = {"", "blockDim.x", "gridDim.x", "gridDim.x * blockDim.x"};
    if (formula->base == ONE) {
        text_printf(words, "%lld", formula->number);
        return;
    }
    const bool is_product = formula->number > 1 || formula->base == THREADS;
    if (needs_brackets && is_product) text_add(words, "(");
    if (formula->number > 1) text_printf(words, "%lld * ", formula->number);
    text_add(words, names[formula->base]);
    if (needs_brackets && is_product) text_add(words, ")");
}

// `less`: 1 for the last element of a stretch, whose formula is that of its end.
static void say_formula(int number, int less, Text *words) {
    const Formula formula = formula_of(number);
    if (formula.form == CONSTANT) {
        text_printf(words, "%lld", formula.number - less);
        return;
    }
    if (formula.form == ALL_BUT) {
        text_add(words, "n");
        if (formula.number + less > 0) text_printf(words, " - %lld", formula.number + less);
        return;
    }
    if (formula.form == ALL_WITHOUT_REST || formula.form == BEFORE_LAST || formula.form == BLOCK_LATER)
        text_add(words, "n - ");
    if (formula.form == QUOTIENT) text_add(words, "n / ");
    if (formula.form != UNIT && formula.form != QUOTIENT) text_add(words, "n % ");
    say_unit(&formula, formula.form != UNIT, words);
    if (formula.form == BEFORE_LAST) {
        text_add(words, " - ");
        say_unit(&formula, false, words);
    }
    if (formula.form == BLOCK_LATER) text_add(words, " + blockDim.x");
    if (less) text_add(words, " - 1");
}

void account_fit_say(const StretchFit *fit, Text *words) {
    text_add(words, "elements ");
    say_formula(fit->begin, 0, words);
    text_add(words, " to ");
    say_formula(fit->end, 1, words);
}
