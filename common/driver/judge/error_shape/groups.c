// Within a group: elements of every two, three or four neighbours.
#include "driver/judge/error_shape/shape_group.h"

SHAPE(every_second_lost) {
    UNUSED(v);
    return i % 2 == 0;
}

SHAPE(fourth_of_group_lost) { return !is_in_group(v, i) || (i - v->head) % 4 != 3; }
SHAPE(fourths_lost) {
    UNUSED(v);
    return i % 4 != 3;
}

SHAPE(groups_of_three) {
    long long groups = (v->count - v->head) / 4;
    return i < v->head + 3 * groups || i >= groups_end(v);
}

// A component of each float4 is used instead of its neighbour.
#define TWICE(name, lost, twice)                                                                             \
    SHAPE(name) {                                                                                            \
        const long long component = is_in_group(v, i) ? (i - v->head) % 4 : -1;                              \
        return component == (lost) ? 0 : component == (twice) ? 2 : 1;                                       \
    }
TWICE(second_for_first, 0, 1)
TWICE(first_for_second, 1, 0)
TWICE(second_for_third, 2, 1)
TWICE(third_for_fourth, 3, 2)

static const ErrorShape shapes[] = {
    {"every-second-lost", every_second_lost, "Every second element is left out."},
    {"fourth-of-group-lost", fourth_of_group_lost, "The fourth element of every group of 4 is left out."},
    {"component-twice", second_for_first,
     "In every group of 4, the second element is added instead of the first."},
    {"component-twice", first_for_second,
     "In every group of 4, the first element is added instead of the second."},
    {"component-twice", second_for_third,
     "In every group of 4, the second element is added instead of the third."},
    {"component-twice", third_for_fourth,
     "In every group of 4, the third element is added instead of the fourth."},
    {"fourths-lost", fourths_lost, "Every fourth element is left out."},
    {"groups-of-three", groups_of_three,
     "The groups are read 12 bytes apart, so the last ones are never reached."},
};
const ShapeGroup shapes_of_groups = SHAPE_GROUP(shapes);
