/* host_local.c: objects, commits, derives, watches and calls inside one host. */
#include "hosts.h"

#define DERIVED                                                                                                        \
    "{\"name\":\"sum\",\"version\":1,\"members\":["                                                                    \
    "{\"name\":\"a\",\"kind\":\"document\",\"initial\":1},"                                                            \
    "{\"name\":\"b\",\"kind\":\"document\",\"initial\":2},"                                                            \
    "{\"name\":\"total\",\"kind\":\"derive\",\"from\":[\"a\",\"b\"]}]}"

static test_host h;

static chordal_id made(void) {
    host_event *e = last_event(&h, CHORDAL_EVENT_OBJECT);
    CHECK(e && e->as.object.state == CHORDAL_OBJECT_MADE);
    return e ? e->as.object.object : 0;
}

static void open_notes(chordal_id *reference, chordal_id *object) {
    test_host_open(&h, (chordal_host_options){0});
    provide(&h, NOTES);
    *reference = get(&h, "notes", NOTES_PARAMS);
    test_poll(&h);
    *object = made();
}

static void close_notes(chordal_id reference) {
    chordal_release(h.host, reference);
    test_poll(&h);
    CHECK_INT(test_counters(&h).live_objects, 0);
    test_host_close(&h);
}

TEST(a_reference_goes_live) {
    chordal_id reference, object;
    open_notes(&reference, &object);
    CHECK_INT(chordal_reference_state(h.host, reference), CHORDAL_REFERENCE_LIVE);
    CHECK_TEXT(value_of(&h, reference, NOTES_LIST), "{\"entries\":[],\"text\":\"\"}");
    uint32_t member;
    CHECK_INT(chordal_reference_member(h.host, reference, "title", 5, &member, NULL), 0);
    CHECK_INT(member, NOTES_TITLE);
    CHECK_INT(chordal_reference_member(h.host, reference, "nope", 4, &member, NULL), CHORDAL_E_NO_MEMBER);
    chordal_id again = get(&h, "notes", NOTES_PARAMS);
    test_poll(&h);
    CHECK_INT(count_events(&h, CHORDAL_EVENT_OBJECT), 1);
    chordal_release(h.host, again);
    close_notes(reference);
}

TEST(a_commit_is_a_ticket_and_a_frame) {
    chordal_id reference, object, watch;
    open_notes(&reference, &object);
    CHECK_INT(chordal_watch_open(h.host, reference, NOTES_LIST, 0, &watch, NULL), 0);
    test_poll(&h);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_FRAME)->flags, CHORDAL_FRAME_SNAPSHOT);
    forget_events(&h);
    chordal_id ticket = set_json(&h, object, NOTES_LIST, "/entries/-", "{\"id\":1}");
    test_poll(&h);
    CHECK_INT(h.len, 2);
    CHECK_INT(h.events[0].kind, CHORDAL_EVENT_FRAME);
    CHECK_INT(h.events[0].as.frame.watch, watch);
    CHECK_INT(h.events[0].as.frame.commit, 1);
    CHECK_INT(h.events[1].kind, CHORDAL_EVENT_TICKET);
    CHECK_INT(h.events[1].as.ticket.ticket, ticket);
    CHECK_INT(h.events[1].as.ticket.commit, 1);
    CHECK_TEXT(value_of(&h, reference, NOTES_LIST), "{\"entries\":[{\"id\":1}],\"text\":\"\"}");
    chordal_release(h.host, watch);
    close_notes(reference);
}

TEST(frames_fold_until_they_are_polled) {
    chordal_id reference, object, watch;
    open_notes(&reference, &object);
    CHECK_INT(chordal_watch_open(h.host, reference, NOTES_LIST, 0, &watch, NULL), 0);
    test_poll(&h);
    forget_events(&h);
    for (int i = 0; i < 100; i++) append_text(&h, object, NOTES_LIST, "/text", "x");
    test_poll(&h);
    CHECK_INT(count_events(&h, CHORDAL_EVENT_FRAME), 1);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_FRAME)->flags, CHORDAL_FRAME_FOLDED);
    CHECK(last_event(&h, CHORDAL_EVENT_FRAME)->data_len < 130);
    CHECK_INT(count_events(&h, CHORDAL_EVENT_TICKET), 100);
    chordal_release(h.host, watch);
    close_notes(reference);
}

TEST(a_manual_watch_waits_for_the_take) {
    chordal_id reference, object, watch;
    open_notes(&reference, &object);
    CHECK_INT(chordal_watch_open(h.host, reference, NOTES_LIST, CHORDAL_WATCH_MANUAL, &watch, NULL), 0);
    test_poll(&h);
    CHECK_INT(count_events(&h, CHORDAL_EVENT_FRAME), 1);
    for (int i = 0; i < 3; i++) {
        append_text(&h, object, NOTES_LIST, "/text", "x");
        test_poll(&h);
    }
    CHECK_INT(count_events(&h, CHORDAL_EVENT_FRAME), 1);
    CHECK_INT(chordal_watch_take(h.host, watch, NULL), 0);
    test_poll(&h);
    CHECK_INT(count_events(&h, CHORDAL_EVENT_FRAME), 2);
    CHECK_INT(test_counters(&h).folds, 2);
    chordal_release(h.host, watch);
    close_notes(reference);
}

TEST(a_transaction_reads_its_writes_and_aborts_to_nothing) {
    chordal_id reference, object, ticket;
    chordal_transaction *t, *other;
    chordal_value *value;
    chordal_error error;
    open_notes(&reference, &object);
    CHECK_INT(chordal_transaction_begin(h.host, 0, &t, NULL), 0);
    CHECK_INT(chordal_transaction_set_json(t, object, NOTES_LIST, "/text", "\"new\"", NULL), 0);
    CHECK_INT(chordal_transaction_value(t, object, NOTES_LIST, "/text", &value, NULL), 0);
    CHECK_TEXT(json_of(value), "\"new\"");
    CHECK_TEXT(head_of(&h, object, NOTES_LIST), "{\"entries\":[],\"text\":\"\"}");
    CHECK_INT(chordal_transaction_set_json(t, object, NOTES_LIST, "/no/where", "1", &error), CHORDAL_E_PATH);
    CHECK_INT(chordal_transaction_append(t, object, NOTES_LIST, "/entries", "x", 1, &error), CHORDAL_E_TYPE);
    chordal_transaction_abort(t);
    CHECK_TEXT(head_of(&h, object, NOTES_LIST), "{\"entries\":[],\"text\":\"\"}");
    CHECK_INT(chordal_transaction_begin(h.host, 0, &t, NULL), 0);
    CHECK_INT(chordal_transaction_begin(h.host, 0, &other, NULL), 0);
    CHECK_INT(chordal_transaction_append(t, object, NOTES_LIST, "/text", "a", 1, NULL), 0);
    CHECK_INT(chordal_transaction_append(other, object, NOTES_LIST, "/text", "b", 1, NULL), 0);
    CHECK_INT(chordal_transaction_commit(t, &ticket, NULL), 0);
    CHECK_INT(chordal_transaction_commit(other, &ticket, &error), CHORDAL_E_CONFLICT);
    CHECK_TEXT(head_of(&h, object, NOTES_LIST), "{\"entries\":[],\"text\":\"a\"}");
    close_notes(reference);
}

TEST(one_commit_changes_several_objects) {
    chordal_id reference, object, ticket;
    chordal_transaction *t;
    open_notes(&reference, &object);
    chordal_id second = get(&h, "notes", "{\"board\":\"tea\"}");
    test_poll(&h);
    chordal_id other = made();
    CHECK_INT(chordal_transaction_begin(h.host, 0, &t, NULL), 0);
    CHECK_INT(chordal_transaction_set_json(t, object, NOTES_TITLE, "", "\"one\"", NULL), 0);
    CHECK_INT(chordal_transaction_set_json(t, other, NOTES_TITLE, "", "\"two\"", NULL), 0);
    CHECK_INT(chordal_transaction_commit(t, &ticket, NULL), 0);
    test_poll(&h);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_TICKET)->as.ticket.commit, 1);
    CHECK_TEXT(value_of(&h, reference, NOTES_TITLE), "\"one\"");
    CHECK_TEXT(value_of(&h, second, NOTES_TITLE), "\"two\"");
    chordal_release(h.host, second);
    close_notes(reference);
}

TEST(a_call_is_answered_after_its_commit) {
    chordal_id reference, object, watch;
    open_notes(&reference, &object);
    CHECK_INT(chordal_watch_open(h.host, reference, NOTES_TITLE, 0, &watch, NULL), 0);
    test_poll(&h);
    forget_events(&h);
    chordal_id made_call = call(&h, reference, "add", "[\"milk\"]");
    test_poll(&h);
    host_event *e = last_event(&h, CHORDAL_EVENT_CALL);
    CHECK(e && e->as.call.object == object && e->as.call.member == NOTES_ADD);
    CHECK_BYTES(e->data, e->data_len, "\x91\xa4milk", 6);
    set_json_for(&h, e->as.call.call, object, NOTES_TITLE, "", "\"milk\"");
    CHECK_INT(answer(&h, e->as.call.call, "7"), 0);
    CHECK_INT(answer(&h, e->as.call.call, "8"), CHORDAL_E_CLOSED);
    forget_events(&h);
    test_poll(&h);
    CHECK_INT(h.events[0].kind, CHORDAL_EVENT_FRAME);
    CHECK_INT(h.events[h.len - 1].kind, CHORDAL_EVENT_RESULT);
    CHECK_INT(h.events[h.len - 1].as.result.call, made_call);
    CHECK_BYTES(h.events[h.len - 1].data, h.events[h.len - 1].data_len, "\x07", 1);
    chordal_release(h.host, watch);
    close_notes(reference);
}

TEST(calls_fail_cancel_and_expire) {
    chordal_id reference, object;
    open_notes(&reference, &object);
    call(&h, reference, "add", "[]");
    test_poll(&h);
    chordal_id served = last_event(&h, CHORDAL_EVENT_CALL)->as.call.call;
    CHECK_INT(chordal_call_fail(h.host, served, "full", 4, "no more", 7, NULL), 0);
    test_poll(&h);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_RESULT)->as.result.code, CHORDAL_E_METHOD);
    CHECK_TEXT(last_event(&h, CHORDAL_EVENT_RESULT)->name, "full");
    CHECK_TEXT(last_event(&h, CHORDAL_EVENT_RESULT)->text, "no more");
    chordal_id cancelled = call(&h, reference, "add", "[]");
    test_poll(&h);
    CHECK_INT(chordal_call_cancel(h.host, cancelled, NULL), 0);
    test_poll(&h);
    served = last_event(&h, CHORDAL_EVENT_CANCEL)->as.cancel.call;
    CHECK_INT(answer(&h, served, "null"), 0);
    call_within(&h, reference, "add", "[]", 100);
    test_poll(&h);
    h.now = 100;
    test_poll(&h);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_RESULT)->as.result.code, CHORDAL_E_DEADLINE);
    CHECK_INT(answer(&h, last_event(&h, CHORDAL_EVENT_CALL)->as.call.call, "1"), 0);
    chordal_error error;
    chordal_id none;
    CHECK_INT(chordal_call_start(h.host, reference, "nope", 4, CHORDAL_FORMAT_JSON, (const uint8_t *)"[]", 2, 0, &none,
                                 &error),
              CHORDAL_E_NO_MEMBER);
    CHECK_INT(chordal_call_start(h.host, reference, "add", 3, CHORDAL_FORMAT_JSON, (const uint8_t *)"{}", 2, 0, &none,
                                 &error),
              CHORDAL_E_TYPE);
    close_notes(reference);
}

static void answer_compute(const char *json) {
    chordal_id compute = last_event(&h, CHORDAL_EVENT_COMPUTE)->as.compute.compute;
    CHECK_INT(chordal_compute_answer(h.host, compute, CHORDAL_FORMAT_JSON, (const uint8_t *)json, strlen(json), NULL),
              0);
}

TEST(a_derive_settles_before_anything_else) {
    chordal_id ticket;
    chordal_transaction *t;
    test_host_open(&h, (chordal_host_options){0});
    provide(&h, DERIVED);
    chordal_id reference = get(&h, "sum", "{}");
    test_poll(&h);
    CHECK_INT(chordal_reference_state(h.host, reference), CHORDAL_REFERENCE_PENDING);
    chordal_id object = made();
    answer_compute("3");
    test_poll(&h);
    CHECK_INT(chordal_reference_state(h.host, reference), CHORDAL_REFERENCE_LIVE);
    CHECK_TEXT(value_of(&h, reference, 2), "3");
    chordal_id watch;
    CHECK_INT(chordal_watch_open(h.host, reference, CHORDAL_ALL_MEMBERS, 0, &watch, NULL), 0);
    test_poll(&h);
    forget_events(&h);
    CHECK_INT(chordal_transaction_begin(h.host, 0, &t, NULL), 0);
    CHECK_INT(chordal_transaction_set_json(t, object, 0, "", "10", NULL), 0);
    CHECK_INT(chordal_transaction_set_json(t, object, 1, "", "20", NULL), 0);
    CHECK_INT(chordal_transaction_commit(t, &ticket, NULL), 0);
    set_json(&h, object, 0, "", "11");
    test_poll(&h);
    CHECK_INT(h.len, 1);
    CHECK_INT(h.events[0].kind, CHORDAL_EVENT_COMPUTE);
    answer_compute("30");
    forget_events(&h);
    test_poll(&h);
    CHECK_INT(count_events(&h, CHORDAL_EVENT_COMPUTE), 1);
    answer_compute("31");
    test_poll(&h);
    CHECK_INT(test_counters(&h).computes, 3);
    CHECK_INT(count_events(&h, CHORDAL_EVENT_TICKET), 2);
    CHECK_TEXT(value_of(&h, reference, 2), "31");
    chordal_release(h.host, watch);
    close_notes(reference);
}

TEST(a_derive_that_fails_or_is_silent_keeps_its_value) {
    test_host_open(&h, (chordal_host_options){.compute_timeout = 50});
    provide(&h, DERIVED);
    chordal_id reference = get(&h, "sum", "{}"), watch;
    test_poll(&h);
    chordal_id object = made();
    answer_compute("3");
    test_poll(&h);
    CHECK_INT(chordal_watch_open(h.host, reference, 2, 0, &watch, NULL), 0);
    test_poll(&h);
    forget_events(&h);
    set_json(&h, object, 0, "", "5");
    test_poll(&h);
    chordal_id compute = last_event(&h, CHORDAL_EVENT_COMPUTE)->as.compute.compute;
    CHECK_INT(chordal_compute_fail(h.host, compute, "broken", 6, "sorry", 5, NULL), 0);
    test_poll(&h);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_FRAME)->as.frame.code, CHORDAL_E_COMPUTE);
    CHECK_TEXT(last_event(&h, CHORDAL_EVENT_FRAME)->text, "sorry");
    CHECK_TEXT(value_of(&h, reference, 2), "3");
    set_json(&h, object, 0, "", "6");
    test_poll(&h);
    h.now += 50;
    test_poll(&h);
    CHECK_TEXT(last_event(&h, CHORDAL_EVENT_FRAME)->text, "the derive did not answer in time");
    CHECK_INT(count_events(&h, CHORDAL_EVENT_TICKET), 2);
    compute = last_event(&h, CHORDAL_EVENT_COMPUTE)->as.compute.compute;
    CHECK_INT(chordal_compute_fail(h.host, compute, "x", 1, "x", 1, NULL), CHORDAL_E_CLOSED);
    set_json(&h, object, 0, "", "7");
    test_poll(&h);
    answer_compute("9");
    test_poll(&h);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_FRAME)->as.frame.code, 0);
    CHECK_TEXT(value_of(&h, reference, 2), "9");
    chordal_release(h.host, watch);
    close_notes(reference);
}

TEST(declarations_are_checked) {
    static const char *const wrong[] = {
        "[]",
        "{}",
        "{\"name\":\"\"}",
        "{\"name\":\"x\"}",
        "{\"name\":\"x\",\"members\":[{}]}",
        "{\"name\":\"x\",\"members\":[{\"name\":\"a\",\"kind\":\"registry\"}]}",
        "{\"name\":\"x\",\"version\":0,\"members\":[]}",
        "{\"name\":\"x\",\"params\":[1],\"members\":[]}",
        "{\"name\":\"x\",\"params\":[\"a\",\"a\"],\"members\":[]}",
        "{\"name\":\"x\",\"members\":[{\"name\":\"d\",\"kind\":\"derive\",\"from\":[\"d\"]}]}",
        "{\"name\":\"x\",\"members\":[{\"name\":\"a\",\"kind\":\"method\"},{\"name\":\"a\",\"kind\":\"method\"}]}",
    };
    chordal_id type;
    chordal_error error;
    test_host_open(&h, (chordal_host_options){0});
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int code = chordal_type_provide(h.host, (const uint8_t *)wrong[i], strlen(wrong[i]), &type, &error);
        if (code != CHORDAL_E_INVALID) CHECK_FAIL("%s gives %d", wrong[i], code);
    }
    const char *durable = "{\"name\":\"x\",\"members\":[{\"name\":\"a\",\"kind\":\"method\",\"durable\":true}]}";
    CHECK_INT(chordal_type_provide(h.host, (const uint8_t *)durable, strlen(durable), &type, &error),
              CHORDAL_E_UNSUPPORTED);
    CHECK_INT(chordal_type_provide(h.host, (const uint8_t *)"{", 1, &type, &error), CHORDAL_E_TRUNCATED);
    provide(&h, NOTES);
    CHECK_INT(chordal_type_provide(h.host, (const uint8_t *)NOTES, strlen(NOTES), &type, &error), CHORDAL_E_EXISTS);
    chordal_id reference;
    CHECK_INT(chordal_reference_get(h.host, 0, "notes", 5, 0, 0, CHORDAL_FORMAT_JSON, (const uint8_t *)"{}", 2,
                                    &reference, &error),
              CHORDAL_E_PARAMS);
    static const char *const params[][2] = {
        {"[]", "the params do not fit the type: they are no object"},
        {"{\"boards\":1}", "the params do not fit the type: they lack board"},
        {"{\"board\":1,\"side\":2}", "the params do not fit the type, which has no side"}};
    for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
        CHECK_INT(chordal_reference_get(h.host, 0, "notes", 5, 0, 0, CHORDAL_FORMAT_JSON, (const uint8_t *)params[i][0],
                                        strlen(params[i][0]), &reference, &error),
                  CHORDAL_E_PARAMS);
        CHECK_TEXT(error.detail, params[i][1]);
    }
    CHECK_INT(chordal_reference_get(h.host, 0, "none", 4, 0, 0, CHORDAL_FORMAT_JSON, (const uint8_t *)"{}", 2,
                                    &reference, &error),
              CHORDAL_E_NO_TYPE);
    test_host_close(&h);
}

TEST(nothing_is_left_when_the_host_closes_in_the_middle) {
    chordal_id reference, object, watch;
    open_notes(&reference, &object);
    CHECK_INT(chordal_watch_open(h.host, reference, CHORDAL_ALL_MEMBERS, 0, &watch, NULL), 0);
    chordal_id one = call(&h, reference, "add", "[1]"), two = call(&h, reference, "add", "[2]");
    test_poll(&h);
    set_json(&h, object, NOTES_LIST, "/text", "\"x\"");
    chordal_host *host = h.host;
    chordal_id served = last_event(&h, CHORDAL_EVENT_CALL)->as.call.call;
    chordal_id first_served = h.events[h.len - 1].kind == CHORDAL_EVENT_CALL ? h.events[h.len - 2].as.call.call : 0;
    test_host_close(&h);
    chordal_id left[] = {reference, watch, one, two, served, first_served};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) chordal_release(host, left[i]);
}

TESTS({"a reference goes live", a_reference_goes_live},
      {"a commit is a ticket and a frame", a_commit_is_a_ticket_and_a_frame},
      {"frames fold until they are polled", frames_fold_until_they_are_polled},
      {"a manual watch waits for the take", a_manual_watch_waits_for_the_take},
      {"a transaction reads its writes and aborts to nothing", a_transaction_reads_its_writes_and_aborts_to_nothing},
      {"one commit changes several objects", one_commit_changes_several_objects},
      {"a call is answered after its commit", a_call_is_answered_after_its_commit},
      {"calls fail, cancel and expire", calls_fail_cancel_and_expire},
      {"a derive settles before anything else", a_derive_settles_before_anything_else},
      {"a derive that fails or is silent keeps its value", a_derive_that_fails_or_is_silent_keeps_its_value},
      {"declarations are checked", declarations_are_checked},
      {"nothing is left when the host closes in the middle", nothing_is_left_when_the_host_closes_in_the_middle})
