/* The containers of room base under failing allocation: a refused call changes nothing and works when tried again. */
#include "fault/sweep.h"

#include "base/base.h"

#define KEEP_FIRST(code, call)                                                                                         \
    do {                                                                                                               \
        int now = (call);                                                                                              \
        if (!code) code = now;                                                                                         \
    } while (0)

static const uint64_t seed[2] = {1, 2};

/* Forty entries; each that is refused is put again once memory is back. */
static int fill_map(chordal__memory *memory, fault_memory *fault) {
    chordal__map map;
    chordal__map_init(&map, memory, seed);
    int code = 0;
    for (uint32_t i = 0; i < 40; i++) {
        size_t before = map.count;
        int put = chordal__map_put(&map, &i, sizeof i, &map);
        if (put) {
            CHECK_INT(map.count, before);
            CHECK(chordal__map_get(&map, &i, sizeof i) == NULL);
            fault_heal(fault);
            CHECK_INT(chordal__map_put(&map, &i, sizeof i, &map), 0);
            code = put;
        }
        CHECK(chordal__map_get(&map, &i, sizeof i) == &map);
    }
    CHECK_INT(map.count, 40);
    chordal__map_dispose(&map);
    return code;
}

static int fill_ids(chordal__memory *memory) {
    chordal__ids ids;
    chordal__ids_init(&ids, memory);
    int code = 0, item = 0;
    for (int i = 0; i < 200; i++) {
        chordal_id id = chordal__id_new(&ids, 1, &item, false);
        if (!id) code = CHORDAL_E_NOMEM;
        if (id) CHECK(chordal__id_get(&ids, id, 1) == &item);
    }
    chordal__ids_dispose(&ids);
    return code;
}

static int fill_heap(chordal__memory *memory) {
    chordal__heap heap;
    chordal__heap_init(&heap, memory);
    chordal__deadline deadlines[100] = {{0}};
    int code = 0;
    for (chordal_time i = 0; i < 100; i++) KEEP_FIRST(code, chordal__heap_set(&heap, &deadlines[i], 100 - i));
    chordal_time last = 0;
    for (chordal__deadline *first; (first = chordal__heap_first(&heap)) != NULL; last = first->at) {
        CHECK(first->at >= last);
        chordal__heap_remove(&heap, first);
    }
    chordal__heap_dispose(&heap);
    return code;
}

static int fill_buffer(chordal__memory *memory) {
    chordal__buffer buffer;
    chordal__buffer_init(&buffer, memory, 1 << 20);
    for (int i = 0; i < 2000; i++) chordal__buffer_text(&buffer, "chordal");
    int code = buffer.failed;
    if (!code) CHECK_INT(buffer.len, 2000 * 7);
    chordal__buffer_dispose(&buffer);
    return code;
}

static int scenario(const chordal_memory_functions *functions, fault_memory *fault, void *context) {
    chordal__memory *memory = chordal__memory_new(functions, UINT64_MAX);
    if (!memory) return CHORDAL_E_NOMEM;
    int code = 0;
    switch (*(const char *)context) {
    case 'm':
        code = fill_map(memory, fault);
        break;
    case 'i':
        code = fill_ids(memory);
        break;
    case 'h':
        code = fill_heap(memory);
        break;
    default:
        code = fill_buffer(memory);
        break;
    }
    CHECK_INT(memory->live_blocks, 0);
    chordal__memory_unref(memory);
    return code;
}

static void sweep(const char *name) {
    char which = name[0];
    fault_plan plan = {.name = name, .scenario = scenario, .context = &which};
    CHECK(fault_sweep(&plan) > 1);
}

TEST(map) {
    sweep("map");
}

TEST(ids) {
    sweep("ids");
}

TEST(heap) {
    sweep("heap");
}

TEST(buffer) {
    sweep("buffer");
}

TESTS({"map", map}, {"ids", ids}, {"heap", heap}, {"buffer", buffer})
