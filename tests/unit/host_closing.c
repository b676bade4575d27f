/* host_closing.c: everything may be closed in any order, from any thread, and a closed thing stays refused. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hosts.h"

enum { HOST, LINK, REFERENCE, WATCH, CALL, VALUE, THINGS };

static test_pair p;
static chordal_id ids[THINGS];
static chordal_value *value;

static void open_things(bool provider_side) {
    pair_open(&p, CHORDAL_CODEC_BINARY, (chordal_host_options){0}, 0, 0);
    provide(&p.a, NOTES);
    test_host *own = provider_side ? &p.a : &p.b;
    ids[REFERENCE] = get_over(own, 0, "notes", NOTES_PARAMS, 0);
    settle(&p);
    ids[LINK] = provider_side ? p.link_a : p.link_b;
    CHECK_INT(chordal_watch_open(own->host, ids[REFERENCE], NOTES_LIST, 0, &ids[WATCH], NULL), 0);
    ids[CALL] = call(own, ids[REFERENCE], "add", "[1]");
    settle(&p);
    CHECK_INT(chordal_reference_value(own->host, ids[REFERENCE], NOTES_LIST, &value, NULL), 0);
}

static void close_one(int thing, test_host *own, chordal_host *host) {
    /* A call whose outcome was told is not the program's any more. */
    host_event *told = own->host ? last_event(own, CHORDAL_EVENT_RESULT) : NULL;
    if (told && told->as.result.call == ids[CALL]) ids[CALL] = 0;
    if (thing == VALUE)
        chordal_value_unref(value);
    else if (thing != HOST)
        chordal_release(host, ids[thing]);
    else
        test_host_close(own);
    if (own->host && thing != HOST) test_poll(own);
}

static void close_in_order(const int *order, bool provider_side) {
    open_things(provider_side);
    test_host *own = provider_side ? &p.a : &p.b, *other = provider_side ? &p.b : &p.a;
    chordal_host *host = own->host;
    /* A call that this host serves is the program's until it is answered. */
    host_event *served = last_event(&p.a, CHORDAL_EVENT_CALL);
    chordal_id served_id = served ? served->as.call.call : 0;
    chordal_host *served_by = p.a.host;
    for (int i = 0; i < THINGS; i++) close_one(order[i], own, host);
    if (provider_side) chordal_release(served_by, served_id);
    chordal_release(other->host, provider_side ? p.link_b : p.link_a);
    if (!provider_side) chordal_release(served_by, served_id);
    test_host_close(other);
}

static void permute(int *order, int at, bool provider_side) {
    if (at == THINGS) {
        close_in_order(order, provider_side);
        return;
    }
    for (int i = at; i < THINGS; i++) {
        int kept = order[at];
        order[at] = order[i], order[i] = kept;
        permute(order, at + 1, provider_side);
        kept = order[at];
        order[at] = order[i], order[i] = kept;
    }
}

TEST(a_consumer_closes_in_every_order) {
    int order[THINGS] = {HOST, LINK, REFERENCE, WATCH, CALL, VALUE};
    permute(order, 0, false);
}

TEST(a_provider_closes_in_every_order) {
    int order[THINGS] = {HOST, LINK, REFERENCE, WATCH, CALL, VALUE};
    permute(order, 0, true);
}

TEST(what_was_closed_is_refused) {
    open_things(false);
    chordal_id none;
    for (int i = LINK; i <= CALL; i++) chordal_release(p.b.host, ids[i]);
    test_poll(&p.b);
    CHECK_INT(chordal_reference_state(p.b.host, ids[REFERENCE]), CHORDAL_REFERENCE_RELEASED);
    CHECK_INT(chordal_watch_open(p.b.host, ids[REFERENCE], 0, 0, &none, NULL), CHORDAL_E_CLOSED);
    CHECK_INT(chordal_watch_take(p.b.host, ids[WATCH], NULL), CHORDAL_E_CLOSED);
    CHECK_INT(chordal_call_cancel(p.b.host, ids[CALL], NULL), CHORDAL_E_CLOSED);
    CHECK_INT(chordal_link_close(p.b.host, ids[LINK], NULL), CHORDAL_E_CLOSED);
    for (int i = LINK; i <= CALL; i++) chordal_release(p.b.host, ids[i]);
    chordal_release(p.b.host, 12345678);
    test_poll(&p.b);
    CHECK_TEXT(json_of(value), "{\"entries\":[],\"text\":\"\"}");
    chordal_id served = last_event(&p.a, CHORDAL_EVENT_CALL)->as.call.call;
    chordal_release(p.a.host, served);
    chordal_release(p.a.host, p.link_a);
    test_host_close(&p.a);
    test_host_close(&p.b);
}

/* ---- threads ---- */

typedef struct releases {
    chordal_host *host;
    chordal_id ids[512];
} releases;

static void *release_all(void *context) {
    releases *r = context;
    for (size_t i = 0; i < 512; i++) chordal_release(r->host, r->ids[i]);
    return NULL;
}

TEST(finalizers_release_while_the_host_is_at_work) {
    test_host h;
    pthread_t threads[4];
    releases given[4];
    test_host_open(&h, (chordal_host_options){0});
    provide(&h, NOTES);
    for (int t = 0; t < 4; t++) {
        given[t].host = h.host;
        for (int i = 0; i < 512; i++) given[t].ids[i] = get(&h, "notes", NOTES_PARAMS);
    }
    test_poll(&h);
    for (int t = 0; t < 4; t++) CHECK_INT(pthread_create(&threads[t], NULL, release_all, &given[t]), 0);
    chordal_id last = get(&h, "notes", NOTES_PARAMS);
    for (int i = 0; i < 200; i++) {
        call(&h, last, "add", "[]");
        test_poll(&h);
        chordal_id served = last_event(&h, CHORDAL_EVENT_CALL)->as.call.call;
        CHECK_INT(answer(&h, served, "1"), 0);
    }
    for (int t = 0; t < 4; t++) pthread_join(threads[t], NULL);
    chordal_release(h.host, last);
    test_poll(&h);
    CHECK_INT(test_counters(&h).live_objects, 0);
    test_host_close(&h);
}

TEST(the_last_release_of_a_closed_host_may_come_from_any_thread) {
    test_host h;
    pthread_t threads[4];
    releases given[4];
    test_host_open(&h, (chordal_host_options){0});
    provide(&h, NOTES);
    for (int t = 0; t < 4; t++) {
        given[t].host = h.host;
        for (int i = 0; i < 512; i++) given[t].ids[i] = get(&h, "notes", NOTES_PARAMS);
    }
    test_host_close(&h);
    for (int t = 0; t < 4; t++) CHECK_INT(pthread_create(&threads[t], NULL, release_all, &given[t]), 0);
    for (int t = 0; t < 4; t++) pthread_join(threads[t], NULL);
}

/* A thread stays inside while its memory functions wait. */
static atomic_int inside, go_on;
static bool wait_inside;
static void *slow_allocate(void *context, size_t size) {
    (void)context;
    if (wait_inside) {
        wait_inside = false;
        atomic_store(&inside, 1);
        while (!atomic_load(&go_on)) usleep(100);
    }
    return malloc(size);
}
static void *slow_resize(void *context, void *block, size_t old_size, size_t new_size) {
    (void)context, (void)old_size;
    return realloc(block, new_size);
}
static void slow_release(void *context, void *block, size_t size) {
    (void)context, (void)size;
    free(block);
}

static void *enter_slowly(void *context) {
    test_host *h = context;
    wait_inside = true;
    chordal_id reference = get(h, "notes", "{\"board\":\"slow\"}");
    chordal_release(h->host, reference);
    return NULL;
}

TEST(a_second_thread_is_refused) {
    test_host h;
    pthread_t thread;
    chordal_error error = {0};
    uint64_t buffer[128];
    size_t len;
    chordal_memory_functions memory = {sizeof memory, 0, NULL, slow_allocate, slow_resize, slow_release};
    test_host_open(&h, (chordal_host_options){.memory = &memory});
    provide(&h, NOTES);
    atomic_store(&inside, 0), atomic_store(&go_on, 0);
    CHECK_INT(pthread_create(&thread, NULL, enter_slowly, &h), 0);
    while (!atomic_load(&inside)) usleep(100);
    CHECK_INT(chordal_host_poll(h.host, 0, (uint8_t *)buffer, sizeof buffer, &len, &error), CHORDAL_E_BUSY);
    CHECK_INT(error.code, CHORDAL_E_BUSY);
    atomic_store(&go_on, 1);
    pthread_join(thread, NULL);
    test_poll(&h);
    test_host_close(&h);
}

TEST(a_child_after_a_fork_is_refused) {
    open_things(false);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        chordal_error error = {0};
        uint64_t buffer[128];
        size_t len;
        int code = chordal_host_poll(p.b.host, 0, (uint8_t *)buffer, sizeof buffer, &len, &error);
        _exit(code == CHORDAL_E_FORKED && error.code == CHORDAL_E_FORKED ? 0 : 1);
    }
    int status = -1;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    chordal_value_unref(value);
    for (int i = LINK; i <= CALL; i++) chordal_release(p.b.host, ids[i]);
    chordal_release(p.a.host, last_event(&p.a, CHORDAL_EVENT_CALL)->as.call.call);
    chordal_release(p.a.host, p.link_a);
    test_host_close(&p.a);
    test_host_close(&p.b);
}

/* What is left would be reported by the sanitizer. */
TEST(a_forgotten_host_leaves_nothing) {
    for (int closed = 0; closed < 2; closed++) {
        open_things(false);
        chordal_host *provider = p.a.host, *consumer = p.b.host;
        if (closed) chordal_host_close(provider), chordal_host_close(consumer);
        chordal_host_forget(provider);
        chordal_host_forget(consumer);
        chordal_value_unref(value);
        free(p.a.events);
        free(p.b.events);
    }
    chordal_host_forget(NULL);
}

TESTS({"a consumer closes in every order", a_consumer_closes_in_every_order},
      {"a provider closes in every order", a_provider_closes_in_every_order},
      {"what was closed is refused", what_was_closed_is_refused},
      {"finalizers release while the host is at work", finalizers_release_while_the_host_is_at_work},
      {"the last release of a closed host may come from any thread",
       the_last_release_of_a_closed_host_may_come_from_any_thread},
      {"a forgotten host leaves nothing", a_forgotten_host_leaves_nothing},
      {"a second thread is refused", a_second_thread_is_refused},
      {"a child after a fork is refused", a_child_after_a_fork_is_refused})
