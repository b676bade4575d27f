/* Ids: generations, the free list, and releases from many threads. */
#include "base/base.h"
#include "check.h"

#include <pthread.h>
#include <sched.h>

static uint32_t random_state = 5;

static uint32_t random_below(uint32_t limit) {
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % limit;
}

TEST(one) {
    chordal__memory *memory = chordal__memory_new(NULL, 1 << 20);
    chordal__ids ids;
    int item;
    chordal__ids_init(&ids, memory);
    CHECK(!chordal__id_get(&ids, 0, 1));
    CHECK(!chordal__id_get(&ids, 1, 1));
    CHECK(!chordal__id_release(&ids, 1));
    CHECK(!chordal__id_release(&ids, UINT64_MAX));
    chordal_id id = chordal__id_new(&ids, 3, &item, true);
    CHECK(id && id < UINT64_C(1) << 53);
    CHECK(chordal__id_get(&ids, id, 3) == &item);
    CHECK(!chordal__id_get(&ids, id, 4));
    CHECK_INT(chordal__id_kind(&ids, id), 3);
    CHECK(chordal__id_external(&ids, id));
    CHECK_INT(atomic_load(&ids.holds), 2);
    chordal__id_free(&ids, id);
    chordal__id_free(&ids, id);
    CHECK_INT(atomic_load(&ids.holds), 1);
    CHECK_INT(ids.count, 0);
    CHECK(!chordal__id_get(&ids, id, 3));
    CHECK_INT(chordal__id_kind(&ids, id), 0);
    CHECK(!chordal__id_release(&ids, id));
    CHECK_INT(chordal__id_next_released(&ids), 0);
    chordal__ids_dispose(&ids);
    CHECK_INT(memory->live_bytes, 0);
    chordal__memory_unref(memory);
}

TEST(release_once) {
    chordal__memory *memory = chordal__memory_new(NULL, 1 << 20);
    chordal__ids ids;
    int item;
    chordal__ids_init(&ids, memory);
    chordal_id a = chordal__id_new(&ids, 1, &item, true), b = chordal__id_new(&ids, 1, &item, true);
    chordal_id inner = chordal__id_new(&ids, 1, &item, false);
    CHECK(!chordal__id_release(&ids, inner));
    CHECK(chordal__id_release(&ids, a));
    CHECK(!chordal__id_release(&ids, a));
    CHECK(!chordal__id_external(&ids, a));
    CHECK(!chordal__ids_let_go(&ids));
    CHECK(chordal__id_release(&ids, b));
    CHECK(!chordal__ids_let_go(&ids));
    CHECK(chordal__id_next_released(&ids) == a);
    CHECK(!chordal__id_release(&ids, a));
    chordal__id_disown(&ids, a);
    chordal__id_free(&ids, a);
    CHECK(chordal__id_next_released(&ids) == b);
    CHECK_INT(chordal__id_next_released(&ids), 0);
    CHECK(chordal__id_get(&ids, b, 1) == &item);
    chordal_id c = chordal__id_new(&ids, 1, &item, true);
    chordal__id_disown(&ids, c);
    chordal__id_disown(&ids, c);
    CHECK(!chordal__id_release(&ids, c));
    CHECK(chordal__id_get(&ids, c, 1) == &item);
    CHECK(chordal__ids_let_go(&ids));
    chordal__ids_dispose(&ids);
    chordal__memory_unref(memory);
}

/* An id that is freed and whose slot is used again while its release still waits in the list. */
TEST(stale_release) {
    chordal__memory *memory = chordal__memory_new(NULL, 1 << 20);
    chordal__ids ids;
    int item;
    chordal__ids_init(&ids, memory);
    chordal_id first = chordal__id_new(&ids, 1, &item, true), again = 0;
    CHECK(chordal__id_release(&ids, first));
    chordal__id_free(&ids, first);
    for (int i = 0; i < 64; i++) {
        again = chordal__id_new(&ids, 1, &item, true);
        if ((again & 0x3fffffff) == (first & 0x3fffffff)) break;
    }
    CHECK(again != first && (again & 0x3fffffff) == (first & 0x3fffffff));
    CHECK(!chordal__id_get(&ids, first, 1));
    CHECK(chordal__id_release(&ids, again));
    CHECK(chordal__id_next_released(&ids) == again);
    CHECK_INT(chordal__id_next_released(&ids), 0);
    chordal__id_free(&ids, again);
    chordal_id other = chordal__id_new(&ids, 1, &item, true);
    CHECK(chordal__id_release(&ids, other));
    chordal__id_free(&ids, other);
    CHECK_INT(chordal__id_next_released(&ids), 0);
    chordal__ids_dispose(&ids);
    chordal__memory_unref(memory);
}

TEST(generations_run_out) {
    chordal__memory *memory = chordal__memory_new(NULL, 1 << 20);
    chordal__ids ids;
    int item;
    chordal__ids_init(&ids, memory);
    chordal_id id = chordal__id_new(&ids, 1, &item, true);
    chordal__id_slot *slot = atomic_load(&ids.chunks[0]);
    uint32_t last = (UINT32_C(1) << 23) - 1, free_count = ids.free_count;
    atomic_store(&slot->state, last << 1 | 1);
    id |= (chordal_id)last << 30;
    CHECK(chordal__id_get(&ids, id, 1) == &item);
    CHECK(chordal__id_release(&ids, id));
    CHECK(chordal__id_next_released(&ids) == id);
    chordal__id_free(&ids, id);
    CHECK_INT(ids.free_count, free_count);
    for (int i = 0; i < 200; i++) CHECK((chordal__id_new(&ids, 1, &item, true) & 0x3fffffff) != (id & 0x3fffffff));
    CHECK(!chordal__id_get(&ids, id, 1));
    CHECK(!chordal__id_release(&ids, id));
    chordal__ids_dispose(&ids);
    chordal__memory_unref(memory);
}

TEST(many) {
    enum { MANY = 5000 };
    chordal__memory *memory = chordal__memory_new(NULL, 1 << 20);
    chordal__ids ids;
    static chordal_id live[MANY], dead[MANY];
    static int items[MANY];
    chordal__ids_init(&ids, memory);
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < MANY; i++) {
            if (!live[i]) live[i] = chordal__id_new(&ids, 1, &items[i], i % 2);
            CHECK(live[i] && live[i] != dead[i]);
        }
        for (size_t i = 0; i < MANY; i++) {
            CHECK(chordal__id_get(&ids, live[i], 1) == &items[i]);
            if (dead[i]) CHECK(!chordal__id_get(&ids, dead[i], 1));
        }
        for (size_t i = 0; i < MANY; i++) {
            if (random_below(3)) continue;
            chordal__id_free(&ids, live[i]);
            dead[i] = live[i], live[i] = 0;
        }
    }
    chordal__ids_dispose(&ids);
    CHECK_INT(memory->live_bytes, 0);
    chordal__memory_unref(memory);
}

TEST(out_of_memory) {
    chordal__memory *memory = chordal__memory_new(NULL, 64 * sizeof(chordal__id_slot));
    chordal__ids ids;
    int item;
    chordal_id id;
    chordal__ids_init(&ids, memory);
    for (int i = 0; i < 64; i++) CHECK(chordal__id_new(&ids, 1, &item, true));
    CHECK_INT(chordal__id_new(&ids, 1, &item, true), 0);
    CHECK_INT(ids.count, 64);
    CHECK_INT(atomic_load(&ids.holds), 65);
    chordal__id_free(&ids, 7);
    CHECK((id = chordal__id_new(&ids, 1, &item, true)) != 0);
    CHECK(chordal__id_get(&ids, id, 1) == &item);
    chordal__ids_dispose(&ids);
    chordal__memory_unref(memory);
}

/* ---- threads ---- */

enum { THREADS = 4, BOARD = 64, ROUNDS = 20000 };

typedef struct stage {
    chordal__ids ids;
    _Atomic uint64_t board[BOARD]; /* ids to release; several threads may read the same one */
    _Atomic uint64_t released, last;
    _Atomic bool stop;
} stage;

static void let_go(stage *on) {
    if (chordal__ids_let_go(&on->ids)) atomic_fetch_add(&on->last, 1);
}

static void *release_from_board(void *context) {
    stage *on = context;
    for (uint32_t at = 0; !atomic_load(&on->stop); at++) {
        chordal_id id = atomic_load(&on->board[at * 7 % BOARD]);
        if (!chordal__id_release(&on->ids, id)) continue;
        atomic_fetch_add(&on->released, 1);
        let_go(on);
    }
    return NULL;
}

/* The owner makes ids, shows them, frees some by itself at the same time, and takes what was released. */
static uint64_t own(stage *on) {
    static uint8_t seen[1 << 16];
    uint64_t taken = 0;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        chordal_id id = chordal__id_new(&on->ids, 1, seen, true);
        chordal_id before = atomic_exchange(&on->board[i % BOARD], id);
        if (i % 3 == 0) chordal__id_free(&on->ids, before);
        if (i % 64 == 0) sched_yield();
        while (i == BOARD && !atomic_load(&on->released)) sched_yield(); /* the others have begun */
        for (chordal_id next; (next = chordal__id_next_released(&on->ids)); taken++) {
            CHECK(chordal__id_get(&on->ids, next, 1) == seen);
            CHECK(!chordal__id_external(&on->ids, next));
            chordal__id_free(&on->ids, next);
        }
    }
    return taken;
}

TEST(threads) {
    chordal__memory *memory = chordal__memory_new(NULL, 1 << 26);
    stage *on = calloc(1, sizeof *on);
    pthread_t threads[THREADS];
    chordal__ids_init(&on->ids, memory);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, release_from_board, on);
    uint64_t taken = own(on);
    atomic_store(&on->stop, true);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (chordal_id next; (next = chordal__id_next_released(&on->ids)); taken++) chordal__id_free(&on->ids, next);
    /* An id that the owner freed after its release is not told; none is told twice or told unasked. */
    CHECK(taken <= atomic_load(&on->released));
    CHECK(taken > 0);
    /* What lives on is what nobody released. */
    CHECK_INT(on->ids.count, atomic_load(&on->ids.holds) - 1);
    CHECK_INT(atomic_load(&on->last), 0);
    chordal__ids_dispose(&on->ids);
    free(on);
    chordal__memory_unref(memory);
}

/* Every id is released by all threads: each once, and the last hold is let go once. */
TEST(threads_close) {
    chordal__memory *memory = chordal__memory_new(NULL, 1 << 26);
    for (int round = 0; round < 300; round++) {
        stage *on = calloc(1, sizeof *on);
        pthread_t threads[2];
        chordal__ids_init(&on->ids, memory);
        for (int i = 0; i < BOARD; i++) on->board[i] = chordal__id_new(&on->ids, 1, on, true);
        for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, release_from_board, on);
        let_go(on);
        while (!atomic_load(&on->last)) sched_yield();
        atomic_store(&on->stop, true);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
        CHECK_INT(atomic_load(&on->released), BOARD);
        CHECK_INT(atomic_load(&on->last), 1);
        uint64_t told = 0;
        while (chordal__id_next_released(&on->ids)) told++;
        CHECK_INT(told, BOARD);
        chordal__ids_dispose(&on->ids);
        free(on);
    }
    chordal__memory_unref(memory);
}

TESTS({"one", one}, {"release_once", release_once}, {"stale_release", stale_release},
      {"generations_run_out", generations_run_out}, {"many", many}, {"out_of_memory", out_of_memory},
      {"threads", threads}, {"threads_close", threads_close})
