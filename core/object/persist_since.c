/* persist_since.c: what readers of this or an earlier run missed of a document, as its revisions tell it. */
#include "object/object.h"

/* Of a document that was written by another version of its type only its value is known. A failure of reading is no
 * reason to fail: whole values are in memory. */
int chordal__persist_since(const chordal__object *object, uint32_t member, uint64_t after, uint64_t weight,
                           chordal__ops *ops) {
    chordal__runtime *runtime = object->runtime;
    const chordal__persisted *persisted = object->slots[member].persisted;
    chordal__span span = {.after = after, .to = runtime->commit_number, .weight = weight, .member = member};
    if (!persisted || persisted->document.now.version != object->type->version) return CHORDAL_E_NOT_FOUND;
    int code =
        chordal__document_since(runtime->store, &persisted->document, &span, &runtime->settings.limits, ops, NULL);
    return code == 0 || code == CHORDAL_E_NOMEM ? code : CHORDAL_E_NOT_FOUND;
}

uint64_t chordal__persist_lineage(chordal__runtime *runtime, const uint8_t run[16]) {
    static const uint8_t none[16];
    uint64_t limit = 0;
    if (runtime->store && memcmp(run, none, sizeof none) != 0)
        (void)chordal__lineage_limit(runtime->store, run, &limit, NULL);
    return limit;
}
