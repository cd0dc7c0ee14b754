#include "emulator/observers/race_readers.h"

#include <stdlib.h>

void readers_close(ReaderPool *pool) {
    free(pool->readers);
    free(pool->tables);
}

// `array` with room for one more than `count`, or NULL when memory runs out: then it stays as it is.
static void *with_room(void *array, uint32_t count, uint32_t *capacity, size_t size) {
    if (count < *capacity) return array;
    uint32_t larger = *capacity ? *capacity * 2 : 256;
    void *grown = larger > *capacity ? realloc(array, larger * size) : NULL;
    if (grown) *capacity = larger;
    return grown;
}

// ---- Tables -----------------------------------------------------------------------------------------------

static uint32_t table_new(ReaderPool *pool) {
    uint32_t at = pool->free_table;
    if (at)
        pool->free_table = pool->tables[at].time[0];
    else {
        if (!pool->table_count) pool->table_count = 1;
        ReaderTable *tables =
            with_room(pool->tables, pool->table_count, &pool->table_capacity, sizeof *tables);
        if (!tables) return 0;
        pool->tables = tables;
        at = pool->table_count++;
    }
    pool->tables[at] = (ReaderTable){0};
    return at;
}

static void table_free(ReaderPool *pool, uint32_t table) {
    if (!table) return;
    pool->tables[table].time[0] = pool->free_table;
    pool->free_table = table;
}

// Gives `one` a table. False when memory runs out.
static bool spread(ReaderPool *pool, Readers *one) {
    uint32_t at = table_new(pool);
    if (!at) return false;
    ReaderTable *table = &pool->tables[at];
    for (uint32_t left = one->warps; left; left &= left - 1) {
        int warp = __builtin_ctz(left);
        table->time[warp] = one->time;
        table->lanes[warp] = one->lanes;
    }
    one->table = at;
    return true;
}

// ---- Sets of threads --------------------------------------------------------------------------------------

bool readers_join(ReaderPool *pool, Readers *one, const Readers *more) {
    uint32_t warp = warp_of(more->who), before = reader_lanes(pool, one, warp), lanes = before | more->lanes;
    if (before && reader_time(pool, one, warp) != more->time) return false;
    if (!one->table) {
        bool is_alone = one->warps == more->warps, is_alike = one->time == more->time && one->lanes == lanes;
        if (!is_alone && !is_alike && !spread(pool, one)) return false;
    }
    one->warps |= more->warps;
    one->who = more->who;
    if (one->time < more->time) one->time = more->time;
    if (one->table) {
        pool->tables[one->table].time[warp] = more->time;
        pool->tables[one->table].lanes[warp] = lanes;
    } else
        one->lanes = lanes;
    return true;
}

bool readers_leave(ReaderPool *pool, Readers *one, uint32_t warp, uint32_t lanes) {
    uint32_t bit = 1u << warp, before = reader_lanes(pool, one, warp), left = before & ~lanes;
    if (left == before) return false;
    // Of several warps alike one that keeps some lanes differs, and without memory for that it loses all.
    if (left && !one->table && one->warps != bit && !spread(pool, one)) left = 0;
    if (one->table)
        pool->tables[one->table].lanes[warp] = left;
    else if (left)
        one->lanes = left;
    if (!left) one->warps &= ~bit;
    if (one->warps) return false;
    table_free(pool, one->table);
    one->table = 0;
    return true;
}

// ---- Lists ------------------------------------------------------------------------------------------------

uint32_t readers_add(ReaderPool *pool, Readers readers) {
    uint32_t at = pool->free;
    if (at)
        pool->free = pool->readers[at].next;
    else {
        if (!pool->count) pool->count = 1;
        Readers *grown = with_room(pool->readers, pool->count, &pool->capacity, sizeof *grown);
        if (!grown) return 0;
        pool->readers = grown;
        at = pool->count++;
    }
    pool->readers[at] = readers;
    return at;
}

void readers_free(ReaderPool *pool, uint32_t list) {
    while (list) {
        uint32_t next = pool->readers[list].next;
        table_free(pool, pool->readers[list].table);
        pool->readers[list].next = pool->free;
        pool->free = list;
        list = next;
    }
}

uint32_t readers_copied(ReaderPool *pool, uint32_t list) {
    uint32_t first = 0, last = 0;
    for (; list; list = pool->readers[list].next) {
        Readers one = pool->readers[list];
        uint32_t table = one.table ? table_new(pool) : 0;
        if (table) pool->tables[table] = pool->tables[one.table];
        bool lacks = one.table && !table;
        one.next = 0;
        one.table = table;
        uint32_t added = lacks ? 0 : readers_add(pool, one);
        if (!added) break; // remembers less, which may miss a race and never invents one
        if (last)
            pool->readers[last].next = added;
        else
            first = added;
        last = added;
    }
    return first;
}
