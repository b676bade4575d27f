/* live.c: the life of live queries: each demands the object whose table it follows, goes live behind it, and shares its
 * end. */
#include "object/live.h"

static const char declaration[] = "{\"name\":\"" CHORDAL__QUERY_TYPE "\",\"params\":[\"type\",\"params\",\"member\","
                                  "\"query\"],\"start\":true,\"members\":[{\"name\":\"rows\",\"kind\":\"document\","
                                  "\"initial\":[],\"persist\":false}]}";

int chordal__live_provide(chordal__runtime *runtime, chordal_error *error) {
    chordal__type *type;
    return chordal__type_provide_own(runtime, (const uint8_t *)declaration, sizeof declaration - 1, &type, error);
}

/* ---- what it is about ---- */

static chordal__node *field(const chordal__node *object, const char *name) {
    return chordal__node_get(object, name, strlen(name));
}

static bool is_text(const chordal__node *node) {
    return node && chordal__node_kind(node) == CHORDAL_KIND_STRING;
}

void chordal__target_dispose(chordal__runtime *runtime, chordal__target *target) {
    chordal__text_clear(runtime->memory, &target->type);
    chordal__text_clear(runtime->memory, &target->member);
    chordal__body_unref(target->params);
}

static int read_target(chordal__runtime *runtime, const chordal__node *params, chordal__target *out,
                       chordal_error *error) {
    const chordal__node *type = field(params, "type"), *member = field(params, "member");
    const chordal__node *object = field(params, "params");
    if (!is_text(type) || !is_text(member) || !object)
        return chordal__fail(error, CHORDAL_E_PARAMS, 0, "a live query has type, params, member and query");
    chordal__buffer packed;
    chordal__buffer_init(&packed, runtime->memory, UINT32_MAX);
    chordal__pack_write(&packed, object);
    out->params = chordal__body_of_buffer(runtime->memory, &packed);
    chordal__buffer_dispose(&packed);
    int code = out->params ? chordal__text_of_node(runtime->memory, type, &out->type) : CHORDAL_E_NOMEM;
    if (code == 0) code = chordal__text_of_node(runtime->memory, member, &out->member);
    return code < 0 ? chordal__fail(error, code, 0, "no memory for a query") : 0;
}

int chordal__target_read(chordal__runtime *runtime, const uint8_t *params, size_t params_len, chordal__target *out,
                         chordal_error *error) {
    chordal__node *node;
    *out = (chordal__target){0};
    int code = chordal__pack_read(runtime->memory, params, params_len, &runtime->settings.limits, &node, error);
    if (code < 0) return code;
    code = chordal__node_kind(node) == CHORDAL_KIND_OBJECT
               ? read_target(runtime, node, out, error)
               : chordal__fail(error, CHORDAL_E_PARAMS, 0, "a live query has type, params, member and query");
    chordal__node_unref(runtime->memory, node);
    if (code < 0) chordal__target_dispose(runtime, out);
    return code;
}

/* ---- following the source ---- */

static void on_batch(chordal__observer *observer, uint64_t commit, chordal__ops *ops) {
    (void)observer, (void)commit, (void)ops;
}

/* One that has its rows already only could not start. */
static void load(chordal__live *live) {
    chordal_error error = {0};
    int code = live->follows ? 0 : chordal__live_load(live, &error);
    if (code == 0)
        chordal__object_start(live->object);
    else
        chordal__object_fail(live->object, code, NULL, 0, error.detail, strlen(error.detail));
}

static void on_state(chordal__observer *observer) {
    chordal__live *live = CHORDAL__ENTRY(observer, chordal__live, observer);
    const chordal__object *source = live->rows->object;
    const chordal__reason *reason = &source->reason;
    switch (source->state) {
    case CHORDAL__OBJECT_LIVE:
        if (live->object->state == CHORDAL__OBJECT_STARTING) load(live);
        return;
    case CHORDAL__OBJECT_FAILED:
        chordal__live_forget(live);
        chordal__object_fail(live->object, reason->code, reason->name.data, reason->name.len, reason->detail.data,
                             reason->detail.len);
        return;
    case CHORDAL__OBJECT_RETIRED:
        chordal__object_retire(live->object);
        return;
    default:
        return;
    }
}

static const chordal__observer_functions source_observer = {on_batch, on_state};

void chordal__live_begin(chordal__object *object) {
    chordal__object *source = object->live->rows->object;
    if (source->state == CHORDAL__OBJECT_FAILED)
        chordal__object_retry(source);
    else
        on_state(&object->live->observer);
}

/* ---- life ---- */

static int read_query(chordal__live *live, const chordal__table *table, chordal_error *error) {
    chordal__object *object = live->object;
    chordal__runtime *runtime = object->runtime;
    chordal__node *params;
    int code = chordal__pack_read(runtime->memory, object->params->data, object->params->len, &runtime->settings.limits,
                                  &params, error);
    if (code < 0) return code;
    code = chordal__query_read(table, field(params, "query"), &live->query, error);
    chordal__node_unref(runtime->memory, params);
    if (code < 0 || !live->query.stale) return code;
    return chordal__fail(error, CHORDAL_E_INVALID, 0, "a live query is not of stale rows");
}

static int find_table(const chordal__type *type, const chordal__target *target, uint32_t *out, chordal_error *error) {
    int64_t member = chordal__members_find(type->members, target->member.data, target->member.len);
    if (member < 0)
        return chordal__fail_about(error, CHORDAL_E_NO_MEMBER, "the type has no table ", target->member.data,
                                   target->member.len);
    *out = (uint32_t)member;
    if (type->members->items[member].table) return 0;
    return chordal__fail(error, CHORDAL_E_INVALID, 0, "the member is no table");
}

static int follow(chordal__live *live, const chordal__target *target, chordal_error *error) {
    chordal__object *source;
    uint32_t member = 0;
    chordal__type *type = chordal__type_find(live->object->runtime, target->type.data, target->type.len);
    if (!type)
        return chordal__fail_about(error, CHORDAL_E_NO_TYPE, "not provided here: ", target->type.data,
                                   target->type.len);
    int code = find_table(type, target, &member, error);
    if (code == 0) code = read_query(live, type->members->items[member].table, error);
    if (code == 0) code = chordal__object_demand(type, target->params->data, target->params->len, &source, error);
    if (code < 0) return code;
    live->rows = chordal__rows_of(source, member);
    chordal__list_append(&live->rows->live, &live->node);
    chordal__list_append(&source->observers, &live->observer.node);
    return 0;
}

int chordal__live_open(chordal__object *object, chordal_error *error) {
    chordal__runtime *runtime = object->runtime;
    chordal__target target;
    chordal__live *live = chordal__allocate_zero(runtime->memory, sizeof *live);
    if (!live) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for a query");
    object->live = live;
    live->object = object;
    live->observer.functions = &source_observer;
    chordal__list_init(&live->node);
    chordal__list_init(&live->touched);
    chordal__list_init(&live->observer.node);
    chordal__map_init(&live->by_key, runtime->memory, runtime->seed);
    chordal__ops_init(&live->ops, runtime->memory);
    int code = chordal__target_read(runtime, object->params->data, object->params->len, &target, error);
    if (code < 0) return code;
    code = follow(live, &target, error);
    chordal__target_dispose(runtime, &target);
    return code;
}

static chordal__object *let_go(chordal__object *object) {
    chordal__live *live = object->live;
    chordal__object *source = live->rows ? live->rows->object : NULL;
    chordal__live_forget(live);
    chordal__list_remove(&live->node);
    chordal__list_remove(&live->observer.node);
    chordal__query_dispose(&live->query);
    chordal__release(object->runtime->memory, live, sizeof *live);
    object->live = NULL;
    return source;
}

void chordal__live_close(chordal__object *object) {
    chordal__object *source = object->live ? let_go(object) : NULL;
    if (source) chordal__object_undemand(source);
}

void chordal__lives_abandon(chordal__runtime *runtime) {
    for (chordal__list *node = runtime->objects.next; node != &runtime->objects; node = node->next) {
        chordal__object *object = CHORDAL__ENTRY(node, chordal__object, node);
        if (object->live) (void)let_go(object);
    }
}
