/* node.c: the life of nodes, and scalars. */
#include "value/node.h"

/* ---- groups ---- */

static size_t size_of_group(unsigned kind, unsigned form, size_t capacity) {
    size_t size = sizeof(chordal__group) + capacity * sizeof(chordal__node *);
    if (kind == CHORDAL__KIND_CHUNK) return form ? size + capacity * sizeof(size_t) : size;
    return form == CHORDAL__TREE ? size + sizeof(chordal__totals) : size;
}

size_t chordal__group_size(const chordal__group *group) {
    return size_of_group(group->head.kind, group->head.form, group->capacity);
}

chordal__group *chordal__group_new(chordal__memory *memory, unsigned kind, unsigned form, uint32_t capacity) {
    chordal__group *group = chordal__allocate(memory, size_of_group(kind, form, capacity));
    if (!group) return NULL;
    chordal__head_init(&group->head, kind, form, 1);
    group->count = 0;
    group->capacity = (uint16_t)capacity;
    group->place = 0;
    return group;
}

chordal__node *chordal__tree_node(chordal__memory *memory, unsigned kind) {
    chordal__group *group = chordal__group_new(memory, kind, CHORDAL__TREE, 2);
    if (group) *chordal__totals_of(&group->head) = (chordal__totals){0, 0};
    return group ? &group->head : NULL;
}

chordal__group *chordal__group_copy(chordal__memory *memory, const chordal__group *group, uint32_t capacity) {
    bool lodged = CHORDAL__LODGES && group->head.form == CHORDAL__LODGED && group->head.kind != CHORDAL__KIND_CHUNK;
    unsigned form = lodged ? CHORDAL__FLAT : group->head.form;
    chordal__group *copy = chordal__group_new(memory, group->head.kind, form, capacity);
    if (!copy) return NULL;
    copy->head.extent = group->head.extent;
    copy->count = group->count;
    memcpy(copy->slots, group->slots, group->count * sizeof *group->slots);
    for (uint32_t i = 0; i < group->count; i++)
        if (chordal__is_block(copy->slots[i])) copy->slots[i]->references++;
    return copy;
}

static chordal__lodge *lodge_of(chordal__node *node) {
    return chordal__lodge_at(node, node->kind < CHORDAL_KIND_ARRAY ? node->extent : chordal__group_of(node)->place);
}

chordal__group *chordal__group_resize(chordal__memory *memory, chordal__group *group, uint32_t capacity) {
    unsigned kind = group->head.kind, form = group->head.form;
    if (!CHORDAL__LODGES || form != CHORDAL__LODGED || kind == CHORDAL__KIND_CHUNK) {
        group = chordal__resize(memory, group, chordal__group_size(group), size_of_group(kind, form, capacity));
    } else {
        chordal__group *lodger = group;
        group = chordal__group_new(memory, kind, CHORDAL__FLAT, capacity);
        if (!group) return NULL;
        group->head.extent = lodger->head.extent;
        group->count = lodger->count;
        memcpy(group->slots, lodger->slots, lodger->count * sizeof *lodger->slots);
        chordal__lodge_leave(memory, lodge_of(&lodger->head));
    }
    if (group) group->capacity = (uint16_t)capacity;
    return group;
}

chordal__node *chordal__edit_begin(chordal__memory *memory, chordal__node *node) {
    if (node->references == 1) return node;
    const chordal__group *group = chordal__group_of(node);
    chordal__group *copy = chordal__group_copy(memory, group, group->capacity);
    if (!copy) return NULL;
    if (chordal__is_tree(node)) *chordal__totals_of(&copy->head) = *chordal__totals_of(node);
    return &copy->head;
}

chordal__node *chordal__edit_end(chordal__memory *memory, chordal__node *node, chordal__node *work, bool done,
                                 chordal__node **still) {
    if (done) {
        if (work != node) chordal__node_unref(memory, node);
        return work;
    }
    if (work != node) chordal__node_unref(memory, work);
    *still = node;
    return NULL;
}

/* ---- references ---- */

chordal__node *chordal__node_ref(chordal__node *node) {
    if (chordal__is_block(node)) node->references++;
    return node;
}

uint32_t chordal__node_owners(const chordal__node *node) {
    return chordal__is_block(node) ? node->references : 0;
}

static size_t size_of(const chordal__node *node) {
    const chordal__shape *shape = chordal__shape_of(node);
    switch (node->kind) {
    case CHORDAL_KIND_INTEGER:
    case CHORDAL_KIND_UNSIGNED:
    case CHORDAL_KIND_DOUBLE:
        return sizeof(chordal__scalar);
    case CHORDAL__KIND_SHAPE:
        return sizeof *shape + shape->count * (sizeof(uint32_t) + 1) + shape->bytes;
    case CHORDAL__KIND_ENTRY:
        return offsetof(chordal__entry, key) + chordal__entry_of(node)->key_len;
    case CHORDAL_KIND_STRING:
        if (!chordal__is_tree(node)) return offsetof(chordal__text, data) + node->extent;
        return chordal__group_size(chordal__group_of(node));
    default:
        return chordal__group_size(chordal__group_of(node));
    }
}

static inline void release(chordal__memory *memory, chordal__node *node) {
    if (CHORDAL__LODGES && node->form == CHORDAL__LODGED && node->kind <= CHORDAL_KIND_OBJECT)
        chordal__lodge_leave(memory, lodge_of(node));
    else
        chordal__release(memory, node, size_of(node));
}

static bool has_slots(const chordal__node *node) {
    if (node->kind == CHORDAL_KIND_STRING) return chordal__is_tree(node) && chordal__group_of(node)->count;
    if (node->kind < CHORDAL_KIND_STRING || node->kind == CHORDAL__KIND_SHAPE) return false;
    return node->kind == CHORDAL__KIND_ENTRY || chordal__group_of(node)->count;
}

/* A node has no more references: it is returned when it has slots. */
static inline chordal__node *mourn(chordal__memory *memory, chordal__node *node) {
    if (has_slots(node)) return node;
    release(memory, node);
    return NULL;
}

/* Give back one reference; a node that dies and has slots is returned. */
static inline chordal__node *let_go(chordal__memory *memory, chordal__node *node) {
    return !chordal__is_block(node) || --node->references ? NULL : mourn(memory, node);
}

static chordal__node **first_slot(chordal__node *node) {
    return node->kind == CHORDAL__KIND_ENTRY ? &chordal__entry_of(node)->value : chordal__group_of(node)->slots;
}

/* Put a node that died on the list of the dead, which is linked through first slots, and what its first slot held
 * behind it. */
static chordal__node *bury(chordal__memory *memory, chordal__node *node, chordal__node *dead) {
    while (node) {
        chordal__node **slot = first_slot(node), *first = *slot;
        *slot = dead;
        dead = node;
        node = let_go(memory, first);
    }
    return dead;
}

/* A flat container without containers in it, which lies in a lodge, most often together with its strings. */
static inline bool is_shallow(const chordal__node *node) {
    return node->form == CHORDAL__LODGED && node->extent == 1 &&
           (node->kind == CHORDAL_KIND_ARRAY || node->kind == CHORDAL_KIND_OBJECT);
}

/* It died: the lodge is left by it and its strings at once. What else dies has no containers in it. */
static void drop_shallow(chordal__memory *memory, chordal__group *group) {
    chordal__lodge *lodge = lodge_of(&group->head);
    uint32_t leaving = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        chordal__node *slot = group->slots[i];
        if (!chordal__is_block(slot) || --slot->references) continue;
        if (slot->kind == CHORDAL_KIND_STRING && slot->form == CHORDAL__LODGED && lodge_of(slot) == lodge) {
            leaving++;
        } else {
            slot->references = 1;
            chordal__node_unref(memory, slot);
        }
    }
    lodge->live -= leaving;
    chordal__lodge_leave(memory, lodge);
}

/* Empty a dead group from its end, but for the first slot, up to a node that dies and has slots, which is returned. */
static chordal__node *empty(chordal__memory *memory, chordal__group *group) {
    chordal__node **first = group->slots + 1, **at = group->slots + group->count, *node = NULL;
    while (!node && at > first) {
        chordal__node *slot = *--at; /* only a first slot may be empty */
        if (((uintptr_t)slot & 3) != 0 || --slot->references) continue;
        if (!CHORDAL__SMALL && is_shallow(slot))
            drop_shallow(memory, chordal__group_of(slot));
        else
            node = mourn(memory, slot);
    }
    group->count = (uint32_t)(at - group->slots);
    return node;
}

void chordal__node_unref(chordal__memory *memory, chordal__node *given) {
    chordal__node *node = let_go(memory, given);
    if (!node) return;
    chordal__node *dead = bury(memory, node, NULL);
    while (dead) {
        node = dead->kind == CHORDAL__KIND_ENTRY ? NULL : empty(memory, chordal__group_of(dead));
        if (node) {
            dead = bury(memory, node, dead);
        } else {
            chordal__node *next = *first_slot(dead);
            release(memory, dead);
            dead = next;
        }
    }
}

/* ---- scalars ---- */

chordal__node *chordal__node_null(chordal__memory *memory) {
    (void)memory;
    return chordal__constant(CHORDAL_KIND_NULL);
}

chordal__node *chordal__node_bool(chordal__memory *memory, bool truth) {
    (void)memory;
    return chordal__constant(truth ? CHORDAL_KIND_TRUE : CHORDAL_KIND_FALSE);
}

chordal__node *chordal__node_number(chordal__memory *memory, const chordal__number *number) {
    if (chordal__fits_pointer(number)) return chordal__pointer_integer(number->as.integer);
    chordal__scalar *scalar = chordal__allocate(memory, sizeof *scalar);
    if (!scalar) return NULL;
    chordal__head_init(&scalar->head, number->kind, CHORDAL__FLAT, 1);
    memcpy(&scalar->as, &number->as, sizeof scalar->as);
    return &scalar->head;
}

chordal__node *chordal__node_integer(chordal__memory *memory, int64_t integer) {
    chordal__number number = {.kind = CHORDAL_KIND_INTEGER, .as.integer = integer};
    return chordal__node_number(memory, &number);
}

/* ---- reading ---- */

int chordal__node_kind(const chordal__node *node) {
    return (int)chordal__kind_of(node);
}

void chordal__node_get_number(const chordal__node *node, chordal__number *out) {
    if ((uintptr_t)node & 1) {
        out->kind = CHORDAL_KIND_INTEGER;
        out->as.integer = (intptr_t)node >> 1;
        return;
    }
    out->kind = node->kind;
    memcpy(&out->as, &((const chordal__scalar *)(const void *)node)->as, sizeof out->as);
}

uint64_t chordal__node_length(const chordal__node *node) {
    if (!chordal__is_block(node) || node->kind < CHORDAL_KIND_STRING) return 0;
    if (chordal__is_tree(node)) return chordal__totals_of(node)->length;
    if (node->kind == CHORDAL_KIND_STRING) return chordal__text_of(node)->units;
    return chordal__group_of(node)->count - (node->kind == CHORDAL_KIND_OBJECT);
}

uint32_t chordal__node_depth(const chordal__node *node) {
    return chordal__is_block(node) && node->kind >= CHORDAL_KIND_ARRAY ? node->extent : 0;
}
