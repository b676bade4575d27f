/* Deadlines against a plain search. */
#include "base/base.h"
#include "check.h"

enum { COUNT = 200 };

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t limit) {
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % limit;
}

static void check_first(const chordal__heap *heap, const chordal__deadline deadlines[COUNT]) {
    chordal_time soonest = CHORDAL_NEVER;
    size_t count = 0;
    for (size_t i = 0; i < COUNT; i++) {
        if (!deadlines[i].place) continue;
        count++;
        if (deadlines[i].at < soonest) soonest = deadlines[i].at;
        CHECK(heap->items[deadlines[i].place - 1] == &deadlines[i]);
    }
    chordal__deadline *first = chordal__heap_first(heap);
    CHECK_INT(heap->count, count);
    CHECK(count ? first && first->at == soonest : !first);
}

TEST(random_changes) {
    chordal__memory *memory = chordal__memory_new(NULL, 1 << 20);
    chordal__heap heap;
    chordal__deadline deadlines[COUNT] = {0};
    chordal__heap_init(&heap, memory);
    check_first(&heap, deadlines);
    for (int i = 0; i < 20000; i++) {
        chordal__deadline *deadline = &deadlines[random_below(COUNT)];
        if (random_below(3)) {
            CHECK_INT(chordal__heap_set(&heap, deadline, random_below(1000)), 0);
        } else {
            chordal__heap_remove(&heap, deadline);
            CHECK_INT(deadline->place, 0);
        }
        if (i % 7 == 0) check_first(&heap, deadlines);
    }
    chordal_time last = 0;
    for (chordal__deadline *first; (first = chordal__heap_first(&heap)); chordal__heap_remove(&heap, first)) {
        CHECK(first->at >= last);
        last = first->at;
    }
    CHECK_INT(chordal__heap_set(&heap, &deadlines[0], 5), 0);
    chordal__heap_dispose(&heap);
    CHECK_INT(deadlines[0].place, 0);
    CHECK_INT(memory->live_bytes, 0);
    chordal__memory_unref(memory);
}

TEST(out_of_memory) {
    chordal__memory *memory = chordal__memory_new(NULL, 100);
    chordal__heap heap;
    chordal__deadline deadlines[20] = {0};
    chordal__heap_init(&heap, memory);
    int code = 0;
    size_t set = 0;
    while (set < 20 && (code = chordal__heap_set(&heap, &deadlines[set], 100 - set)) == 0) set++;
    CHECK_INT(code, CHORDAL_E_NOMEM);
    CHECK_INT(set, 8);
    CHECK_INT(deadlines[8].place, 0);
    CHECK_INT(heap.count, 8);
    CHECK_INT(chordal__heap_set(&heap, &deadlines[0], 1), 0);
    CHECK(chordal__heap_first(&heap) == &deadlines[0]);
    chordal__heap_dispose(&heap);
    chordal__memory_unref(memory);
}

TEST(ring) {
    chordal__list list, nodes[3];
    chordal__list_init(&list);
    CHECK(chordal__list_empty(&list));
    for (int i = 0; i < 3; i++) chordal__list_init(&nodes[i]), chordal__list_append(&list, &nodes[i]);
    CHECK(list.next == &nodes[0] && list.previous == &nodes[2]);
    chordal__list_remove(&nodes[1]);
    chordal__list_remove(&nodes[1]);
    CHECK(nodes[0].next == &nodes[2] && nodes[2].previous == &nodes[0]);
    chordal__list_remove(&nodes[0]);
    chordal__list_remove(&nodes[2]);
    CHECK(chordal__list_empty(&list));
}

TESTS({"random_changes", random_changes}, {"out_of_memory", out_of_memory}, {"ring", ring})
