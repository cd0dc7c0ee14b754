#include "driver/diagnose/idle_facts.h"

#include "driver/judge/goals.h"

Facts facts_of_idle_threads(const Judgement *judgement) {
    enum { THREADS_OF_ELEMENT = 2 };
    for (int g = 0; g < judgement->goal_count; g++) {
        const GoalResult *result = &judgement->goals[g];
        if (result->state != GOAL_MISSED || !goal_is_of_bandwidth(result->goal)) continue;
        const Measured *counted = &judgement->counted[0][result->task];
        const CaseShape *shape = &counted->shape;
        if (counted->is_counted && shape->launch_count == 1 && shape->size.n > 0 &&
            shape->launches[0].threads >= THREADS_OF_ELEMENT * shape->size.n)
            return FACT_IDLE_THREADS;
    }
    return 0;
}
