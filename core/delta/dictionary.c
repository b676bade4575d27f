/* dictionary.c: numbers for the paths that a stream uses again. */
#include "delta/inside.h"

#define RECENT_SIZE (CHORDAL__DICTIONARY_RECENT * sizeof(chordal__path *))

int chordal__dictionary_init(chordal__dictionary *dictionary, chordal__memory *memory, size_t limit,
                             const uint64_t seed[2]) {
    *dictionary = (chordal__dictionary){.memory = memory, .limit = limit};
    chordal__map_init(&dictionary->index, memory, seed);
    return 0;
}

/* ---- entries ---- */

/* Forget the entries from `count` on. */
static void cut(chordal__dictionary *dictionary, size_t count) {
    while (dictionary->count > count) {
        chordal__path *path = dictionary->entries[--dictionary->count].path;
        void *id = (void *)(uintptr_t)(dictionary->count + 1);
        if (chordal__map_get(&dictionary->index, &path->hash, sizeof path->hash) == id) {
            chordal__map_remove(&dictionary->index, &path->hash, sizeof path->hash);
        }
        chordal__path_unref(dictionary->memory, path);
    }
}

static void forget_recent(chordal__dictionary *dictionary) {
    if (!dictionary->recent) return;
    for (size_t i = 0; i < CHORDAL__DICTIONARY_RECENT; i++) {
        chordal__path_unref(dictionary->memory, dictionary->recent[i]);
        dictionary->recent[i] = NULL;
    }
    dictionary->recent_at = 0;
}

static void drop_entries(chordal__dictionary *dictionary) {
    for (size_t i = 0; i < dictionary->count; i++) {
        chordal__path_unref(dictionary->memory, dictionary->entries[i].path);
    }
    chordal__release(dictionary->memory, dictionary->entries, dictionary->capacity * sizeof *dictionary->entries);
    chordal__map_dispose(&dictionary->index);
}

/* An empty dictionary in its place; the old entries stay with whoever copied it. */
static void begin_anew(chordal__dictionary *dictionary, uint64_t cut_at) {
    chordal__map_init(&dictionary->index, dictionary->memory,
                      (uint64_t[2]){dictionary->index.seed[0], dictionary->index.seed[1]});
    dictionary->entries = NULL;
    dictionary->count = dictionary->capacity = 0;
    dictionary->generation_cut = cut_at;
}

void chordal__dictionary_reset(chordal__dictionary *dictionary, uint64_t cut_at) {
    drop_entries(dictionary);
    begin_anew(dictionary, cut_at);
    forget_recent(dictionary);
}

bool chordal__dictionary_back(chordal__dictionary *dictionary, uint64_t cut_at) {
    size_t count = dictionary->count;
    if (dictionary->generation_cut > cut_at) return false;
    while (count && dictionary->entries[count - 1].cut > cut_at) count--;
    cut(dictionary, count);
    return true;
}

void chordal__dictionary_dispose(chordal__dictionary *dictionary) {
    chordal__dictionary_reset(dictionary, 0);
    chordal__map_dispose(&dictionary->index);
    chordal__release(dictionary->memory, dictionary->recent, RECENT_SIZE);
    dictionary->recent = NULL;
}

/* Two paths of one hash: the first of them has the index, the other stays without. */
int chordal__dictionary_define(chordal__dictionary *dictionary, chordal__path *path, uint64_t cut_at) {
    if (dictionary->count >= dictionary->limit) return CHORDAL_E_RANGE;
    void *entries = dictionary->entries, *id = (void *)(uintptr_t)(dictionary->count + 1);
    int code = chordal__grow(dictionary->memory, &entries, sizeof *dictionary->entries, &dictionary->capacity,
                             dictionary->count + 1, dictionary->limit);
    dictionary->entries = entries;
    if (code != 0) return CHORDAL_E_NOMEM;
    code = chordal__map_put(&dictionary->index, &path->hash, sizeof path->hash, id);
    if (code == CHORDAL_E_NOMEM) return code;
    dictionary->entries[dictionary->count++] = (chordal__dictionary_entry){chordal__path_ref(path), cut_at};
    return 0;
}

static chordal__path *find(const chordal__dictionary *dictionary, chordal__path *path, size_t *out_id) {
    if (path->hint < dictionary->count && dictionary->entries[path->hint].path->hash == path->hash) {
        *out_id = path->hint;
        return dictionary->entries[path->hint].path;
    }
    uintptr_t id = (uintptr_t)chordal__map_get(&dictionary->index, &path->hash, sizeof path->hash);
    if (id == 0) return NULL;
    *out_id = id - 1;
    path->hint = (uint32_t)(id - 1);
    return dictionary->entries[id - 1].path;
}

int64_t chordal__dictionary_id(const chordal__dictionary *dictionary, chordal__path *path) {
    size_t id = 0;
    const chordal__path *found = find(dictionary, path, &id);
    return found && chordal__path_equal(found, path) ? (int64_t)id : -1;
}

/* ---- the provider's side ---- */

/* Take a path out of the recent ones; false when it was not among them. */
static bool take_recent(chordal__dictionary *dictionary, const chordal__path *path) {
    for (size_t i = 0; i < CHORDAL__DICTIONARY_RECENT; i++) {
        if (!dictionary->recent[i] || !chordal__path_equal(dictionary->recent[i], path)) continue;
        chordal__path_unref(dictionary->memory, dictionary->recent[i]);
        dictionary->recent[i] = NULL;
        return true;
    }
    return false;
}

static void put_recent(chordal__dictionary *dictionary, chordal__path *path) {
    chordal__path **slot = &dictionary->recent[dictionary->recent_at++ % CHORDAL__DICTIONARY_RECENT];
    chordal__path_unref(dictionary->memory, *slot);
    *slot = chordal__path_ref(path);
}

/* One use of a path. `old` gets what a new generation takes the place of, when it is the first in this commit. */
static int use(chordal__dictionary *dictionary, chordal__path *path, uint64_t cut_at, chordal__dictionary *old) {
    size_t id = 0;
    if (find(dictionary, path, &id)) return 0;
    if (!take_recent(dictionary, path)) {
        put_recent(dictionary, path);
        return 0;
    }
    if (dictionary->count >= dictionary->limit) {
        if (old->memory) {
            drop_entries(dictionary);
        } else {
            *old = *dictionary;
        }
        begin_anew(dictionary, cut_at);
        forget_recent(dictionary);
    }
    return chordal__dictionary_define(dictionary, path, cut_at);
}

/* Back to the entries of before. What is recent bears no promise and stays. */
static void take_back(chordal__dictionary *dictionary, const chordal__dictionary *old, size_t count) {
    if (old->memory) {
        drop_entries(dictionary);
        dictionary->entries = old->entries;
        dictionary->count = old->count;
        dictionary->capacity = old->capacity;
        dictionary->index = old->index;
        dictionary->generation_cut = old->generation_cut;
    }
    cut(dictionary, count);
}

static bool has_path(const chordal__op *op) {
    return op->path && op->kind != CHORDAL_OP_ERROR && op->kind != CHORDAL_OP_DEFINE;
}

int chordal__dictionary_note(chordal__dictionary *dictionary, const chordal__ops *ops, uint64_t cut_at) {
    if (dictionary->limit == 0) return 0;
    if (!dictionary->recent) dictionary->recent = chordal__allocate_zero(dictionary->memory, RECENT_SIZE);
    if (!dictionary->recent) return CHORDAL_E_NOMEM;
    chordal__dictionary old = {0};
    size_t count = dictionary->count;
    int code = 0;
    for (size_t i = 0; code == 0 && i < ops->count; i++) {
        if (has_path(&ops->items[i])) code = use(dictionary, ops->items[i].path, cut_at, &old);
    }
    if (code != 0) {
        take_back(dictionary, &old, count);
    } else if (old.memory) {
        drop_entries(&old);
    }
    return code;
}
