/* link_authority.c: who is admitted, and what a session may hold and call. */
#include "admitted.h"

/* ---- admission ---- */

TEST(nothing_before_the_admission) {
    for (uint32_t codec = CHORDAL_CODEC_BINARY; codec <= CHORDAL_CODEC_TEXT; codec++) {
        open_pair(codec, CHORDAL_LINK_AUTHENTICATE, "{\"token\": [\"t\", 7]}");
        provide(&p.a, NOTES);
        chordal_id held = get(&p.b, "notes", NOTES_PARAMS);
        settle(&p);
        host_event *e = last_event(&p.a, CHORDAL_EVENT_AUTHENTICATE);
        CHECK_INT(e->as.authenticate.link, p.link_a);
        CHECK_TEXT(packed_json(&p.a, e->data, e->data_len), "{\"token\":[\"t\",7]}");
        CHECK_INT(count_events(&p.a, CHORDAL_EVENT_AUTHENTICATE), 1);
        CHECK_INT(state_of(&p.a), CHORDAL_LINK_OPENING);
        CHECK_INT(state_of(&p.b), CHORDAL_LINK_OPENING);
        CHECK_INT(test_counters(&p.a).live_sessions, 0);
        CHECK_INT(admit(ANN), 0);
        CHECK_INT(admit(BOB), CHORDAL_E_STATE);
        settle(&p);
        CHECK_INT(reference_state(held), CHORDAL_REFERENCE_LIVE);
        chordal_id made = call(&p.b, held, "add", "[]");
        settle(&p);
        e = last_event(&p.a, CHORDAL_EVENT_CALL);
        CHECK_TEXT(packed_json(&p.a, e->authority, e->authority_len), "{\"user\":\"ann\",\"roles\":[1,2]}");
        chordal_value *value;
        CHECK_INT(chordal_call_authority(p.a.host, e->as.call.call, &value, NULL), 0);
        CHECK_TEXT(json_of(value), "{\"user\":\"ann\",\"roles\":[1,2]}");
        CHECK_INT(answer(&p.a, e->as.call.call, "1"), 0);
        CHECK_INT(chordal_call_authority(p.a.host, e->as.call.call, &value, NULL), CHORDAL_E_CLOSED);
        settle(&p);
        CHECK(made != 0);
        close_pair();
    }
}

TEST(no_credentials_are_null) {
    open_pair(CHORDAL_CODEC_TEXT, CHORDAL_LINK_AUTHENTICATE, NULL);
    host_event *e = last_event(&p.a, CHORDAL_EVENT_AUTHENTICATE);
    CHECK_TEXT(packed_json(&p.a, e->data, e->data_len), "null");
    CHECK_INT(admit("null"), 0);
    settle(&p);
    CHECK_INT(state_of(&p.b), CHORDAL_LINK_UP);
    close_pair();
}

TEST(who_is_refused_does_not_come_back) {
    static char reason[400];
    for (int i = 0; i < 199; i++) memcpy(reason + 2 * i, "\xc3\xa4", 2);
    memmove(reason + 1, reason, 397);
    reason[0] = 'x'; /* so that a character lies across the end */
    open_pair(CHORDAL_CODEC_TEXT, CHORDAL_LINK_AUTHENTICATE, "\"wrong\"");
    chordal_id held = get(&p.b, "notes", NOTES_PARAMS);
    CHECK_INT(chordal_link_refuse(p.a.host, p.link_a, "\xff", 1, NULL), CHORDAL_E_UTF8);
    CHECK_INT(chordal_link_refuse(p.a.host, p.link_a, reason, 397, NULL), 0);
    settle(&p);
    host_event *e = last_event(&p.b, CHORDAL_EVENT_LINK);
    CHECK_INT(e->as.link.state, CHORDAL_LINK_CLOSED);
    CHECK_INT(e->as.link.code, CHORDAL_E_REFUSED);
    CHECK_INT(strlen(e->text), 95);
    CHECK_INT(reference_state(held), CHORDAL_REFERENCE_FAILED);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_REFERENCE)->as.reference.code, CHORDAL_E_REFUSED);
    CHECK_INT(admit(ANN), CHORDAL_E_STATE);
    close_pair();
}

/* A farewell of many words is cut where a character begins. */
TEST(a_long_farewell) {
    char words[300];
    for (size_t i = 0; i + 3 < sizeof words; i += 3) memcpy(words + i, "\xe2\x82\xac", 4);
    for (size_t skip = 0; skip < 3; skip++) {
        raw_peer peer;
        test_host *h = &p.a;
        words[0] = skip ? 'x' : '\xe2', words[1] = skip ? 'x' : '\x82', words[2] = skip ? 'x' : '\xac';
        test_host_open(h, (chordal_host_options){0});
        peer_open(&peer, h, 0, CHORDAL_CODEC_TEXT);
        CHECK_INT(say_hello(&peer), 0);
        CHECK_INT(say_texts(&peer, CHORDAL__BYE, 0, 0, "bye", words + skip), 0);
        test_poll(h);
        CHECK_INT(strlen(last_event(h, CHORDAL_EVENT_LINK)->text), skip == 1 ? 95 : skip ? 94 : 93);
        peer_close(&peer);
        end_host(h);
    }
}

TEST(no_answer_in_time) {
    open_pair(CHORDAL_CODEC_BINARY, CHORDAL_LINK_AUTHENTICATE, "\"secret\"");
    p.a.now += 10000;
    settle(&p);
    CHECK_INT(last_event(&p.a, CHORDAL_EVENT_LINK)->as.link.code, CHORDAL_E_TIMEOUT);
    CHECK_INT(state_of(&p.b), CHORDAL_LINK_WAIT); /* it tries again */
    CHECK_INT(admit(ANN), CHORDAL_E_STATE);
    close_pair();
}

/* A peer that is gone before the program was asked is not asked about. */
TEST(a_peer_that_is_gone) {
    raw_peer peer;
    test_host h;
    test_host_open(&h, (chordal_host_options){0});
    peer_open(&peer, &h, CHORDAL_LINK_AUTHENTICATE, CHORDAL_CODEC_BINARY);
    CHECK_INT(say_hello(&peer), 0);
    CHECK_INT(chordal_link_down(h.host, peer.link, 0, NULL), 0);
    test_poll(&h);
    CHECK_INT(count_events(&h, CHORDAL_EVENT_AUTHENTICATE), 0);
    CHECK_INT(chordal_link_admit(h.host, peer.link, JSON(ANN), NULL), CHORDAL_E_STATE);
    peer_close(&peer);
    end_host(&h);
}

static int say_info(raw_peer *peer, const char *info) {
    chordal__message m = peer_message(peer, CHORDAL__HELLO, 0);
    m.numbers[0] = m.numbers[1] = 1;
    m.numbers[2] = 1 << 20;
    set_part(&m.parts[0], info, strlen(info));
    return peer_say(peer, &m);
}

TEST(info_of_all_kinds) {
    static char large[2 * CHORDAL__CREDENTIALS_LIMIT + 16];
    static const struct {
        const char *info, *credentials;
        int code;
    } cases[] = {
        {"{}", "null", 0},
        {"{\"other\":{\"credentials\":1}}", "null", 0},
        {"{\"other\":1,\"credentials\":false}", "false", 0},
        {"[\"credentials\"]", NULL, CHORDAL_E_MALFORMED},
        {"7", NULL, CHORDAL_E_MALFORMED},
        {"{\"credentials\":1,\"credentials\":2}", NULL, CHORDAL_E_DUPLICATE_KEY},
        {large, NULL, CHORDAL_E_TOO_LARGE},
    };
    memset(large, ' ', sizeof large - 1);
    large[0] = '{', large[sizeof large - 2] = '}';
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        raw_peer peer;
        test_host h;
        test_host_open(&h, (chordal_host_options){0});
        peer_open(&peer, &h, CHORDAL_LINK_AUTHENTICATE, CHORDAL_CODEC_TEXT);
        CHECK_INT(say_info(&peer, cases[i].info), cases[i].code);
        test_poll(&h);
        peer_hear(&peer);
        host_event *e = last_event(&h, CHORDAL_EVENT_AUTHENTICATE);
        CHECK_INT(e != NULL, cases[i].code == 0);
        if (e && cases[i].credentials) CHECK_TEXT(packed_json(&h, e->data, e->data_len), cases[i].credentials);
        peer_close(&peer);
        end_host(&h);
    }
}

TEST(credentials_are_renewed) {
    open_pair(CHORDAL_CODEC_BINARY, CHORDAL_LINK_AUTHENTICATE, "\"first\"");
    CHECK_INT(admit(ANN), 0);
    settle(&p);
    CHECK_INT(chordal_link_credentials(p.b.host, p.link_b, JSON("\"second\""), NULL), 0);
    settle(&p);
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_AUTHENTICATE), 1); /* for the next transport */
    link_again(ANN);
    host_event *e = last_event(&p.a, CHORDAL_EVENT_AUTHENTICATE);
    CHECK_TEXT(packed_json(&p.a, e->data, e->data_len), "\"second\"");
    close_pair();
}

TEST(what_is_not_allowed_at_a_link) {
    static char large[CHORDAL__CREDENTIALS_LIMIT + 16];
    chordal_id link;
    open_pair(CHORDAL_CODEC_BINARY, CHORDAL_LINK_AUTHENTICATE, NULL);
    memset(large, 'x', sizeof large - 1);
    large[0] = large[sizeof large - 2] = '"';
    CHECK_INT(chordal_link_credentials(p.b.host, p.link_b, JSON(large), NULL), CHORDAL_E_SIZE);
    CHECK_INT(chordal_link_credentials(p.b.host, p.link_b, JSON("{"), NULL), CHORDAL_E_TRUNCATED);
    CHECK_INT(chordal_link_credentials(p.a.host, p.link_a, JSON("1"), NULL), CHORDAL_E_STATE);
    CHECK_INT(admit(large), CHORDAL_E_SIZE);
    CHECK_INT(admit("[}"), CHORDAL_E_SYNTAX);
    CHECK_INT(chordal_link_refuse(p.b.host, p.link_b, "", 0, NULL), CHORDAL_E_STATE);
    CHECK_INT(chordal_link_admit(p.b.host, p.link_b, JSON("1"), NULL), CHORDAL_E_STATE);
    CHECK_INT(chordal_link_open(p.b.host, CHORDAL_LINK_AUTHENTICATE | CHORDAL_LINK_CONNECT, &link, NULL),
              CHORDAL_E_INVALID);
    CHECK_INT(admit("1"), 0); /* it waited all the time */
    settle(&p);
    CHECK_INT(state_of(&p.b), CHORDAL_LINK_UP);
    close_pair();
}

/* ---- guards ---- */

TEST(a_hold_is_judged) {
    open_admitted(GUARDED, ANN);
    chordal_id held = get(&p.b, "notes", NOTES_PARAMS);
    settle(&p);
    host_event *e = last_event(&p.a, CHORDAL_EVENT_GUARD);
    CHECK_TEXT(packed_json(&p.a, e->data, e->data_len), "{\"board\":\"lunch\"}");
    CHECK_TEXT(packed_json(&p.a, e->authority, e->authority_len), "{\"user\":\"ann\",\"roles\":[1,2]}");
    CHECK_INT(e->as.guard.member, CHORDAL_ALL_MEMBERS);
    CHECK_INT(test_counters(&p.a).live_objects, 0);
    CHECK_INT(chordal_guard_answer(p.a.host, e->as.guard.guard, 3, NULL), CHORDAL_E_INVALID);
    CHECK_INT(judge(CHORDAL_GUARD_ALLOW), 0);
    CHECK_INT(judge(CHORDAL_GUARD_DENY), CHORDAL_E_CLOSED);
    settle(&p);
    CHECK_INT(reference_state(held), CHORDAL_REFERENCE_LIVE);
    chordal_release(p.b.host, held);
    settle(&p);
    CHECK_INT(test_counters(&p.a).live_objects, 0);
    close_pair();
}

/* Whether the object is there, failed, or could never be: who may not hold it learns the same. */
TEST(a_denied_hold_tells_nothing) {
    static uint8_t seen[4][64];
    for (int i = 0; i < 4; i++) {
        raw_peer peer;
        test_host *h = &p.a;
        chordal_id object = 0;
        test_host_open(h, (chordal_host_options){0});
        provide(h, i == 2 ? "{\"name\":\"slow\",\"params\":[\"other\"],\"guarded\":true,\"members\":[]}" : STARTED);
        if (i) chordal_object_get(h->host, "slow", 4, JSON(NOTES_PARAMS), &object, NULL);
        test_poll(h);
        if (i == 3) CHECK_INT(chordal_object_start(h->host, object, "own", 3, "the cellar is wet", 17, NULL), 0);
        peer_open(&peer, h, CHORDAL_LINK_AUTHENTICATE, CHORDAL_CODEC_TEXT);
        CHECK_INT(say_hello(&peer), 0);
        CHECK_INT(chordal_link_admit(h->host, peer.link, JSON(BOB), NULL), 0);
        CHECK_INT(say_origin(&peer, 1, ""), 0);
        uint64_t before = test_counters(h).live_objects;
        CHECK_INT(say_hold(&peer, 1, 0, "slow"), 0);
        test_poll(h);
        peer_hear(&peer);
        CHECK_INT(peer.heard[CHORDAL__FAILED], 0);
        CHECK_INT(judge(CHORDAL_GUARD_DENY), 0);
        peer_hear(&peer);
        CHECK_INT(peer.heard[CHORDAL__FAILED], 1);
        CHECK_INT(test_counters(h).live_objects, before);
        memcpy(seen[i], peer.last, sizeof peer.last);
        CHECK(memcmp(seen[i], seen[0], sizeof seen[i]) == 0);
        CHECK(strstr((const char *)seen[i], "\"failed\",0,\"denied\",\"\"]") != NULL);
        if (object) CHECK_INT(chordal_object_drop(h->host, object, NULL), 0);
        peer_close(&peer);
        end_host(h);
    }
}

/* What a provider tells of a failed start is for those who may hold the object; nothing of the core's own crosses. */
TEST(a_failed_start_is_told_to_those_who_may_know) {
    open_admitted(STARTED, ANN);
    chordal_id held = get(&p.b, "slow", NOTES_PARAMS);
    settle(&p);
    CHECK_INT(judge(CHORDAL_GUARD_ALLOW), 0);
    settle(&p);
    chordal_id object = last_event(&p.a, CHORDAL_EVENT_OBJECT)->as.object.object;
    CHECK_INT(chordal_object_start(p.a.host, object, "own", 3, "words", 5, NULL), 0);
    settle(&p);
    host_event *e = last_event(&p.b, CHORDAL_EVENT_REFERENCE);
    CHECK_INT(e->as.reference.code, CHORDAL_E_METHOD);
    CHECK_TEXT(e->text, "words");
    CHECK_INT(chordal_reference_retry(p.b.host, held, NULL), 0); /* asked about anew */
    settle(&p);
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_GUARD), 2);
    CHECK_INT(judge(CHORDAL_GUARD_DENY), 0);
    settle(&p);
    e = last_event(&p.b, CHORDAL_EVENT_REFERENCE);
    CHECK_INT(e->as.reference.code, CHORDAL_E_DENIED);
    CHECK_TEXT(e->text, "");
    close_pair();
}

TEST(a_guard_that_does_not_answer) {
    open_admitted(GUARDED, ANN);
    chordal_id held = get(&p.b, "notes", NOTES_PARAMS);
    settle(&p);
    p.a.now += 9999;
    settle(&p);
    CHECK_INT(reference_state(held), CHORDAL_REFERENCE_PENDING);
    p.a.now += 1;
    settle(&p);
    CHECK_INT(reference_state(held), CHORDAL_REFERENCE_FAILED);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_REFERENCE)->as.reference.code, CHORDAL_E_DENIED);
    CHECK_INT(judge(CHORDAL_GUARD_ALLOW), CHORDAL_E_CLOSED);
    CHECK_INT(test_counters(&p.a).live_objects, 0);
    close_pair();
}

/* What is given back, or whose session is gone, is not asked about any more. */
TEST(asks_that_nobody_waits_for) {
    open_admitted(GUARDED, ANN);
    uint64_t ids = test_counters(&p.a).live_ids;
    chordal_id held = get(&p.b, "notes", NOTES_PARAMS);
    settle(&p);
    chordal_release(p.b.host, held);
    settle(&p);
    CHECK_INT(judge(CHORDAL_GUARD_ALLOW), CHORDAL_E_CLOSED);
    CHECK_INT(test_counters(&p.a).live_ids, ids);
    held = get(&p.b, "notes", NOTES_PARAMS);
    settle(&p);
    CHECK_INT(chordal_link_close(p.b.host, p.link_b, NULL), 0);
    settle(&p);
    CHECK_INT(judge(CHORDAL_GUARD_ALLOW), CHORDAL_E_CLOSED);
    CHECK_INT(test_counters(&p.a).live_objects, 0);
    close_pair();
}

/* A session that is away while it is judged finds the outcome when it is back. */
TEST(judged_while_away) {
    for (uint32_t verdict = CHORDAL_GUARD_DENY; verdict <= CHORDAL_GUARD_ALLOW; verdict++) {
        open_admitted(GUARDED, ANN);
        chordal_id held = get(&p.b, "notes", NOTES_PARAMS);
        settle(&p);
        CHECK_INT(chordal_link_down(p.a.host, p.link_a, p.a.now, NULL), 0);
        CHECK_INT(judge(verdict), 0);
        link_again(ANN_TURNED);
        CHECK_INT(test_counters(&p.a).sessions_back, 1);
        CHECK_INT(reference_state(held), verdict ? CHORDAL_REFERENCE_LIVE : CHORDAL_REFERENCE_FAILED);
        close_pair();
    }
}

/* A flood of questions of one session leaves room for those of others, and for all else. */
TEST(questions_come_in_turns) {
    raw_peer one, other;
    test_host *h = &p.a;
    test_host_open(h, (chordal_host_options){0});
    provide(h, GUARDED);
    peer_open(&one, h, 0, CHORDAL_CODEC_BINARY);
    peer_open(&other, h, 0, CHORDAL_CODEC_BINARY);
    CHECK_INT(say_hello(&one), 0);
    CHECK_INT(say_hello(&other), 0);
    CHECK_INT(say_origin(&one, 1, ""), 0);
    other.name = 77;
    CHECK_INT(say_origin(&other, 3, ""), 0);
    for (uint64_t i = 0; i < 500; i++) CHECK_INT(say_hold(&one, 1, i, "notes"), 0);
    CHECK_INT(say_hold(&other, 3, 0, "notes"), 0);
    test_poll(h);
    CHECK_INT(count_events(h, CHORDAL_EVENT_GUARD), 501);
    size_t before = 0;
    for (size_t i = 0; i < h->len && !(h->events[i].kind == CHORDAL_EVENT_GUARD && h->events[i].as.guard.origin == 2);
         i++)
        before += h->events[i].kind == CHORDAL_EVENT_GUARD;
    CHECK_INT(before, 64);
    peer_close(&one);
    peer_close(&other);
    end_host(h);
}

TEST(questions_have_a_bound) {
    raw_peer peer;
    test_host *h = &p.a;
    test_host_open(h, (chordal_host_options){.queue_limit = 20000});
    provide(h, GUARDED);
    peer_open(&peer, h, 0, CHORDAL_CODEC_BINARY);
    CHECK_INT(say_hello(&peer), 0);
    CHECK_INT(say_origin(&peer, 1, ""), 0);
    for (uint64_t i = 0; i < 200; i++) {
        CHECK_INT(say_hold(&peer, 1, i, "notes"), 0);
        peer_hear(&peer);
    }
    test_poll(h);
    size_t asked = count_events(h, CHORDAL_EVENT_GUARD);
    CHECK(asked > 50 && asked < 200);
    CHECK_INT(peer.heard[CHORDAL__FAILED], 200 - asked);
    peer_close(&peer);
    end_host(h);
}

/* ---- calls ---- */

TEST(calls_are_judged_in_order) {
    open_admitted(GUARDED, ANN);
    get_notes(CHORDAL_GUARD_ALLOW);
    forget_events(&p.a);
    for (int i = 0; i < 4; i++) (void)call(&p.b, reference, i == 1 ? "ping" : "add", "[]");
    settle(&p);
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_GUARD), 4);
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CALL), 0);
    chordal_id asks[4];
    for (size_t i = 0, n = 0; i < p.a.len; i++) {
        const chordal_event_GUARD *e = &p.a.events[i].as.guard;
        if (p.a.events[i].kind != CHORDAL_EVENT_GUARD) continue;
        CHECK_INT(e->member, n == 1 ? NOTES_PING : NOTES_ADD);
        asks[n++] = e->guard;
    }
    CHECK_INT(chordal_guard_answer(p.a.host, asks[3], CHORDAL_GUARD_ALLOW, NULL), 0);
    CHECK_INT(chordal_guard_answer(p.a.host, asks[1], CHORDAL_GUARD_ALLOW, NULL), 0);
    settle(&p);
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CALL), 0); /* the first waits */
    CHECK_INT(chordal_guard_answer(p.a.host, asks[0], CHORDAL_GUARD_DENY, NULL), 0);
    settle(&p);
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CALL), 1);
    CHECK_INT(last_event(&p.a, CHORDAL_EVENT_CALL)->as.call.member, NOTES_PING);
    host_event *e = last_event(&p.b, CHORDAL_EVENT_RESULT);
    CHECK_INT(e->as.result.code, CHORDAL_E_DENIED);
    CHECK_TEXT(e->text, "");
    p.a.now += 10000; /* the third is not answered in time */
    settle(&p);
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CALL), 2);
    for (size_t i = 0; i < p.a.len; i++)
        if (p.a.events[i].kind == CHORDAL_EVENT_CALL) CHECK_INT(answer(&p.a, p.a.events[i].as.call.call, "1"), 0);
    settle(&p);
    CHECK_INT(count_events(&p.b, CHORDAL_EVENT_RESULT), 4);
    close_pair();
}

TEST(a_hold_with_all_its_calls) {
    open_admitted(GUARDED, ANN);
    get_notes(CHORDAL_GUARD_ALLOW_CALLS);
    (void)call(&p.b, reference, "add", "[]");
    settle(&p);
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_GUARD), 1);
    host_event *e = last_event(&p.a, CHORDAL_EVENT_CALL);
    CHECK_TEXT(packed_json(&p.a, e->authority, e->authority_len), "{\"user\":\"ann\",\"roles\":[1,2]}");
    CHECK_INT(answer(&p.a, e->as.call.call, "1"), 0);
    close_pair();
}

/* A call that is cancelled, or whose object retires, while it is judged lets those behind it go on. */
TEST(calls_that_end_while_judged) {
    open_admitted(GUARDED, ANN);
    get_notes(CHORDAL_GUARD_ALLOW);
    chordal_id first = call(&p.b, reference, "add", "[]");
    (void)call(&p.b, reference, "ping", "[]");
    settle(&p);
    CHECK_INT(judge(CHORDAL_GUARD_ALLOW), 0); /* the second */
    CHECK_INT(chordal_call_cancel(p.b.host, first, NULL), 0);
    settle(&p);
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CALL), 1);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_RESULT)->as.result.code, CHORDAL_E_CANCELLED);
    CHECK_INT(answer(&p.a, last_event(&p.a, CHORDAL_EVENT_CALL)->as.call.call, "1"), 0);
    (void)call(&p.b, reference, "add", "[]");
    settle(&p);
    CHECK_INT(chordal_object_retire(p.a.host, last_event(&p.a, CHORDAL_EVENT_OBJECT)->as.object.object, NULL), 0);
    CHECK_INT(judge(CHORDAL_GUARD_ALLOW), CHORDAL_E_CLOSED);
    settle(&p);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_RESULT)->as.result.code, CHORDAL_E_RETIRED);
    close_pair();
}

/* References of the host itself are its own program's. */
TEST(local_references_are_not_judged) {
    test_host h;
    test_host_open(&h, (chordal_host_options){0});
    provide(&h, GUARDED);
    chordal_id held = get(&h, "notes", NOTES_PARAMS);
    (void)call(&h, held, "add", "[]");
    test_poll(&h);
    CHECK_INT(count_events(&h, CHORDAL_EVENT_GUARD), 0);
    host_event *e = last_event(&h, CHORDAL_EVENT_CALL);
    chordal_value *value;
    CHECK_INT(e->authority_len, 0);
    CHECK_INT(chordal_call_authority(h.host, e->as.call.call, &value, NULL), 0);
    CHECK_TEXT(json_of(value), "null");
    CHECK_INT(answer(&h, e->as.call.call, "1"), 0);
    chordal_release(h.host, held);
    end_host(&h);
}

TESTS({"nothing before the admission", nothing_before_the_admission},
      {"no credentials are null", no_credentials_are_null},
      {"who is refused does not come back", who_is_refused_does_not_come_back}, {"a long farewell", a_long_farewell},
      {"no answer in time", no_answer_in_time}, {"a peer that is gone", a_peer_that_is_gone},
      {"info of all kinds", info_of_all_kinds}, {"credentials are renewed", credentials_are_renewed},
      {"what is not allowed at a link", what_is_not_allowed_at_a_link}, {"a hold is judged", a_hold_is_judged},
      {"a denied hold tells nothing", a_denied_hold_tells_nothing},
      {"a failed start is told to those who may know", a_failed_start_is_told_to_those_who_may_know},
      {"a guard that does not answer", a_guard_that_does_not_answer},
      {"asks that nobody waits for", asks_that_nobody_waits_for}, {"judged while away", judged_while_away},
      {"questions come in turns", questions_come_in_turns}, {"questions have a bound", questions_have_a_bound},
      {"calls are judged in order", calls_are_judged_in_order},
      {"a hold with all its calls", a_hold_with_all_its_calls},
      {"calls that end while judged", calls_that_end_while_judged},
      {"local references are not judged", local_references_are_not_judged})
