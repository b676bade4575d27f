/* slots.c: handles. A slot belongs to one external from its birth to its finalizer, also when closed before. */
#include "slots.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define NO_SLOT UINT32_MAX
#define INDEX_BITS (sizeof(uintptr_t) == 8 ? 24 : 16)
#define MOST_SLOTS ((uint32_t)1 << INDEX_BITS)
#define ADDRESS_BITS (sizeof(uintptr_t) == 8 ? 48 : 32) /* an engine may use the bits above */

/* What an external holds: the slot's number, sealed with the addon's address against those of other addons. */
static uintptr_t seal(const addon *self, uint32_t index) {
    uintptr_t address = (uintptr_t)self / sizeof(max_align_t) << INDEX_BITS;
    return (address & (((uintptr_t)1 << (ADDRESS_BITS - 1)) - 1)) | index;
}

static uint32_t unseal(const addon *self, const void *sealed) {
    uintptr_t index = (uintptr_t)sealed - seal(self, 0);
    return index < self->slots_len ? (uint32_t)index : NO_SLOT;
}

static void slot_close(addon *self, uint32_t index) {
    addon_slot *slot = &self->slots[index];
    void *pointer = slot->pointer;
    slot->pointer = NULL;
    if (pointer) addon_kinds[slot->kind].close(pointer);
}

static void addon_free(addon *self) {
    free(self->slots);
    free(self);
}

void slots_end(addon *self) {
    for (uint32_t i = self->slots_len; i-- > 0;) slot_close(self, i);
    if (self->externals == 0) addon_free(self);
}

/* Externals are finalized by the garbage collector, or when the environment ends, before or after the addon. */
static void slot_finalize(napi_env env, void *data, void *hint) {
    addon *self = hint;
    uint32_t index = unseal(self, data);
    (void)env;
    slot_close(self, index);
    self->slots[index].next = self->first_free;
    self->first_free = index + 1;
    if (--self->externals == 0 && self->ended) addon_free(self);
}

static uint32_t slot_take(addon *self) {
    if (self->first_free) {
        uint32_t index = self->first_free - 1;
        self->first_free = self->slots[index].next;
        return index;
    }
    if (self->slots_len == self->slots_room) {
        uint32_t room = self->slots_room ? self->slots_room * 2 : 8;
        addon_slot *slots = room <= MOST_SLOTS ? realloc(self->slots, room * sizeof *slots) : NULL;
        if (!slots) return NO_SLOT;
        self->slots = slots, self->slots_room = room;
    }
    return self->slots_len++;
}

napi_value give_handle(frame *call, uint32_t kind, void *pointer) {
    addon *self = call->addon;
    napi_value external = NULL;
    uint32_t index = slot_take(self);
    if (index == NO_SLOT) {
        addon_kinds[kind].close(pointer);
        return give_error(call, CHORDAL_E_NOMEM);
    }
    self->slots[index] = (addon_slot){pointer, kind, 0};
    if (napi_create_external(call->env, (void *)seal(self, index), slot_finalize, self, &external) != napi_ok) {
        slot_close(self, index);
        self->slots[index].next = self->first_free;
        self->first_free = index + 1;
        return NULL;
    }
    self->externals++;
    return external;
}

static bool read_slot(frame *call, size_t at, uint32_t kind, addon_slot **out) {
    addon *self = call->addon;
    void *data = NULL;
    if (napi_get_value_external(call->env, call->arguments[at], &data) == napi_ok) {
        uint32_t index = unseal(self, data);
        if (index != NO_SLOT && self->slots[index].kind == kind) {
            *out = &self->slots[index];
            return true;
        }
    }
    char message[64];
    snprintf(message, sizeof message, "argument %u is not a %s", (unsigned)at + 1, addon_kinds[kind].name);
    napi_throw_type_error(call->env, NULL, message);
    return false;
}

bool read_handle_quietly(frame *call, size_t at, uint32_t kind, void **out) {
    addon_slot *slot = NULL;
    if (!read_slot(call, at, kind, &slot)) return false;
    *out = slot->pointer;
    return true;
}

bool read_handle(frame *call, size_t at, uint32_t kind, void **out) {
    if (!read_handle_quietly(call, at, kind, out)) return false;
    if (*out) return true;
    give_error(call, CHORDAL_E_CLOSED);
    return false;
}

bool take_handle(frame *call, size_t at, uint32_t kind, void **out) {
    addon_slot *slot = NULL;
    if (!read_slot(call, at, kind, &slot)) return false;
    *out = slot->pointer;
    slot->pointer = NULL;
    return true;
}
