/* runtime.c: what all rooms above share: ids, deadlines, the queues of what is to be told. */
#include "object/live.h"

/* Big end first; a host without a name of its own is named by its run. */
static void set_name(chordal__runtime *runtime, const chordal__settings *settings) {
    uint64_t halves[2] = {settings->name_high, settings->name_low};
    memcpy(runtime->name, runtime->run, sizeof runtime->name);
    for (int i = 0; i < 16 && (halves[0] || halves[1]); i++)
        runtime->name[i] = (uint8_t)(halves[i / 8] >> (56 - i % 8 * 8));
}

int chordal__runtime_init(chordal__runtime *runtime, chordal__memory *memory, const chordal__settings *settings,
                          const chordal__hooks *hooks) {
    uint8_t random[32];
    if (settings->entropy(settings->entropy_context, random, sizeof random) != 0) return CHORDAL_E_UNSUPPORTED;
    runtime->memory = memory;
    runtime->settings = *settings;
    runtime->hooks = hooks;
    memcpy(runtime->run, random, sizeof runtime->run);
    set_name(runtime, settings);
    memcpy(runtime->seed, random + sizeof runtime->run, sizeof runtime->seed);
    chordal__heap_init(&runtime->deadlines, memory);
    chordal__map_init(&runtime->types, memory, runtime->seed);
    chordal__pointers_init(&runtime->pointers, memory);
    chordal__buffer_init(&runtime->scratch, memory, UINT32_MAX); /* what a message takes is checked when it is sent */
    chordal__list *lists[] = {&runtime->events,  &runtime->urgent,     &runtime->later,     &runtime->objects,
                              &runtime->commits, &runtime->references, &runtime->watches,   &runtime->transactions,
                              &runtime->settled, &runtime->fresh,      &runtime->compacting};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) chordal__list_init(lists[i]);
#if CHORDAL__STORE
    chordal__list_init(&runtime->touched);
#endif
    runtime->local = chordal__allocate(memory, sizeof *runtime->local);
    if (!runtime->local) return CHORDAL_E_NOMEM;
    chordal__caller_init(runtime->local, runtime, 0, chordal__local_settled);
    return 0;
}

static void orphan_transactions(chordal__runtime *runtime) {
    while (!chordal__list_empty(&runtime->transactions)) {
        chordal_transaction *transaction = CHORDAL__ENTRY(runtime->transactions.next, chordal_transaction, node);
        chordal__transaction_orphan(transaction);
    }
}

static void free_commits(chordal__runtime *runtime) {
    while (!chordal__list_empty(&runtime->commits)) {
        chordal__commit *commit = CHORDAL__ENTRY(runtime->commits.next, chordal__commit, node);
        chordal__list_remove(&commit->node);
        chordal__commit_free(commit);
    }
    /* Commits that are through, whose outcome nobody polled. */
    while (!chordal__list_empty(&runtime->events)) {
        chordal__event *event = CHORDAL__ENTRY(runtime->events.next, chordal__event, node);
        chordal__untell(event);
        if (event->kind == CHORDAL__TELL_TICKET) chordal__commit_free(CHORDAL__ENTRY(event, chordal__commit, told));
    }
}

static void free_types(chordal__runtime *runtime) {
    size_t at = 0;
    chordal__type *type;
    while ((type = chordal__map_next(&runtime->types, &at)) != NULL) chordal__type_free(type);
    chordal__map_dispose(&runtime->types);
}

void chordal__runtime_dispose(chordal__runtime *runtime) {
    if (!runtime->local) return;
    runtime->advancing = true; /* nothing goes through any more */
    orphan_transactions(runtime);
    while (!chordal__list_empty(&runtime->references))
        chordal__reference_free(CHORDAL__ENTRY(runtime->references.next, chordal__reference, node));
    while (!chordal__list_empty(&runtime->watches))
        chordal__watch_free(CHORDAL__ENTRY(runtime->watches.next, chordal__watch, node));
    chordal__calls_dispose(runtime);
    free_commits(runtime);
    if (CHORDAL__STORE) chordal__lives_abandon(runtime);
    while (!chordal__list_empty(&runtime->objects))
        chordal__object_destroy(CHORDAL__ENTRY(runtime->objects.next, chordal__object, node));
    if (CHORDAL__STORE) chordal__durables_dispose(runtime);
    free_types(runtime);
    chordal__heap_dispose(&runtime->deadlines);
    chordal__buffer_dispose(&runtime->scratch);
    chordal__pointers_dispose(&runtime->pointers);
    chordal__release(runtime->memory, runtime->local, sizeof *runtime->local);
    runtime->local = NULL;
}

void chordal__event_init(chordal__event *event, uint8_t kind) {
    chordal__list_init(&event->node);
    event->kind = kind;
}

void chordal__tell(chordal__runtime *runtime, chordal__event *event) {
    if (!chordal__telling(event)) chordal__list_append(&runtime->events, &event->node);
}

void chordal__tell_urgently(chordal__runtime *runtime, chordal__event *event) {
    if (!chordal__telling(event)) chordal__list_append(&runtime->urgent, &event->node);
}
