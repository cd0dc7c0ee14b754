// Whether changes of a kernel repair it: the cases that have to pass with them.
#pragma once

#include "driver/judge/repair/proposals.h"
#include "driver/judge/repair_trial.h"

enum {
    BASES = 4,    // changes that help but do not suffice, to which a second one is added
    PATIENCE = 1, // Rerun, in an attempt
};

typedef struct {
    TaskPtx ptx;
    Changes changes;
    Case smallest;            // of the failing cases
    bool is_of_the_end;       // Rerun
    long long largest;        // elements of a case that is run
    const CaseReport *shown;  // its report
    int line;                 // of kernel.cu, where a change shows that the mistake is; 0: none does
    const CaseReport *beyond; // a larger case that failed in another way and has to pass too; NULL: none
    double work, most_work;   // that is left, and at first
    const Repair *known;      // of other tasks, whose changes are tried first
    int known_count;
    int bases[BASES], base_count;
    CaseReport base_reports[BASES];
} Search;

// Elements of a case that is run, unless only larger ones fail.
enum { LARGEST_REPAIRED = 1 << 17 };

// May keep the kernel away from what is wrong if there are few elements, or access other elements.
bool change_widens(ChangeKind kind);
// What a failure says, for those who propose changes. `report`: of the search's task.
Symptoms search_symptoms(const Search *search, const CaseReport *report);
// The file that the finding is in.
const char *search_source(const Search *search);
// Whether these words are those of a change that alone repairs another task.
bool search_knows(const Search *search, const char *words);
// Whether a case of the plan is run in the search, if it has at most `largest` elements.
bool search_has_case(const Search *search, long long largest, const CaseReport *report);
// Whether the search, or all of them on this page, may take no more work.
bool search_is_over(const Search *search);

// The smallest case with changes.
typedef struct {
    bool was_run;
    CaseReport report;
} SmallestRun;

// The report is not that of a run if `was_run` is not set. Takes from the page's work alone.
void search_run_smallest(const Search *search, const Change *const changes[], int count,
                         SmallestRun *smallest);
// Whether these changes, with which the smallest case went so, repair the kernel: all cases are run if it
// passed. The judgement has the repair then. `base`: the place of the last change, to be remembered if it
// helps; -1: it is not.
bool search_conclude(Search *search, const Change *const changes[], int count, int base,
                     const SmallestRun *smallest);
// Both in turn.
bool search_attempt(Search *search, const Change *const changes[], int count, int base);
// Whether the smallest case passes with them. Takes what that costs from `work`.
bool search_passes_smallest(Search *search, const Change *const changes[], int count, double *work);
// Whether every case passes with another change than the one that is found, without the rest of an attempt.
bool search_confirms(Search *search, const Change *change);
