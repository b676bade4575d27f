/* results.c: making what JavaScript gets. */
#include <string.h>

#include "addon.h"

napi_value give_nothing(frame *call) {
    (void)call;
    return NULL; /* undefined */
}

napi_value give_number(frame *call, double number) {
    napi_value result = NULL;
    napi_create_double(call->env, number, &result);
    return result;
}

napi_value give_i32(frame *call, int32_t number) {
    napi_value result = NULL;
    napi_create_int32(call->env, number, &result);
    return result;
}

napi_value give_u64(frame *call, uint64_t number) {
    napi_value result = NULL;
    napi_create_bigint_uint64(call->env, number, &result);
    return result;
}

napi_value give_text(frame *call, const char *words) {
    napi_value result = NULL;
    napi_create_string_utf8(call->env, words, NAPI_AUTO_LENGTH, &result);
    return result;
}

napi_value give_bytes(frame *call, const uint8_t *data, size_t len) {
    napi_value buffer = NULL, result = NULL;
    void *copy = NULL;
    if (napi_create_arraybuffer(call->env, len, &copy, &buffer) != napi_ok) return NULL;
    if (len) memcpy(copy, data, len);
    napi_create_typedarray(call->env, napi_uint8_array, len, buffer, 0, &result);
    return result;
}

napi_value give_object(frame *call) {
    napi_value object = NULL;
    napi_create_object(call->env, &object);
    return object;
}

bool give_field(frame *call, napi_value object, const char *name, napi_value value) {
    return object && value && napi_set_named_property(call->env, object, name, value) == napi_ok;
}
