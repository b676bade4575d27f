/* ids.c: generation-checked ids, and the list of those released from any thread.
 *
 * An id is generation << 30 | index + 1. Slots lie in chunks that never move, so that any thread may read a slot's
 * atomics. A released slot is pushed on a stack by index; only the owner takes the stack, whole, so that no slot can
 * leave and come back under a pusher. */
#include "base/base.h"

#define INDEX_BITS CHORDAL__ID_BITS
#define INDEX_MASK ((UINT32_C(1) << INDEX_BITS) - 1)
#define GENERATIONS (UINT32_C(1) << (53 - INDEX_BITS))

void chordal__ids_init(chordal__ids *ids, chordal__memory *memory) {
    memset(ids, 0, sizeof *ids);
    ids->memory = memory;
    for (unsigned k = 0; k < CHORDAL__ID_CHUNKS; k++) atomic_init(&ids->chunks[k], NULL);
    atomic_init(&ids->released_first, 0);
    atomic_init(&ids->holds, 1);
}

void chordal__ids_dispose(chordal__ids *ids) {
    for (unsigned k = 0; k < CHORDAL__ID_CHUNKS; k++) {
        chordal__id_slot *chunk = atomic_load_explicit(&ids->chunks[k], memory_order_relaxed);
        chordal__release(ids->memory, chunk, ((size_t)CHORDAL__ID_CHUNK << k) * sizeof *chunk);
    }
    chordal__ids_init(ids, ids->memory);
}

static uint32_t index_of(chordal_id id) {
    return (uint32_t)(id & INDEX_MASK) - 1;
}

static uint32_t generation_of(chordal_id id) {
    return (uint32_t)(id >> INDEX_BITS);
}

static chordal_id make_id(uint32_t index, uint32_t generation) {
    return (chordal_id)generation << INDEX_BITS | (index + 1);
}

/* Any thread: the slot that the id names, whether or not its generation still fits. */
static chordal__id_slot *named_slot(const chordal__ids *ids, chordal_id id) {
    if (!(id & INDEX_MASK) || id >> 53) return NULL;
    return chordal__id_slot_at(ids, index_of(id));
}

static void append_free(chordal__ids *ids, uint32_t index, chordal__id_slot *slot) {
    slot->next_free = 0;
    if (ids->free_last) {
        chordal__id_slot_at(ids, ids->free_last - 1)->next_free = index + 1;
    } else {
        ids->free_first = index + 1;
    }
    ids->free_last = index + 1;
    ids->free_count++;
}

static bool add_chunk(chordal__ids *ids) {
    unsigned k = 0;
    while (k < CHORDAL__ID_CHUNKS && atomic_load_explicit(&ids->chunks[k], memory_order_relaxed)) k++;
    if (k == CHORDAL__ID_CHUNKS) return false;
    uint32_t slots = CHORDAL__ID_CHUNK << k;
    chordal__id_slot *chunk = chordal__allocate_zero(ids->memory, slots * sizeof *chunk);
    if (!chunk) return false;
    atomic_store_explicit(&ids->chunks[k], chunk, memory_order_release);
    for (uint32_t i = 0; i < slots; i++) append_free(ids, ids->capacity + i, &chunk[i]);
    ids->capacity += slots;
    return true;
}

chordal_id chordal__id_new(chordal__ids *ids, uint8_t kind, void *item, bool external) {
    if (!ids->free_first && !add_chunk(ids)) return 0;
    uint32_t index = ids->free_first - 1;
    chordal__id_slot *slot = chordal__id_slot_at(ids, index);
    ids->free_first = slot->next_free;
    if (!ids->free_first) ids->free_last = 0;
    ids->free_count--;
    ids->count++;
    slot->item = item;
    slot->kind = kind;
    uint32_t generation = chordal__id_generation(slot);
    if (external) {
        atomic_fetch_add_explicit(&ids->holds, 1, memory_order_relaxed);
        atomic_store_explicit(&slot->state, generation << 1 | 1, memory_order_release);
    }
    return make_id(index, generation);
}

uint8_t chordal__id_kind(const chordal__ids *ids, chordal_id id) {
    chordal__id_slot *slot = chordal__id_slot_of(ids, id);
    return slot ? slot->kind : 0;
}

bool chordal__id_external(const chordal__ids *ids, chordal_id id) {
    chordal__id_slot *slot = chordal__id_slot_of(ids, id);
    return slot && (atomic_load_explicit(&slot->state, memory_order_relaxed) & 1);
}

void chordal__id_free(chordal__ids *ids, chordal_id id) {
    chordal__id_slot *slot = chordal__id_slot_of(ids, id);
    if (!slot) return;
    slot->item = NULL;
    uint32_t next = generation_of(id) + 1;
    uint32_t state = atomic_exchange_explicit(&slot->state, next << 1, memory_order_acq_rel);
    if (state & 1) atomic_fetch_sub_explicit(&ids->holds, 1, memory_order_acq_rel);
    slot->kind = 0;
    ids->count--;
    if (next < GENERATIONS) append_free(ids, index_of(id), slot);
}

void chordal__id_leave(chordal__ids *ids, chordal_id id) {
    chordal__id_slot *slot = chordal__id_slot_of(ids, id);
    if (!slot) return;
    slot->item = NULL;
    if (!chordal__id_external(ids, id)) chordal__id_free(ids, id);
}

/* Of all who try, one alone ends the program's ownership of this generation. */
static bool end_ownership(chordal__id_slot *slot, uint32_t generation) {
    uint32_t owned = generation << 1 | 1;
    return atomic_compare_exchange_strong_explicit(&slot->state, &owned, generation << 1, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

chordal_id chordal__id_own(chordal__ids *ids, chordal_id id) {
    chordal__id_slot *slot = chordal__id_slot_of(ids, id);
    if (!slot || chordal__id_external(ids, id)) return id;
    atomic_fetch_add_explicit(&ids->holds, 1, memory_order_relaxed);
    atomic_store_explicit(&slot->state, generation_of(id) << 1 | 1, memory_order_release);
    return id;
}

void chordal__id_disown(chordal__ids *ids, chordal_id id) {
    chordal__id_slot *slot = chordal__id_slot_of(ids, id);
    if (slot && end_ownership(slot, generation_of(id))) atomic_fetch_sub_explicit(&ids->holds, 1, memory_order_acq_rel);
}

/* Note the release; true when the slot was not in the list. A slot may still be in it for an earlier generation, which
 * is stale by now: the later one takes its place. */
static bool ask_release(chordal__id_slot *slot, uint32_t generation) {
    uint32_t asked = atomic_load_explicit(&slot->released, memory_order_relaxed);
    do {
        if (asked > generation) return false;
    } while (!atomic_compare_exchange_weak_explicit(&slot->released, &asked, generation + 1, memory_order_acq_rel,
                                                    memory_order_relaxed));
    return asked == 0;
}

static void push_released(chordal__ids *ids, chordal__id_slot *slot, uint32_t index) {
    uint32_t first = atomic_load_explicit(&ids->released_first, memory_order_relaxed);
    do {
        atomic_store_explicit(&slot->next_released, first, memory_order_relaxed);
    } while (!atomic_compare_exchange_weak_explicit(&ids->released_first, &first, index + 1, memory_order_release,
                                                    memory_order_relaxed));
}

bool chordal__id_release(chordal__ids *ids, chordal_id id) {
    chordal__id_slot *slot = named_slot(ids, id);
    if (!slot || !end_ownership(slot, generation_of(id))) return false;
    if (ask_release(slot, generation_of(id))) push_released(ids, slot, index_of(id));
    return true;
}

bool chordal__ids_let_go(chordal__ids *ids) {
    return atomic_fetch_sub_explicit(&ids->holds, 1, memory_order_acq_rel) == 1;
}

/* Take the whole stack and turn it round. */
static void take_released(chordal__ids *ids) {
    if (!atomic_load_explicit(&ids->released_first, memory_order_relaxed)) return;
    uint32_t at = atomic_exchange_explicit(&ids->released_first, 0, memory_order_acquire);
    while (at) {
        chordal__id_slot *slot = chordal__id_slot_at(ids, at - 1);
        uint32_t next = atomic_load_explicit(&slot->next_released, memory_order_relaxed);
        atomic_store_explicit(&slot->next_released, ids->taken_first, memory_order_relaxed);
        ids->taken_first = at;
        at = next;
    }
}

chordal_id chordal__id_next_released(chordal__ids *ids) {
    for (;;) {
        if (!ids->taken_first) take_released(ids);
        if (!ids->taken_first) return 0;
        uint32_t index = ids->taken_first - 1;
        chordal__id_slot *slot = chordal__id_slot_at(ids, index);
        ids->taken_first = atomic_load_explicit(&slot->next_released, memory_order_relaxed);
        uint32_t asked = atomic_exchange_explicit(&slot->released, 0, memory_order_acq_rel);
        if (asked - 1 == chordal__id_generation(slot)) return make_id(index, asked - 1);
    }
}
