/* persist_copy.c: copies of the store that are being made: a piece of each in every turn, a ticket for each outcome. */
#include "object/object.h"

typedef struct copying {
    chordal__list node; /* runtime.store.copies */
    chordal__runtime *runtime;
    chordal__backup *backup;
    chordal__commit *commit; /* of nothing: it carries the ticket */
} copying;

static void free_copying(copying *copy) {
    chordal__list_remove(&copy->node);
    chordal__backup_close(copy->backup);
    chordal__release(copy->runtime->memory, copy, sizeof *copy);
}

static int check_count(const chordal__runtime *runtime, chordal_error *error) {
    uint32_t count = 0;
    for (const chordal__list *node = runtime->store->copies.next; node != &runtime->store->copies; node = node->next)
        count++;
    if (count < CHORDAL__COPIES_MAX) return 0;
    return chordal__fail(error, CHORDAL_E_LIMIT, 0, "four copies are being made already");
}

/* All that may fail comes before the copy is in the list. */
static int open_copying(copying *copy, const char *path, size_t len, chordal_error *error) {
    chordal__runtime *runtime = copy->runtime;
    copy->commit = chordal__commit_new(runtime, 0);
    if (copy->commit) copy->commit->ticket = chordal__id_new(&runtime->ids, CHORDAL__ID_TICKET, copy->commit, false);
    if (!copy->commit || !copy->commit->ticket) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a copy");
    chordal__persist_step(runtime); /* what was committed is in it */
    return chordal__backup_open(runtime->store, path, len, &copy->backup, error);
}

int chordal__copy_start(chordal__runtime *runtime, const char *path, size_t len, chordal_id *out_ticket,
                        chordal_error *error) {
    int code = check_count(runtime, error);
    if (code < 0) return code;
    copying *copy = chordal__allocate_zero(runtime->memory, sizeof *copy);
    if (!copy) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a copy");
    copy->runtime = runtime;
    code = open_copying(copy, path, len, error);
    if (code < 0) {
        if (copy->commit) chordal__commit_free(copy->commit);
        chordal__release(runtime->memory, copy, sizeof *copy);
        return code;
    }
    chordal__list_append(&runtime->store->copies, &copy->node);
    *out_ticket = copy->commit->ticket;
    return 0;
}

static void go_on(copying *copy) {
    bool done;
    chordal_error error = {0};
    chordal__commit *commit = copy->commit;
    int code = chordal__backup_step(copy->backup, &done, &error);
    if (code == 0 && !done) return;
    if (code < 0)
        chordal__reason_set(copy->runtime->memory, &commit->reason, code, NULL, 0, error.detail, strlen(error.detail));
    commit->number = code < 0 ? 0 : chordal__backup_last(copy->backup);
    chordal__tell(copy->runtime, &commit->told);
    free_copying(copy);
}

void chordal__copies_go_on(chordal__runtime *runtime) {
    for (chordal__list *node = runtime->store->copies.next, *next; node != &runtime->store->copies; node = next) {
        next = node->next;
        go_on(CHORDAL__ENTRY(node, copying, node));
    }
}

void chordal__copies_drop(chordal__runtime *runtime) {
    while (runtime->store && !chordal__list_empty(&runtime->store->copies)) {
        copying *copy = CHORDAL__ENTRY(runtime->store->copies.next, copying, node);
        chordal__commit_free(copy->commit);
        free_copying(copy);
    }
}
