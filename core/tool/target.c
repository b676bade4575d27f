/* target.c: which object a command is about. */
#include "tool/tool.h"

static bool read_param(tool_text *out, const char *argument) {
    const char *equals = strchr(argument, '=');
    if (!equals || equals == argument) return false;
    bool json = equals[-1] == ':';
    if (out->len > 1) tool_text_add(out, ", ");
    tool_text_json(out, argument, (size_t)(equals - argument) - json);
    tool_text_add(out, ": ");
    if (json)
        tool_text_add(out, equals + 1);
    else
        tool_text_json(out, equals + 1, strlen(equals + 1));
    return true;
}

void tool_target_read(tool_target *target, int argc, char **argv, const char *usage) {
    memset(target, 0, sizeof *target);
    if (argc < 2) tool_usage(usage);
    target->address = argv[0];
    target->type = argv[1];
    target->used = 2;
    tool_text_add(&target->params, "{");
    while (target->used < argc && read_param(&target->params, argv[target->used])) target->used++;
    tool_text_add(&target->params, "}");
}

chordal_id tool_target_get(const tool_target *target, chordal_host *host, chordal_id link) {
    chordal_error error = {0};
    chordal_id reference = 0;
    if (chordal_reference_get(host, link, target->type, strlen(target->type), 0, 0, CHORDAL_FORMAT_JSON,
                              (const uint8_t *)target->params.data, target->params.len, &reference, &error))
        tool_die(target->type, &error);
    return reference;
}
