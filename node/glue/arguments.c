/* arguments.c: reading what JavaScript gives. A wrong type is a TypeError, and nothing was done. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "addon.h"

#define LARGEST_WHOLE 9007199254740991.0

static bool refuse(frame *call, size_t at, const char *wanted) {
    char message[96];
    snprintf(message, sizeof message, "argument %u is not %s", (unsigned)at + 1, wanted);
    napi_throw_type_error(call->env, NULL, message);
    return false;
}

static bool is_whole(double number, double largest) {
    return number >= 0 && number <= largest && (double)(uint64_t)number == number;
}

bool read_u64(frame *call, size_t at, uint64_t *out) {
    double number = -1;
    if (napi_get_value_double(call->env, call->arguments[at], &number) != napi_ok || !is_whole(number, LARGEST_WHOLE))
        return refuse(call, at, "a whole number");
    *out = (uint64_t)number;
    return true;
}

bool read_u32(frame *call, size_t at, uint32_t *out) {
    double number = -1;
    if (napi_get_value_double(call->env, call->arguments[at], &number) != napi_ok || !is_whole(number, UINT32_MAX))
        return refuse(call, at, "a whole number of 32 bits");
    *out = (uint32_t)number;
    return true;
}

bool read_i32(frame *call, size_t at, int32_t *out) {
    double number = 0.5;
    if (napi_get_value_double(call->env, call->arguments[at], &number) != napi_ok ||
        !is_whole(number < 0 ? -number : number, INT32_MAX))
        return refuse(call, at, "a whole number of 32 bits");
    *out = (int32_t)number;
    return true;
}

bool read_text(frame *call, size_t at, text *out) {
    napi_env env = call->env;
    napi_value value = call->arguments[at];
    out->data = out->local;
    if (napi_get_value_string_utf8(env, value, out->local, sizeof out->local, &out->len) != napi_ok)
        return refuse(call, at, "a string");
    if (out->len < sizeof out->local - 4) return true; /* else it may have been cut */
    if (napi_get_value_string_utf8(env, value, NULL, 0, &out->len) != napi_ok) return refuse(call, at, "a string");
    char *data = malloc(out->len + 1);
    if (!data) {
        give_error(call, CHORDAL_E_NOMEM);
        return false;
    }
    out->data = data;
    return napi_get_value_string_utf8(env, value, data, out->len + 1, &out->len) == napi_ok;
}

void text_free(text *owned) {
    if (owned->data != owned->local) free(owned->data);
}

/* Memory that another thread may change meanwhile (a SharedArrayBuffer) is refused. */
bool read_bytes(frame *call, size_t at, bytes *out) {
    napi_env env = call->env;
    napi_typedarray_type type = napi_int8_array;
    napi_value buffer;
    void *data = NULL;
    bool typed = false, plain = false;
    if (napi_is_typedarray(env, call->arguments[at], &typed) != napi_ok || !typed ||
        napi_get_typedarray_info(env, call->arguments[at], &type, &out->len, &data, &buffer, NULL) != napi_ok ||
        type != napi_uint8_array || napi_is_arraybuffer(env, buffer, &plain) != napi_ok || !plain)
        return refuse(call, at, "a Uint8Array");
    static uint8_t const nothing[8] = {0};
    out->data = data && out->len ? data : (uint8_t *)(uintptr_t)nothing;
    return true;
}

static bool read_option(frame *call, napi_value value, const option_field *field, uint64_t *out) {
    double number = -1;
    bool lossless = false;
    if (napi_get_value_double(call->env, value, &number) == napi_ok) {
        *out = (uint64_t)(is_whole(number, LARGEST_WHOLE) ? number : 0);
        return is_whole(number, field->type == OPTION_U32 ? UINT32_MAX : LARGEST_WHOLE);
    }
    return field->type == OPTION_U64 && napi_get_value_bigint_uint64(call->env, value, out, &lossless) == napi_ok &&
           lossless;
}

static void set_option(void *out, const option_field *field, uint64_t number) {
    uint32_t narrow = (uint32_t)number;
    if (field->type == OPTION_U32)
        memcpy((char *)out + field->offset, &narrow, sizeof narrow);
    else
        memcpy((char *)out + field->offset, &number, sizeof number);
}

/* A text without a NUL inside, as C takes it; NULL: it is none. */
static char *option_text(frame *call, napi_value value) {
    size_t len;
    if (napi_get_value_string_utf8(call->env, value, NULL, 0, &len) != napi_ok) return NULL;
    char *copy = malloc(len + 1);
    if (copy) napi_get_value_string_utf8(call->env, value, copy, len + 1, &len);
    if (copy && strlen(copy) == len) return copy;
    free(copy);
    return NULL;
}

void options_free(const option_field *fields, size_t fields_len, void *options) {
    for (size_t i = 0; i < fields_len; i++) {
        char *copy = NULL;
        if (fields[i].type != OPTION_TEXT) continue;
        memcpy(&copy, (char *)options + fields[i].offset, sizeof copy);
        free(copy);
    }
}

static bool refuse_option(frame *call, const option_field *field) {
    char message[96];
    const char *wanted = field->type == OPTION_TEXT ? "a text" : "a whole number in range";
    snprintf(message, sizeof message, "%s is not %s", field->name, wanted);
    napi_throw_type_error(call->env, NULL, message);
    return false;
}

static bool take_option(frame *call, napi_value value, const option_field *field, void *out) {
    uint64_t number = 0;
    if (field->type == OPTION_TEXT) {
        char *copy = option_text(call, value);
        memcpy((char *)out + field->offset, &copy, sizeof copy);
        return copy != NULL;
    }
    bool fits = read_option(call, value, field, &number);
    if (fits) set_option(out, field, number);
    return fits;
}

bool read_options(frame *call, size_t at, const option_field *fields, size_t fields_len, void *out, bool *out_given) {
    napi_env env = call->env;
    napi_valuetype type = napi_undefined;
    napi_typeof(env, call->arguments[at], &type);
    *out_given = type == napi_object;
    if (type == napi_undefined || type == napi_null) return true;
    if (type != napi_object) return refuse(call, at, "an object");
    for (size_t i = 0; i < fields_len; i++) {
        napi_value value;
        if (napi_get_named_property(env, call->arguments[at], fields[i].name, &value) != napi_ok ||
            napi_typeof(env, value, &type) != napi_ok)
            return false;
        if (type == napi_undefined) continue;
        if (!take_option(call, value, &fields[i], out)) return refuse_option(call, &fields[i]);
    }
    return true;
}
