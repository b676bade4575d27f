/* addon.h: what the generated functions of the Node addon stand on.
 *
 * Nothing is static: each environment (the main thread, each worker) has an addon of its own. A handle is an external
 * that holds the number of a slot, never a pointer, so a foreign external can at worst name no slot. */
#ifndef CHORDAL_NODE_ADDON_H
#define CHORDAL_NODE_ADDON_H

#define NAPI_VERSION 8
#include <node_api.h>
#include <stdbool.h>

#include "chordal.h"

/* What a handle is of, and how it is given back. The table is generated: `addon_kinds`. */
typedef struct addon_kind {
    const char *name;
    void (*close)(void *pointer);
} addon_kind;
extern const addon_kind addon_kinds[];

typedef struct addon_slot {
    void *pointer; /* NULL once closed */
    uint32_t kind;
    uint32_t next; /* of a free slot: the next one */
} addon_slot;

typedef struct addon {
    napi_ref error_class;
    addon_slot *slots;
    uint32_t slots_len, slots_room, first_free;
    uint32_t externals; /* not finalized yet */
    bool ended;         /* the environment is gone; the last external frees the addon */
} addon;

#define ADDON_ARGUMENTS 10

/* One call from JavaScript. */
typedef struct frame {
    napi_env env;
    addon *addon;
    napi_value arguments[ADDON_ARGUMENTS];
    chordal_error error;
} frame;

/* A string argument: in `local` when it is short. */
typedef struct text {
    char *data;
    size_t len;
    char local[256];
} text;

typedef struct bytes {
    uint8_t *data;
    size_t len;
} bytes;

typedef enum option_type { OPTION_U32, OPTION_U64, OPTION_TIME, OPTION_TEXT } option_type;

typedef struct option_field {
    const char *name;
    size_t offset;
    option_type type;
} option_field;

/* Start a call: its arguments, undefined where they were not given. */
bool frame_open(frame *call, napi_env env, napi_callback_info info);

/* Readers of the argument at a position. False: an exception waits. */
bool read_handle(frame *call, size_t at, uint32_t kind, void **out);
/* As read_handle, for a function that answers nothing: a closed handle gives NULL. */
bool read_handle_quietly(frame *call, size_t at, uint32_t kind, void **out);
/* The handle is closed by this call; NULL when it was already. */
bool take_handle(frame *call, size_t at, uint32_t kind, void **out);
bool read_u64(frame *call, size_t at, uint64_t *out); /* a whole number below 2^53 */
bool read_u32(frame *call, size_t at, uint32_t *out);
bool read_i32(frame *call, size_t at, int32_t *out);
bool read_text(frame *call, size_t at, text *out);
void text_free(text *owned);
bool read_bytes(frame *call, size_t at, bytes *out);
/* Fill a size-first structure; `out_given` false for undefined or null. */
bool read_options(frame *call, size_t at, const option_field *fields, size_t fields_len, void *out, bool *out_given);
void options_free(const option_field *fields, size_t fields_len, void *options); /* its texts */

/* Results. NULL: an exception waits. */
napi_value give_nothing(frame *call);
napi_value give_number(frame *call, double number);
napi_value give_i32(frame *call, int32_t number);
napi_value give_u64(frame *call, uint64_t number);
napi_value give_text(frame *call, const char *words);
napi_value give_bytes(frame *call, const uint8_t *data, size_t len);
/* The pointer is given back when this fails. */
napi_value give_handle(frame *call, uint32_t kind, void *pointer);
/* An object of fields set with `give_field`. */
napi_value give_object(frame *call);
bool give_field(frame *call, napi_value object, const char *name, napi_value value);
/* Throw what a function answered. */
napi_value give_error(frame *call, int code);

/* Define the functions on `exports`, and `use_error`. */
napi_value addon_open(napi_env env, napi_value exports, const napi_property_descriptor *functions,
                      size_t functions_len);

#endif
