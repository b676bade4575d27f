/* worker_plan.c: what a worker is started with, copied from its options. */
#include "uv/uv.h"

extern char **environ;

static void free_words(char **words) {
    for (size_t i = 0; words && words[i]; i++) free(words[i]);
    free(words);
}

/* Copies of words, but of those that begin with `but`, and of one more. NULL: no memory. */
static char **copy_words(char *const *words, const char *but, const char *further) {
    size_t count = 0, len = 0;
    while (words[count]) count++;
    char **copies = calloc(count + 2, sizeof *copies);
    for (size_t i = 0; copies && i < count; i++) {
        if (but && strncmp(words[i], but, strlen(but)) == 0) continue;
        copies[len] = strdup(words[i]);
        if (!copies[len++]) goto failed;
    }
    if (copies && further && !(copies[len] = strdup(further))) goto failed;
    return copies;
failed:
    free_words(copies);
    return NULL;
}

static uint32_t number(uint32_t given, uint32_t fallback) {
    return given ? given : fallback;
}

static chordal_time span(chordal_time given, chordal_time fallback) {
    if (given > CHORDAL_NEVER) return CHORDAL_NEVER;
    return given ? given : fallback;
}

static void fill(chordal_uv_worker_options *options) {
    options->start_timeout = span(options->start_timeout, 30000);
    options->drain_timeout = span(options->drain_timeout, 5000);
    options->stop_timeout = span(options->stop_timeout, 5000);
    options->kill_timeout = span(options->kill_timeout, 5000);
    options->backoff_first = span(options->backoff_first, 250);
    options->backoff_limit = span(options->backoff_limit, 15000);
    options->steady = span(options->steady, 10000);
    options->restarts = options->flags & CHORDAL_UV_WORKER_ONCE ? 0 : number(options->restarts, 8);
}

int chordal__uv_plan_read(const chordal_uv_worker_options *given, chordal__uv_plan *out, chordal_error *error) {
    static const char name[] = CHORDAL__UV_PARENT "=";
    char parent[sizeof name + 8];
    memset(out, 0, sizeof *out);
    if (!given || given->size < 2 * sizeof(uint32_t) || given->size > sizeof *given)
        return chordal__uv_fail(error, UV_EINVAL, "worker options");
    memcpy(&out->options, given, given->size);
    chordal_uv_worker_options *options = &out->options;
    if (!options->arguments || !options->arguments[0] || options->flags & ~(uint32_t)CHORDAL_UV_WORKER_ONCE)
        return chordal__uv_fail(error, UV_EINVAL, "worker options");
    fill(options);
    snprintf(parent, sizeof parent, "%s%d", name, CHORDAL__UV_PARENT_SOCKET);
    char *const *environment = options->environment ? (char *const *)options->environment : environ;
    out->arguments = copy_words((char *const *)options->arguments, NULL, NULL);
    out->environment = copy_words(environment, name, parent);
    if (options->folder) out->folder = strdup(options->folder);
    if (options->types) out->types = strdup(options->types);
    if (out->arguments && out->environment && !options->folder == !out->folder && !options->types == !out->types)
        return 0;
    chordal__uv_plan_free(out);
    return chordal__uv_fail(error, UV_ENOMEM, "worker");
}

void chordal__uv_plan_free(chordal__uv_plan *plan) {
    free_words(plan->arguments);
    free_words(plan->environment);
    free(plan->folder);
    free(plan->types);
}
