/* link_edits.c: random edits at a provider, followed over both codecs by a reference whose values the core keeps and by
 * one whose program keeps them, by readers that are sometimes slow. Argument: a seed to run alone. */
#include "hosts.h"
#include "odd_values.h"
#include "wire/wire.h"

#define TYPE                                                                                                           \
    "{\"name\":\"doc\",\"version\":1,\"members\":[{\"name\":\"a\",\"kind\":\"document\",\"initial\":{\"list\":[1,2,3]" \
    ","                                                                                                                \
    "\"map\":{\"k\":\"v\"},\"text\":\"start\"}},{\"name\":\"b\",\"kind\":\"document\",\"initial\":null}]}"

typedef struct replica {
    chordal__memory *memory;
    chordal__node *values[2];
} replica;

static uint64_t random_state;
static uint32_t draw(uint32_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

static const char *random_json(void) {
    return odd_values[draw(ODD_VALUES)];
}

static uint64_t length_of(chordal_transaction *t, chordal_id object, const char *path) {
    chordal_value *value;
    chordal_cursor cursor;
    if (chordal_transaction_value(t, object, 0, path, &value, NULL) < 0) return 0;
    chordal_cursor_root(value, &cursor);
    uint64_t length = chordal_cursor_length(&cursor);
    chordal_value_unref(value);
    return length;
}

static void edit_list(test_host *h, chordal_transaction *t, chordal_id object) {
    uint32_t length = (uint32_t)length_of(t, object, "/list"), indexes[64];
    char path[64];
    chordal_value *values;
    chordal_error error;
    snprintf(path, sizeof path, "/list/%u", length ? draw(length) : 0);
    switch (draw(5)) {
    case 0:
        CHECK_INT(chordal_transaction_set_json(t, object, 0, "/list/-", random_json(), &error), 0);
        break;
    case 1:
        if (length) CHECK_INT(chordal_transaction_delete(t, object, 0, path, &error), 0);
        break;
    case 2:
        if (length) CHECK_INT(chordal_transaction_set_json(t, object, 0, path, random_json(), &error), 0);
        break;
    case 3: {
        uint32_t at = draw(length + 1), remove = draw(length - at + 1);
        CHECK_INT(
            chordal_value_decode(h->host, CHORDAL_FORMAT_JSON, (const uint8_t *)"[7,\"eight\"]", 11, &values, &error),
            0);
        CHECK_INT(chordal_transaction_splice(t, object, 0, "/list", at, remove, draw(2) ? values : NULL, &error), 0);
        chordal_value_unref(values);
        break;
    }
    default:
        if (length > 64) break;
        for (uint32_t i = 0; i < length; i++) indexes[i] = i;
        for (uint32_t i = length; i > 1; i--) {
            uint32_t k = draw(i), kept = indexes[i - 1];
            indexes[i - 1] = indexes[k], indexes[k] = kept;
        }
        CHECK_INT(chordal_transaction_permute(t, object, 0, "/list", indexes, length, &error), 0);
    }
}

static void edit(test_host *h, chordal_transaction *t, chordal_id object) {
    char path[64];
    chordal_error error;
    chordal_value *value;
    snprintf(path, sizeof path, "/map/key%u", draw(6));
    switch (draw(8)) {
    case 0:
        CHECK_INT(chordal_transaction_set_json(t, object, 0, path, random_json(), &error), 0);
        break;
    case 1:
        (void)chordal_transaction_delete(t, object, 0, path, &error);
        break;
    case 2:
        CHECK_INT(chordal_transaction_append(t, object, 0, "/text", "tok\xf0\x9f\x98\x80", 7, &error), 0);
        break;
    case 3:
        CHECK_INT(chordal_transaction_truncate(t, object, 0, "/text", draw((uint32_t)length_of(t, object, "/text") + 1),
                                               &error),
                  0);
        break;
    case 4:
        CHECK_INT(chordal_transaction_set_json(t, object, 1, "", random_json(), &error), 0);
        break;
    case 5: {
        const char *json = random_json();
        CHECK_INT(
            chordal_value_decode(h->host, CHORDAL_FORMAT_JSON, (const uint8_t *)json, strlen(json), &value, &error), 0);
        CHECK_INT(chordal_transaction_assign(t, object, 1, "", value, &error), 0);
        chordal_value_unref(value);
        break;
    }
    default:
        edit_list(h, t, object);
    }
}

/* Apply the frames of a KEPT reference as a program would. */
static void patch(replica *r, const chordal_event_FRAME *e, const uint8_t *data, size_t len) {
    chordal__ops ops;
    chordal__limits limits = {512, 1 << 26};
    chordal_error error = {0};
    chordal__ops_init(&ops, r->memory);
    CHECK_INT(chordal__ops_read(&ops, CHORDAL__ENCODING_BINARY, data, len, NULL, 0, &limits, &error), 0);
    for (size_t i = 0; i < ops.count; i++) {
        chordal__node **value = &r->values[e->member];
        if (!*value) *value = chordal__node_null(r->memory);
        int code = chordal__apply(r->memory, value, &ops.items[i], 512, &error);
        if (code < 0) CHECK_FAIL("an op does not apply: %s", error.detail);
    }
    chordal__ops_dispose(&ops);
}

static void poll_replica(test_host *h, replica *r, chordal_id kept) {
    static _Alignas(8) uint8_t buffer[1 << 18];
    size_t len;
    while (chordal_host_poll(h->host, h->now, buffer, sizeof buffer, &len, NULL) == 0 && len) {
        for (size_t at = 0; at < len; at += ((chordal_record *)(void *)(buffer + at))->length) {
            const chordal_record *record = (const chordal_record *)(const void *)(buffer + at);
            if (record->kind != CHORDAL_EVENT_FRAME) continue;
            const chordal_event_FRAME *e = (const chordal_event_FRAME *)(const void *)record;
            const uint8_t *data = buffer + at + e->ops.offset;
            size_t data_len = e->ops.length;
            if (e->ops.part) CHECK_INT(chordal_part_view(h->host, e->ops.part, &data, &data_len), 0);
            if (e->watch == kept) patch(r, e, data, data_len);
            chordal_release(h->host, e->ops.part);
        }
    }
}

static void compare(test_pair *p, chordal_id object, chordal_id reference, replica *r, uint64_t seed) {
    for (uint32_t member = 0; member < 2; member++) {
        chordal_value *mine, *theirs;
        CHECK_INT(chordal_object_value(p->a.host, object, member, &mine, NULL), 0);
        CHECK_INT(chordal_reference_value(p->b.host, reference, member, &theirs, NULL), 0);
        if (!chordal_value_equal(mine, theirs)) CHECK_FAIL("seed %" PRIu64 ": the reference differs", seed);
        if (!chordal__node_equal(chordal__box_node(mine), r->values[member]))
            CHECK_FAIL("seed %" PRIu64 ": the kept copy differs", seed);
        CHECK(chordal_value_digest(mine) == chordal_value_digest(theirs));
        chordal_value_unref(mine);
        chordal_value_unref(theirs);
    }
}

static void run(uint64_t seed, uint32_t codec) {
    test_pair p;
    replica r = {chordal__memory_new(NULL, 1 << 30), {NULL, NULL}};
    random_state = seed;
    pair_open(&p, codec, (chordal_host_options){.window_messages = 1 + draw(8), .dictionary_limit = 4 + draw(20)}, 0,
              0);
    provide(&p.a, TYPE);
    chordal_id reference = get(&p.b, "doc", "{}");
    settle(&p);
    chordal_id object = last_event(&p.a, CHORDAL_EVENT_OBJECT)->as.object.object;
    chordal_id kept = get_over(&p.b, 0, "doc", "{}", CHORDAL_REFERENCE_KEPT);
    for (int step = 0; step < 200; step++) {
        chordal_transaction *t;
        chordal_id ticket;
        CHECK_INT(chordal_transaction_begin(p.a.host, 0, &t, NULL), 0);
        for (uint32_t i = draw(3) + 1; i > 0; i--) edit(&p.a, t, object);
        CHECK_INT(chordal_transaction_commit(t, &ticket, NULL), 0);
        if (draw(3)) chordal_link_carry(p.a.host, p.link_a, p.b.host, p.link_b, 0, NULL, NULL);
        if (draw(4) == 0) poll_replica(&p.b, &r, kept);
        if (draw(8) == 0) test_poll(&p.a), forget_events(&p.a);
    }
    for (size_t quiet = 0, frames; quiet < 2; quiet = frames ? 0 : quiet + 1) { /* a poll may make acks */
        chordal_link_carry(p.a.host, p.link_a, p.b.host, p.link_b, 0, &frames, NULL);
        poll_replica(&p.b, &r, kept);
        test_poll(&p.a), forget_events(&p.a);
    }
    compare(&p, object, reference, &r, seed);
    chordal_release(p.b.host, reference);
    chordal_release(p.b.host, kept);
    settle(&p);
    CHECK_INT(test_counters(&p.a).live_objects, 0);
    pair_close(&p);
    for (int i = 0; i < 2; i++) chordal__node_unref(r.memory, r.values[i]);
    CHECK_INT(r.memory->live_blocks, 0);
    chordal__memory_unref(r.memory);
}

int main(int argc, char **argv) {
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 1 ? 1 : 100;
    check_name = "link edits";
    for (uint64_t seed = first; seed < first + count; seed++) {
        run(seed, CHORDAL_CODEC_BINARY);
        run(seed, CHORDAL_CODEC_TEXT);
        if (check_failures) printf("FAILED seed %" PRIu64 "\n", seed);
        if (check_failures) break;
    }
    printf("%d passed, %d failed\n", check_failures == 0, check_failures != 0);
    return check_failures != 0;
}
