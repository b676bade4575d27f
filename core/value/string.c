/* string.c: strings: one flat text, or beyond TEXT_MAX bytes a tree of texts, each cut between code points. */
#include "value/scan.h"

chordal__node *chordal__text_new(chordal__memory *memory, const void *utf8, size_t len, size_t units) {
    chordal__text *text = chordal__allocate(memory, offsetof(chordal__text, data) + len);
    if (!text) return NULL;
    chordal__head_init(&text->head, CHORDAL_KIND_STRING, CHORDAL__FLAT, (unsigned)len);
    text->bytes = (uint16_t)len;
    text->units = (uint16_t)units;
    if (!CHORDAL__SMALL)
        chordal__copy_bytes(text->data, utf8, len);
    else if (len)
        memcpy(text->data, utf8, len);
    return (chordal__node *)text;
}

/* ---- pieces ---- */

/* The bytes of the next piece: TEXT_MAX, or less so as not to cut a code point. */
static size_t piece_length(const uint8_t *utf8, size_t len) {
    if (len <= CHORDAL__TEXT_MAX) return len;
    size_t size = CHORDAL__TEXT_MAX;
    while ((utf8[size] & 0xc0) == 0x80) size--;
    return size;
}

static void unref_all(chordal__memory *memory, chordal__node **nodes, size_t count) {
    while (count) chordal__node_unref(memory, nodes[--count]);
}

/* Cut into texts; the list is the caller's to release, `capacity` long. NULL: no memory. */
static chordal__node **cut_pieces(chordal__memory *memory, const uint8_t *utf8, size_t len, size_t *out_count,
                                  size_t *out_capacity) {
    size_t capacity = len / (CHORDAL__TEXT_MAX - 3) + 1, count = 0;
    chordal__node **pieces = chordal__allocate(memory, capacity * sizeof *pieces);
    if (!pieces) return NULL;
    for (size_t at = 0; at < len; count++) {
        size_t size = piece_length(utf8 + at, len - at);
        pieces[count] = chordal__text_new(memory, utf8 + at, size, (size_t)chordal__utf_units(utf8 + at, size));
        if (!pieces[count]) {
            unref_all(memory, pieces, count);
            chordal__release(memory, pieces, capacity * sizeof *pieces);
            return NULL;
        }
        at += size;
    }
    *out_count = count;
    *out_capacity = capacity;
    return pieces;
}

static chordal__node *new_rope(chordal__memory *memory, const uint8_t *utf8, size_t len, size_t units) {
    size_t count, capacity;
    chordal__node **pieces = cut_pieces(memory, utf8, len, &count, &capacity);
    if (!pieces) return NULL;
    chordal__node *node = chordal__tree_node(memory, CHORDAL_KIND_STRING);
    chordal__node *root = node ? chordal__tree_new(memory, pieces, count) : NULL;
    unref_all(memory, pieces, count);
    chordal__release(memory, pieces, capacity * sizeof *pieces);
    if (!root) {
        chordal__node_unref(memory, node);
        return NULL;
    }
    chordal__group_of(node)->slots[0] = root;
    chordal__group_of(node)->count = 1;
    *chordal__totals_of(node) = (chordal__totals){.length = units, .other = len};
    return node;
}

chordal__node *chordal__string_new(chordal__memory *memory, const void *utf8, size_t len, size_t units) {
    if (len <= CHORDAL__TEXT_MAX) return chordal__text_new(memory, utf8, len, units);
    return new_rope(memory, utf8, len, units);
}

chordal__node *chordal__node_text(chordal__memory *memory, const uint8_t *text, size_t len, size_t *out_fault) {
    bool ascii = !CHORDAL__SMALL && chordal__is_ascii(text, len);
    *out_fault = SIZE_MAX;
    if (!ascii && !chordal__utf_valid(text, len, out_fault)) return NULL;
    return chordal__string_new(memory, text, len, ascii ? len : (size_t)chordal__utf_units(text, len));
}

chordal__node *chordal__node_string(chordal__memory *memory, const void *utf8, size_t len) {
    return chordal__string_new(memory, utf8, len, (size_t)chordal__utf_units(utf8, len));
}

/* ---- reading ---- */

uint64_t chordal__node_string_bytes(const chordal__node *node) {
    return chordal__is_tree(node) ? chordal__totals_of(node)->other : chordal__text_of(node)->bytes;
}

bool chordal__node_string_piece(const chordal__node *node, uint64_t *at, const uint8_t **out_data, size_t *out_len) {
    const chordal__text *text;
    if (!chordal__is_tree(node)) {
        text = chordal__text_of(node);
        if (*at || text->bytes == 0) return false;
    } else {
        const chordal__node *root = chordal__group_of(node)->slots[0];
        if (*at >= chordal__tree_count(root)) return false;
        text = chordal__text_of(chordal__tree_at(root, (size_t)*at));
    }
    ++*at;
    *out_data = text->data;
    *out_len = text->bytes;
    return true;
}

/* ---- appending ---- */

/* What is put behind a text: `cut` bytes off its end, then the bytes of a code point that was joined, then the rest. */
typedef struct addition {
    size_t cut, joint_len, len, bytes, units; /* bytes: of joint and rest; units: gained */
    uint8_t joint[4];
    const uint8_t *utf8;
} addition;

static void join_halves(addition *add, const uint8_t *high, const uint8_t *low) {
    uint32_t top = (uint32_t)(high[1] & 0x0f) << 6 | (high[2] & 0x3f);
    uint32_t bottom = (uint32_t)(low[1] & 0x0f) << 6 | (low[2] & 0x3f);
    uint32_t point = 0x10000 + (top << 10 | bottom);
    add->joint[0] = (uint8_t)(0xf0 | point >> 18);
    add->joint[1] = (uint8_t)(0x80 | (point >> 12 & 0x3f));
    add->joint[2] = (uint8_t)(0x80 | (point >> 6 & 0x3f));
    add->joint[3] = (uint8_t)(0x80 | (point & 0x3f));
    add->joint_len = 4;
    add->cut = 3;
    add->utf8 += 3;
    add->len -= 3;
}

static addition addition_of(const chordal__text *tail, const uint8_t *utf8, size_t len) {
    addition add = {.utf8 = utf8, .len = len};
    if (*utf8 == 0xed && chordal__utf_joins(tail->data, tail->bytes, utf8, len))
        join_halves(&add, tail->data + tail->bytes - 3, utf8);
    add.bytes = add.joint_len + add.len;
    add.units = (add.joint_len ? 1 : 0) + (size_t)chordal__utf_units(add.utf8, add.len);
    return add;
}

static void put_addition(uint8_t *at, const addition *add) {
    memcpy(at, add->joint, add->joint_len);
    if (add->len) memcpy(at + add->joint_len, add->utf8, add->len);
}

/* What is put behind a text once is so again. */
static size_t room_for(size_t size) {
    return size + size / 2 < CHORDAL__TEXT_MAX ? size + size / 2 : CHORDAL__TEXT_MAX;
}

/* Change a text without other owners, which may move. False: no memory. */
static bool extend_text(chordal__memory *memory, chordal__node **slot, const addition *add) {
    chordal__text *text = chordal__text_of(*slot);
    size_t size = text->bytes - add->cut + add->bytes, header = offsetof(chordal__text, data);
    if (size > text->head.extent) {
        size_t room = room_for(size);
        text = chordal__resize(memory, text, header + text->head.extent, header + room);
        if (!text) return false;
        text->head.extent = (uint16_t)room;
        *slot = (chordal__node *)text;
    }
    put_addition(text->data + text->bytes - add->cut, add);
    text->bytes = (uint16_t)size;
    text->units = (uint16_t)(text->units + add->units);
    return true;
}

/* A new text of another and what is put behind it, if it is not too long for one. NULL: no memory. */
static chordal__node *extended_text(chordal__memory *memory, const chordal__text *text, const addition *add) {
    size_t kept = text->bytes - add->cut, size = kept + add->bytes, room = room_for(size);
    chordal__text *made = chordal__allocate(memory, offsetof(chordal__text, data) + room);
    if (!made) return NULL;
    chordal__head_init(&made->head, CHORDAL_KIND_STRING, CHORDAL__FLAT, (unsigned)room);
    made->bytes = (uint16_t)size;
    made->units = (uint16_t)(text->units + add->units);
    memcpy(made->data, text->data, kept);
    put_addition(made->data + kept, add);
    return (chordal__node *)made;
}

/* The bytes of a text and what is put behind it, to be released by the caller. */
static uint8_t *copy_extended(chordal__memory *memory, const chordal__text *text, const addition *add, size_t *out) {
    size_t kept = text->bytes - add->cut;
    *out = kept + add->bytes;
    uint8_t *bytes = chordal__allocate(memory, *out);
    if (!bytes) return NULL;
    memcpy(bytes, text->data, kept);
    put_addition(bytes + kept, add);
    return bytes;
}

static chordal__node *extended_rope(chordal__memory *memory, const chordal__text *text, const addition *add) {
    size_t size;
    uint8_t *bytes = copy_extended(memory, text, add, &size);
    chordal__node *made = bytes ? new_rope(memory, bytes, size, text->units + add->units) : NULL;
    chordal__release(memory, bytes, size);
    return made;
}

/* What is put behind a text stays short enough for one. */
static bool fits_text(const chordal__text *text, const addition *add) {
    return text->bytes - add->cut + add->bytes <= CHORDAL__TEXT_MAX;
}

static chordal__node *append_flat(chordal__memory *memory, chordal__node *node, const addition *add,
                                  chordal__node **still) {
    const chordal__text *text = chordal__text_of(node);
    bool fits = fits_text(text, add);
    if (node->references == 1 && node->form == CHORDAL__FLAT && fits) {
        if (extend_text(memory, &node, add)) return node;
        *still = node;
        return NULL;
    }
    chordal__node *made = fits ? extended_text(memory, text, add) : extended_rope(memory, text, add);
    if (made)
        chordal__node_unref(memory, node);
    else
        *still = node;
    return made;
}

/* Put new pieces in the place of the last one. */
static bool replace_tail(chordal__memory *memory, chordal__node **root, size_t last, const addition *add) {
    size_t size, count, capacity;
    uint8_t *bytes = copy_extended(memory, chordal__text_of(chordal__tree_at(*root, last)), add, &size);
    if (!bytes) return false;
    chordal__node **pieces = cut_pieces(memory, bytes, size, &count, &capacity);
    bool done = pieces && chordal__tree_splice(memory, root, last, 1, pieces, count);
    if (pieces) {
        unref_all(memory, pieces, count);
        chordal__release(memory, pieces, capacity * sizeof *pieces);
    }
    chordal__release(memory, bytes, size);
    return done;
}

/* The last piece with more behind it, in its place. */
static bool extend_tail(chordal__memory *memory, chordal__node **root, size_t last, const addition *add) {
    chordal__node **slot = chordal__tree_own(memory, root, last);
    if (!slot) return false;
    if ((*slot)->references == 1) return extend_text(memory, slot, add);
    chordal__node *made = extended_text(memory, chordal__text_of(*slot), add);
    if (!made) return false;
    chordal__node_unref(memory, *slot);
    *slot = made;
    return true;
}

static bool append_rope(chordal__memory *memory, chordal__node *node, const addition *add, size_t last) {
    chordal__node **root = &chordal__group_of(node)->slots[0];
    bool fits = fits_text(chordal__text_of(chordal__tree_at(*root, last)), add);
    if (!(fits ? extend_tail(memory, root, last, add) : replace_tail(memory, root, last, add))) return false;
    chordal__totals *totals = chordal__totals_of(node);
    totals->length += add->units;
    totals->other += add->bytes - add->cut;
    return true;
}

chordal__node *chordal__node_append(chordal__memory *memory, chordal__node *string, const void *utf8, size_t len,
                                    chordal__node **still) {
    if (len == 0) return string;
    if (!chordal__is_tree(string)) {
        addition add = addition_of(chordal__text_of(string), utf8, len);
        return append_flat(memory, string, &add, still);
    }
    const chordal__node *root = chordal__group_of(string)->slots[0];
    size_t last = chordal__tree_count(root) - 1;
    addition add = addition_of(chordal__text_of(chordal__tree_at(root, last)), utf8, len);
    chordal__node *work = chordal__edit_begin(memory, string);
    if (!work) {
        *still = string;
        return NULL;
    }
    return chordal__edit_end(memory, string, work, append_rope(memory, work, &add, last), still);
}

/* Text in several pieces is appended to a string that stays held, so that it can be given back. */
static chordal__node *append_pieces(chordal__memory *memory, chordal__node *string, const chordal__node *more,
                                    chordal__node **still) {
    chordal__node *before = chordal__node_ref(string), *made = string;
    const uint8_t *data;
    size_t len;
    for (uint64_t at = 0; made && chordal__node_string_piece(more, &at, &data, &len);)
        made = chordal__node_append(memory, made, data, len, still);
    if (made) {
        chordal__node_unref(memory, before);
    } else {
        chordal__node_unref(memory, *still);
        *still = before;
    }
    return made;
}

chordal__node *chordal__node_concat(chordal__memory *memory, chordal__node *string, const chordal__node *more,
                                    chordal__node **still) {
    if (chordal__is_tree(more)) return append_pieces(memory, string, more, still);
    const chordal__text *added = chordal__text_of(more);
    if (added->bytes == 0 || (!CHORDAL__SMALL && chordal__text_extend(string, more))) return string;
    return chordal__node_append(memory, string, added->data, added->bytes, still);
}

/* ---- dropping from the front ---- */

/* A text without its first units; `offset` and `split` are those of utf_offset. */
static size_t tail_of(const chordal__text *text, size_t units, uint8_t half[3]) {
    bool split;
    size_t offset = chordal__utf_offset(text->data, text->bytes, units, &split);
    half[0] = 0;
    if (!split) return offset;
    const uint8_t *point = text->data + offset;
    uint32_t low = (uint32_t)(point[2] & 0x0f) << 6 | (point[3] & 0x3f);
    half[0] = 0xed;
    half[1] = (uint8_t)(0xb0 | low >> 6);
    half[2] = (uint8_t)(0x80 | (low & 0x3f));
    return offset + 4;
}

static chordal__node *shorten_text(chordal__memory *memory, chordal__text *text, size_t units) {
    uint8_t half[3];
    size_t from = tail_of(text, units, half), kept = text->bytes - from, size = kept + (half[0] ? 3 : 0);
    bool own = text->head.references == 1;
    chordal__text *made = text;
    if (!own) made = chordal__text_of(chordal__text_new(memory, text->data, size, text->units - units));
    if (!made) return NULL;
    memmove(made->data + size - kept, text->data + from, kept);
    if (half[0]) memcpy(made->data, half, 3);
    made->bytes = (uint16_t)size;
    if (own) made->units = (uint16_t)(made->units - units);
    return (chordal__node *)made;
}

static chordal__node *drop_flat(chordal__memory *memory, chordal__node *node, uint64_t units, chordal__node **still) {
    chordal__node *made = shorten_text(memory, chordal__text_of(node), (size_t)units);
    if (!made)
        *still = node;
    else if (made != node)
        chordal__node_unref(memory, node);
    return made;
}

/* The piece in which the front will lie: its index, and in *units what is to be dropped of it. */
static size_t find_piece(const chordal__node *root, uint64_t *units, uint64_t *out_bytes) {
    for (size_t i = 0;; i++) {
        const chordal__text *text = chordal__text_of(chordal__tree_at(root, i));
        if (*units < text->units) return i;
        *units -= text->units;
        *out_bytes += text->bytes;
    }
}

static bool drop_rope(chordal__memory *memory, chordal__node *node, uint64_t units) {
    chordal__node **root = &chordal__group_of(node)->slots[0], *front = NULL;
    uint64_t rest = units, bytes = 0;
    size_t gone = find_piece(*root, &rest, &bytes);
    if (rest) {
        chordal__text *text = chordal__text_of(chordal__tree_at(*root, gone++));
        chordal__node_ref(&text->head); /* so that it is copied */
        front = shorten_text(memory, text, (size_t)rest);
        chordal__node_unref(memory, &text->head);
        if (!front) return false;
        bytes += (uint64_t)text->bytes - chordal__text_of(front)->bytes;
    }
    bool done = chordal__tree_splice(memory, root, 0, gone, &front, front != NULL);
    chordal__node_unref(memory, front);
    if (!done) return false;
    chordal__totals_of(node)->length -= units;
    chordal__totals_of(node)->other -= bytes;
    return true;
}

chordal__node *chordal__node_drop_front(chordal__memory *memory, chordal__node *string, uint64_t units,
                                        chordal__node **still) {
    if (units == 0) return string;
    if (!chordal__is_tree(string)) return drop_flat(memory, string, units, still);
    if (units == chordal__node_length(string)) {
        chordal__node *empty = chordal__text_new(memory, NULL, 0, 0);
        return chordal__edit_end(memory, string, empty ? empty : string, empty != NULL, still);
    }
    chordal__node *work = chordal__edit_begin(memory, string);
    if (!work) {
        *still = string;
        return NULL;
    }
    return chordal__edit_end(memory, string, work, drop_rope(memory, work, units), still);
}
