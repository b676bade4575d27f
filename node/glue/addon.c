/* addon.c: the addon of one environment, and errors. */
#include "addon.h"

#include <stdlib.h>
#include <string.h>

#include "slots.h"

static void addon_end(napi_env env, void *data, void *hint) {
    addon *self = data;
    (void)env, (void)hint;
    self->ended = true;
    slots_end(self);
}

bool frame_open(frame *call, napi_env env, napi_callback_info info) {
    size_t len = ADDON_ARGUMENTS;
    void *data = NULL;
    call->env = env;
    call->error.position = 0;
    call->error.detail[0] = 0;
    if (napi_get_cb_info(env, info, &len, call->arguments, NULL, &data) != napi_ok) return false;
    call->addon = data;
    return true;
}

static napi_value use_error(napi_env env, napi_callback_info info) {
    frame call;
    napi_valuetype type = napi_undefined;
    if (!frame_open(&call, env, info)) return NULL;
    napi_typeof(env, call.arguments[0], &type);
    if (type != napi_function) {
        napi_throw_type_error(env, NULL, "argument 1 is not a class");
        return NULL;
    }
    if (call.addon->error_class) napi_delete_reference(env, call.addon->error_class);
    call.addon->error_class = NULL;
    napi_create_reference(env, call.arguments[0], 1, &call.addon->error_class);
    return NULL;
}

/* Without a class: a plain Error with the same properties. */
static napi_value plain_error(frame *call, const napi_value *arguments) {
    napi_env env = call->env;
    int32_t code = 0;
    napi_value message, name, error = NULL;
    napi_get_value_int32(env, arguments[0], &code);
    const char *words = call->error.detail[0] ? call->error.detail : chordal_error_text(code);
    if (napi_create_string_utf8(env, words, NAPI_AUTO_LENGTH, &message) != napi_ok ||
        napi_create_string_utf8(env, chordal_error_name(code), NAPI_AUTO_LENGTH, &name) != napi_ok ||
        napi_create_error(env, NULL, message, &error) != napi_ok)
        return NULL;
    napi_set_named_property(env, error, "name", name);
    napi_set_named_property(env, error, "code", arguments[0]);
    napi_set_named_property(env, error, "position", arguments[1]);
    napi_set_named_property(env, error, "detail", arguments[2]);
    return error;
}

napi_value give_error(frame *call, int code) {
    napi_env env = call->env;
    napi_value arguments[3], class = NULL, error = NULL;
    call->error.detail[sizeof call->error.detail - 1] = 0;
    if (napi_create_int32(env, code, &arguments[0]) != napi_ok ||
        napi_create_double(env, (double)call->error.position, &arguments[1]) != napi_ok ||
        napi_create_string_utf8(env, call->error.detail, NAPI_AUTO_LENGTH, &arguments[2]) != napi_ok)
        return NULL;
    if (call->addon->error_class) napi_get_reference_value(env, call->addon->error_class, &class);
    if (class)
        napi_new_instance(env, class, 3, arguments, &error);
    else
        error = plain_error(call, arguments);
    if (error) napi_throw(env, error);
    return NULL;
}

static bool define(napi_env env, napi_value exports, addon *self, napi_property_descriptor descriptor) {
    descriptor.data = self;
    descriptor.attributes = napi_enumerable;
    return napi_define_properties(env, exports, 1, &descriptor) == napi_ok;
}

napi_value addon_open(napi_env env, napi_value exports, const napi_property_descriptor *functions,
                      size_t functions_len) {
    addon *self = calloc(1, sizeof *self);
    if (!self || napi_set_instance_data(env, self, addon_end, NULL) != napi_ok) {
        free(self);
        napi_throw_error(env, NULL, "out of memory");
        return NULL;
    }
    const napi_property_descriptor error = {.utf8name = "use_error", .method = use_error};
    bool defined = define(env, exports, self, error);
    for (size_t i = 0; defined && i < functions_len; i++) defined = define(env, exports, self, functions[i]);
    return defined ? exports : NULL;
}
