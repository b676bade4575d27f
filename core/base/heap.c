/* heap.c: deadlines, in an intrusive binary heap. */
#include "base/base.h"

void chordal__heap_init(chordal__heap *heap, chordal__memory *memory) {
    *heap = (chordal__heap){.memory = memory};
}

void chordal__heap_dispose(chordal__heap *heap) {
    for (size_t i = 0; i < heap->count; i++) heap->items[i]->place = 0;
    chordal__release(heap->memory, heap->items, heap->capacity * sizeof *heap->items);
    chordal__heap_init(heap, heap->memory);
}

static void put_at(chordal__heap *heap, size_t index, chordal__deadline *deadline) {
    heap->items[index] = deadline;
    deadline->place = index + 1;
}

static size_t sift_up(chordal__heap *heap, size_t index, chordal__deadline *deadline) {
    while (index) {
        size_t parent = (index - 1) / 2;
        if (heap->items[parent]->at <= deadline->at) break;
        put_at(heap, index, heap->items[parent]);
        index = parent;
    }
    return index;
}

static size_t sift_down(chordal__heap *heap, size_t index, chordal__deadline *deadline) {
    for (size_t child; (child = index * 2 + 1) < heap->count; index = child) {
        if (child + 1 < heap->count && heap->items[child + 1]->at < heap->items[child]->at) child++;
        if (deadline->at <= heap->items[child]->at) break;
        put_at(heap, index, heap->items[child]);
    }
    return index;
}

static void settle(chordal__heap *heap, size_t index, chordal__deadline *deadline) {
    index = sift_up(heap, index, deadline);
    put_at(heap, sift_down(heap, index, deadline), deadline);
}

int chordal__heap_set(chordal__heap *heap, chordal__deadline *deadline, chordal_time at) {
    size_t index = deadline->place - 1;
    if (!deadline->place) {
        void *items = heap->items;
        if (chordal__grow(heap->memory, &items, sizeof *heap->items, &heap->capacity, heap->count + 1, SIZE_MAX) != 0)
            return CHORDAL_E_NOMEM;
        heap->items = items;
        index = heap->count++;
    }
    deadline->at = at < CHORDAL_NEVER ? at : CHORDAL_NEVER;
    settle(heap, index, deadline);
    return 0;
}

void chordal__heap_remove(chordal__heap *heap, chordal__deadline *deadline) {
    if (!deadline->place) return;
    size_t index = deadline->place - 1;
    deadline->place = 0;
    chordal__deadline *last = heap->items[--heap->count];
    if (last != deadline) settle(heap, index, last);
}
