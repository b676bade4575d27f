/* sweep.h: run a scenario with its n-th allocation failing, for n = 0, 1, 2 … until it succeeds: once with that one
 * allocation failing, once with all from it on. After each run no block may be alive, and its code must be NOMEM (or
 * one that the plan allows); a run that no failure reached must succeed. */
#ifndef CHORDAL_TESTS_FAULT_SWEEP_H
#define CHORDAL_TESTS_FAULT_SWEEP_H

#include <stdbool.h>

#include "check.h"
#include "chordal/error.h"
#include "chordal/memory.h"

/* Memory that fails on demand and keeps an account. */
typedef struct fault_memory {
    uint64_t fail_at; /* the allocation that fails, counted from 0 */
    bool persistent;  /* and all after it */
    bool healed;      /* none fails any more: fault_heal */
    uint64_t requests, failures;
    int64_t live_blocks, live_bytes;
} fault_memory;

static bool fault_now(fault_memory *memory) {
    uint64_t request = memory->requests++;
    bool fails = request == memory->fail_at || (memory->persistent && request > memory->fail_at);
    if (!fails || memory->healed) return false;
    memory->failures++;
    return true;
}

static void *fault_allocate(void *context, size_t size) {
    fault_memory *memory = context;
    void *block = fault_now(memory) ? NULL : malloc(size);
    if (!block) return NULL;
    memory->live_blocks++;
    memory->live_bytes += (int64_t)size;
    return block;
}

static void *fault_resize(void *context, void *block, size_t old_size, size_t new_size) {
    fault_memory *memory = context;
    void *moved = fault_now(memory) ? NULL : malloc(new_size); /* always moved: stale pointers show */
    if (!moved) return NULL;
    if (block) memcpy(moved, block, old_size < new_size ? old_size : new_size);
    free(block);
    memory->live_blocks += block == NULL;
    memory->live_bytes += (int64_t)new_size - (int64_t)(block ? old_size : 0);
    return moved;
}

static void fault_release(void *context, void *block, size_t size) {
    fault_memory *memory = context;
    if (!block) return;
    memory->live_blocks--;
    memory->live_bytes -= (int64_t)size;
    free(block);
}

static inline chordal_memory_functions fault_functions(fault_memory *memory) {
    return (chordal_memory_functions){.size = sizeof(chordal_memory_functions),
                                      .context = memory,
                                      .allocate = fault_allocate,
                                      .resize = fault_resize,
                                      .release = fault_release};
}

/* For a scenario that met a failure and now shows that the same call succeeds: no allocation fails any more. */
static inline void fault_heal(fault_memory *memory) {
    memory->healed = true;
}

/* A scenario opens what it needs on `memory`, gives everything back, and returns the first code that it met. */
typedef struct fault_plan {
    const char *name;
    int (*scenario)(const chordal_memory_functions *functions, fault_memory *memory, void *context);
    void *context;
    int allowed[4]; /* further codes in which a failed allocation may end; 0 ends the list */
    bool benign;    /* a failed allocation may go unnoticed */
} fault_plan;

static bool fault_expected(const fault_plan *plan, int code) {
    if (code == CHORDAL_E_NOMEM || (code == 0 && plan->benign)) return true;
    for (size_t i = 0; i < sizeof plan->allowed / sizeof *plan->allowed && plan->allowed[i]; i++)
        if (plan->allowed[i] == code) return true;
    return false;
}

/* One run; whether a failure was met. */
static bool fault_run(const fault_plan *plan, uint64_t fail_at, bool persistent) {
    fault_memory memory = {.fail_at = fail_at, .persistent = persistent};
    chordal_memory_functions functions = fault_functions(&memory);
    int code = plan->scenario(&functions, &memory, plan->context);
    const char *how = persistent ? "all from it on" : "only it";
    if (memory.failures ? !fault_expected(plan, code) : code != 0)
        CHECK_FAIL("%s: allocation %" PRIu64 " (%s) failed: code %d", plan->name, fail_at, how, code);
    if (memory.live_blocks || memory.live_bytes)
        CHECK_FAIL("%s: allocation %" PRIu64 " (%s) failed: %" PRId64 " blocks, %" PRId64 " bytes left", plan->name,
                   fail_at, how, memory.live_blocks, memory.live_bytes);
    return memory.failures != 0;
}

/* The whole sweep; the number of allocations that the scenario makes when none fails. */
static inline uint64_t fault_sweep(const fault_plan *plan) {
    uint64_t count = 0;
    while (fault_run(plan, count, false) && count < 1000000) count++;
    for (uint64_t n = 0; n < count; n++) fault_run(plan, n, true);
    return count;
}

#endif
