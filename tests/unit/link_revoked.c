/* link_revoked.c: what belongs to an authority, also behind a host in the middle, and how it is taken back. */
#include "admitted.h"

/* ---- sessions that come back ---- */

TEST(a_session_is_its_authoritys) {
    open_admitted(NOTES, ANN);
    chordal_id held = get(&p.b, "notes", NOTES_PARAMS);
    settle(&p);
    (void)call(&p.b, held, "add", "[]");
    settle(&p);
    link_again(ANN_TURNED);
    CHECK_INT(test_counters(&p.a).sessions_back, 1);
    CHECK_INT(count_events(&p.b, CHORDAL_EVENT_RESULT), 0);
    link_again(BOB); /* another one: the session stays where it is, and a new one begins */
    CHECK_INT(test_counters(&p.a).sessions_back, 1);
    CHECK_INT(test_counters(&p.a).live_lost, 1);
    CHECK_INT(reference_state(held), CHORDAL_REFERENCE_LIVE);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_RESULT)->as.result.code, CHORDAL_E_OUTCOME_UNKNOWN);
    CHECK_INT(answer(&p.a, last_event(&p.a, CHORDAL_EVENT_CALL)->as.call.call, "1"), 0);
    close_pair();
}

/* Who knows the name of another's session neither gets it nor disturbs it. */
TEST(a_session_is_not_stolen) {
    raw_peer owner, thief;
    test_host *h = &p.a;
    test_host_open(h, (chordal_host_options){0});
    provide(h, NOTES);
    peer_open(&owner, h, CHORDAL_LINK_AUTHENTICATE, CHORDAL_CODEC_BINARY);
    peer_open(&thief, h, CHORDAL_LINK_AUTHENTICATE, CHORDAL_CODEC_TEXT);
    CHECK_INT(say_hello(&owner), 0);
    CHECK_INT(say_hello(&thief), 0);
    CHECK_INT(chordal_link_admit(h->host, owner.link, JSON(ANN), NULL), 0);
    CHECK_INT(chordal_link_admit(h->host, thief.link, JSON(BOB), NULL), 0);
    CHECK_INT(say_origin(&owner, 1, ""), 0);
    thief.name = owner.name;
    CHECK_INT(say_origin(&thief, 1, ""), 0);
    test_poll(h);
    peer_hear(&thief);
    peer_hear(&owner);
    CHECK_INT(thief.heard[CHORDAL__ENDED], 1);
    CHECK(strstr((const char *)thief.last, "refused") != NULL);
    CHECK_INT(owner.heard[CHORDAL__ENDED], 0);
    CHECK_INT(say_hold(&owner, 1, 0, "notes"), 0);
    peer_close(&owner);
    peer_close(&thief);
    end_host(h);
}

/* ---- revocation ---- */

TEST(revoked_with_its_reason) {
    open_admitted(NOTES, ANN);
    chordal_id object;
    CHECK_INT(chordal_object_get(p.a.host, "notes", 5, JSON(NOTES_PARAMS), &object, NULL), 0);
    chordal_id held = get(&p.b, "notes", NOTES_PARAMS), other = get(&p.b, "notes", "{\"board\":\"tea\"}");
    settle(&p);
    (void)call(&p.b, held, "add", "[]");
    (void)call(&p.b, held, "ping", "[]");
    settle(&p);
    CHECK_INT(revoke(&p.a, BOB, "not this one"), 0);
    settle(&p);
    CHECK_INT(reference_state(held), CHORDAL_REFERENCE_LIVE);
    CHECK_INT(revoke(&p.a, ANN_TURNED, "ann has left"), 0);
    CHECK_INT(test_counters(&p.a).live_sessions, 0);
    set_json(&p.a, object, NOTES_TITLE, "", "\"later\"");
    settle(&p);
    CHECK_INT(reference_state(held), CHORDAL_REFERENCE_REVOKED);
    CHECK_INT(reference_state(other), CHORDAL_REFERENCE_REVOKED);
    host_event *e = last_event(&p.b, CHORDAL_EVENT_REFERENCE);
    CHECK_INT(e->as.reference.code, CHORDAL_E_REVOKED);
    CHECK_TEXT(e->text, "ann has left");
    CHECK_INT(count_events(&p.b, CHORDAL_EVENT_RESULT), 2); /* idempotent or not */
    e = last_event(&p.b, CHORDAL_EVENT_RESULT);
    CHECK_INT(e->as.result.code, CHORDAL_E_OUTCOME_UNKNOWN);
    CHECK_TEXT(e->text, "ann has left");
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_CANCEL), 2);
    CHECK_TEXT(value_of(&p.b, held, NOTES_TITLE), "\"\"");
    CHECK_INT(state_of(&p.b), CHORDAL_LINK_UP);
    CHECK_INT(chordal_call_start(p.b.host, held, "add", 3, JSON("[]"), 0, &other, NULL), CHORDAL_E_REVOKED);
    /* nothing more over this link */
    held = get(&p.b, "notes", NOTES_PARAMS);
    settle(&p);
    CHECK_INT(reference_state(held), CHORDAL_REFERENCE_REVOKED);
    CHECK_TEXT(last_event(&p.b, CHORDAL_EVENT_REFERENCE)->text, "ann has left");
    CHECK_INT(test_counters(&p.a).live_sessions, 0);
    for (size_t i = 0; i < p.a.len; i++)
        if (p.a.events[i].kind == CHORDAL_EVENT_CALL) CHECK_INT(answer(&p.a, p.a.events[i].as.call.call, "1"), 0);
    settle(&p);
    link_again(ANN); /* the program lets it in again */
    CHECK_INT(reference_state(held), CHORDAL_REFERENCE_REVOKED);
    held = get(&p.b, "notes", NOTES_PARAMS);
    settle(&p);
    CHECK_INT(reference_state(held), CHORDAL_REFERENCE_LIVE);
    close_pair();
}

/* A reader that takes nothing is told at once: windows are no reason to wait. */
TEST(revoked_with_a_full_window) {
    raw_peer peer;
    test_host *h = &p.a;
    chordal_id object;
    test_host_open(h, (chordal_host_options){.window_messages = 2});
    provide(h, NOTES);
    CHECK_INT(chordal_object_get(h->host, "notes", 5, JSON(NOTES_PARAMS), &object, NULL), 0);
    peer_open(&peer, h, 0, CHORDAL_CODEC_TEXT);
    CHECK_INT(say_hello(&peer), 0);
    CHECK_INT(say_origin(&peer, 1, ""), 0);
    CHECK_INT(say_hold(&peer, 1, 0, "notes"), 0);
    for (int i = 0; i < 10; i++) {
        append_text(h, object, NOTES_LIST, "/text", "x");
        test_poll(h);
        peer_hear(&peer);
    }
    CHECK_INT(peer.heard[CHORDAL__STATE], 1);
    CHECK_INT(revoke(h, "null", "no guests"), 0);
    append_text(h, object, NOTES_LIST, "/text", "y");
    test_poll(h);
    peer_hear(&peer);
    CHECK_INT(peer.heard[CHORDAL__STATE], 1);
    CHECK_INT(peer.heard[CHORDAL__ENDED], 1);
    CHECK(strstr((const char *)peer.last, "\"ended\",\"revoked\",\"no guests\"]") != NULL);
    CHECK_INT(say_number(&peer, CHORDAL__RELEASE, 1, 0), 0); /* crossed with it */
    CHECK_INT(say_texts(&peer, CHORDAL__ENDED, 1, 0, "", ""), 0);
    peer_close(&peer);
    end_host(h);
}

/* A session that was lost when it was revoked is told so when it wants to come back. */
TEST(revoked_while_away) {
    open_admitted(NOTES, ANN);
    chordal_id held = get(&p.b, "notes", NOTES_PARAMS);
    settle(&p);
    (void)call(&p.b, held, "add", "[]");
    settle(&p);
    CHECK_INT(chordal_link_down(p.a.host, p.link_a, p.a.now, NULL), 0);
    CHECK_INT(test_counters(&p.a).live_lost, 1);
    CHECK_INT(revoke(&p.a, ANN, "meanwhile"), 0);
    CHECK_INT(test_counters(&p.a).live_lost, 0);
    CHECK_INT(test_counters(&p.a).live_sessions, 0);
    CHECK_INT(answer(&p.a, last_event(&p.a, CHORDAL_EVENT_CALL)->as.call.call, "1"), 0);
    link_again(ANN);
    CHECK_INT(reference_state(held), CHORDAL_REFERENCE_REVOKED);
    CHECK_TEXT(last_event(&p.b, CHORDAL_EVENT_REFERENCE)->text, "meanwhile");
    host_event *e = last_event(&p.b, CHORDAL_EVENT_RESULT);
    CHECK_INT(e->as.result.code, CHORDAL_E_OUTCOME_UNKNOWN);
    CHECK_TEXT(e->text, "meanwhile");
    held = get(&p.b, "notes", NOTES_PARAMS); /* another session, which the program let in */
    settle(&p);
    CHECK_INT(reference_state(held), CHORDAL_REFERENCE_LIVE);
    close_pair();
}

/* More sessions than are remembered: memory is bounded. */
TEST(revoked_sessions_are_remembered_within_a_bound) {
    test_host *h = &p.a;
    raw_peer peer;
    test_host_open(h, (chordal_host_options){0});
    provide(h, NOTES);
    uint64_t most = 0;
    for (int round = 0; round < 1030; round++) {
        peer_open(&peer, h, CHORDAL_LINK_AUTHENTICATE, CHORDAL_CODEC_BINARY);
        CHECK_INT(say_hello(&peer), 0);
        CHECK_INT(chordal_link_admit(h->host, peer.link, JSON(BOB), NULL), 0);
        chordal__message m = peer_message(&peer, CHORDAL__ORIGIN, 1);
        m.numbers[0] = 1;
        m.numbers[1] = CHORDAL__ENCODING_BINARY;
        memcpy(m.ids[0], &round, sizeof round);
        CHECK_INT(peer_say(&peer, &m), 0);
        CHECK_INT(revoke(h, BOB, "once"), 0);
        test_poll(h);
        peer_hear(&peer);
        CHECK_INT(peer.heard[CHORDAL__ENDED], 1);
        peer_close(&peer);
        test_poll(h);
        uint64_t bytes = test_counters(h).live_bytes;
        if (round == 1024) most = bytes;
        if (round > 1024) CHECK(bytes <= most + 1024);
    }
    end_host(h);
}

TEST(revocation_has_limits) {
    static char large[CHORDAL__REASON_BYTES + 2];
    test_host h;
    test_host_open(&h, (chordal_host_options){0});
    memset(large, 'x', sizeof large - 1);
    CHECK_INT(revoke(&h, "1", large), CHORDAL_E_SIZE);
    CHECK_INT(revoke(&h, "1", "\xff"), CHORDAL_E_UTF8);
    CHECK_INT(revoke(&h, "[1", "x"), CHORDAL_E_TRUNCATED);
    CHECK_INT(chordal_object_revoke(h.host, 77, JSON("1"), "", 0, NULL), CHORDAL_E_CLOSED);
    end_host(&h);
}

/* ---- one object ---- */

TEST(one_object_is_taken) {
    open_admitted(GUARDED, ANN);
    get_notes(CHORDAL_GUARD_ALLOW_CALLS);
    chordal_id object = last_event(&p.a, CHORDAL_EVENT_OBJECT)->as.object.object, taken = reference;
    chordal_id other = get(&p.b, "notes", "{\"board\":\"tea\"}");
    settle(&p);
    CHECK_INT(judge(CHORDAL_GUARD_ALLOW_CALLS), 0);
    settle(&p);
    (void)call(&p.b, taken, "add", "[]");
    settle(&p);
    chordal_id running = last_event(&p.a, CHORDAL_EVENT_CALL)->as.call.call;
    CHECK_INT(chordal_object_revoke(p.a.host, object, JSON(BOB), "no", 2, NULL), 0);
    (void)call(&p.b, taken, "ping", "[]"); /* crosses with it */
    CHECK_INT(chordal_object_revoke(p.a.host, object, JSON(ANN_TURNED), "the board is secret", 19, NULL), 0);
    settle(&p);
    CHECK_INT(reference_state(taken), CHORDAL_REFERENCE_REVOKED);
    CHECK_TEXT(last_event(&p.b, CHORDAL_EVENT_REFERENCE)->text, "the board is secret");
    CHECK_INT(reference_state(other), CHORDAL_REFERENCE_LIVE);
    CHECK_INT(count_events(&p.b, CHORDAL_EVENT_RESULT), 2);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_RESULT)->as.result.code, CHORDAL_E_OUTCOME_UNKNOWN);
    CHECK_TEXT(last_event(&p.b, CHORDAL_EVENT_RESULT)->text, "the board is secret");
    CHECK_INT(last_event(&p.a, CHORDAL_EVENT_CALL)->as.call.call, running); /* the other one never ran */
    CHECK_INT(answer(&p.a, running, "\"a secret\""), 0);
    settle(&p);
    CHECK_INT(last_event(&p.a, CHORDAL_EVENT_OBJECT)->as.object.object, object); /* nobody holds it any more */
    CHECK_INT(last_event(&p.a, CHORDAL_EVENT_OBJECT)->as.object.state, CHORDAL_OBJECT_RETIRED);
    (void)call(&p.b, other, "add", "[]");
    settle(&p);
    CHECK_INT(answer(&p.a, last_event(&p.a, CHORDAL_EVENT_CALL)->as.call.call, "2"), 0);
    settle(&p);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_RESULT)->as.result.code, 0);
    link_again(ANN); /* said again to a session that is back */
    CHECK_INT(reference_state(taken), CHORDAL_REFERENCE_REVOKED);
    CHECK_INT(reference_state(other), CHORDAL_REFERENCE_LIVE);
    chordal_release(p.b.host, taken);
    size_t asked = count_events(&p.a, CHORDAL_EVENT_GUARD);
    reference = get(&p.b, "notes", NOTES_PARAMS);
    settle(&p);
    CHECK_INT(count_events(&p.a, CHORDAL_EVENT_GUARD), asked + 1);
    CHECK_INT(judge(CHORDAL_GUARD_DENY), 0);
    settle(&p);
    CHECK_INT(last_event(&p.b, CHORDAL_EVENT_REFERENCE)->as.reference.code, CHORDAL_E_DENIED);
    close_pair();
}

static void hold_notes(raw_peer *peer, test_host *h, uint8_t name) {
    peer_open(peer, h, 0, CHORDAL_CODEC_BINARY);
    peer->name = name; /* of its session, too */
    CHECK_INT(say_hello(peer), 0);
    CHECK_INT(say_origin(peer, 1, ""), 0);
    CHECK_INT(say_hold(peer, 1, 0, "notes"), 0);
    test_poll(h);
}

/* One reader takes all, one has a full window and misses changes, one missed them and is away: none gets more. */
TEST(one_object_is_taken_from_who_lags) {
    raw_peer peers[3];
    test_host *h = &p.a;
    chordal_id object;
    test_host_open(h, (chordal_host_options){.window_messages = 1});
    provide(h, NOTES);
    CHECK_INT(chordal_object_get(h->host, "notes", 5, JSON(NOTES_PARAMS), &object, NULL), 0);
    for (uint8_t i = 0; i < 3; i++) hold_notes(&peers[i], h, i + 1);
    CHECK_INT(say_number(&peers[0], CHORDAL__ACK, 1, 1), 0);
    for (int i = 0; i < 2; i++) {
        (void)set_json(h, object, 1, "", i ? "\"two\"" : "\"one\"");
        test_poll(h);
    }
    CHECK_INT(chordal_link_down(h->host, peers[2].link, 0, NULL), 0);
    CHECK_INT(test_counters(h).live_lost, 1);
    CHECK_INT(chordal_object_revoke(h->host, object, JSON("null"), "", 0, NULL), 0);
    for (int i = 0; i < 2; i++) CHECK_INT(say_number(&peers[i], CHORDAL__ACK, 1, 1), 0);
    (void)set_json(h, object, 1, "", "\"three\"");
    test_poll(h);
    for (int i = 0; i < 2; i++) {
        peer_hear(&peers[i]);
        CHECK_INT(peers[i].heard[CHORDAL__STATE], i == 0);
        CHECK_INT(peers[i].heard[CHORDAL__REVOKED], 1);
    }
    CHECK_INT(chordal_object_drop(h->host, object, NULL), 0);
    test_poll(h);
    CHECK_INT(last_event(h, CHORDAL_EVENT_OBJECT)->as.object.state, CHORDAL_OBJECT_RETIRED); /* nobody holds it */
    for (int i = 0; i < 3; i++) peer_close(&peers[i]);
    end_host(h);
}

/* Neither a result that runs, nor one that waits for the window, nor one that is sent again crosses any more. */
TEST(outcomes_are_withheld) {
    for (int moment = 0; moment < 3; moment++) {
        raw_peer peer;
        test_host *h = &p.a;
        chordal_id object;
        test_host_open(h, (chordal_host_options){.window_messages = 1});
        provide(h, NOTES);
        CHECK_INT(chordal_object_get(h->host, "notes", 5, JSON(NOTES_PARAMS), &object, NULL), 0);
        peer_open(&peer, h, 0, CHORDAL_CODEC_TEXT);
        CHECK_INT(say_hello(&peer), 0);
        CHECK_INT(say_origin(&peer, 1, ""), 0);
        CHECK_INT(say_hold(&peer, 1, 0, "notes"), 0);
        test_poll(h);
        if (moment == 2) CHECK_INT(say_number(&peer, CHORDAL__ACK, 1, 1), 0);
        CHECK_INT(say_call(&peer, 1, 0, 0, NOTES_ADD), 0);
        test_poll(h);
        chordal_id running = last_event(h, CHORDAL_EVENT_CALL)->as.call.call;
        if (moment) CHECK_INT(answer(h, running, "\"secret\""), 0);
        test_poll(h);
        peer_hear(&peer);
        CHECK_INT(peer.heard[CHORDAL__RESULT], moment == 2);
        CHECK_INT(chordal_object_revoke(h->host, object, JSON("null"), "", 0, NULL), 0);
        if (!moment) CHECK_INT(answer(h, running, "\"secret\""), 0);
        if (moment == 2) {
            chordal_link_down(h->host, peer.link, 0, NULL);
            peer_close(&peer);
            peer_open(&peer, h, 0, CHORDAL_CODEC_TEXT);
            CHECK_INT(say_hello(&peer), 0);
            chordal__message m = peer_message(&peer, CHORDAL__ORIGIN, 1);
            m.numbers[0] = 1;
            m.numbers[1] = CHORDAL__ENCODING_JSON;
            m.numbers[4] = 1; /* the bound */
            chordal_host_run(h->host, m.ids[1]);
            CHECK_INT(peer_say(&peer, &m), 0);
            test_poll(h);
            peer_hear(&peer);
            CHECK_INT(peer.heard[CHORDAL__BACK], 1);
            CHECK_INT(peer.heard[CHORDAL__REVOKED], 1);
        } else {
            CHECK_INT(say_number(&peer, CHORDAL__ACK, 1, 1), 0);
        }
        test_poll(h);
        peer_hear(&peer);
        CHECK_INT(peer.heard[CHORDAL__ERROR], 1);
        CHECK(strstr((const char *)peer.last, "outcome_unknown") != NULL);
        CHECK_INT(say_call(&peer, 1, 0, 1, NOTES_ADD), 0);
        CHECK_INT(chordal_object_drop(h->host, object, NULL), 0);
        peer_close(&peer);
        end_host(h);
    }
}

/* ---- a host in the middle ---- */

/* near (a tab) → relay → far (a worker, which believes the relay). */
static test_host near_host, relay, far_host;
static chordal_id near_up, relay_down, relay_up, far_down;

static void carry_all(void) {
    size_t frames, moved;
    do {
        moved = 0;
        if (chordal_link_carry(near_host.host, near_up, relay.host, relay_down, 0, &frames, NULL) == 0) moved += frames;
        if (chordal_link_carry(relay.host, relay_up, far_host.host, far_down, 0, &frames, NULL) == 0) moved += frames;
        moved += test_poll(&near_host) + test_poll(&relay) + test_poll(&far_host);
    } while (moved);
}

static void link_near(uint32_t codec) {
    if (!near_up) CHECK_INT(chordal_link_open(near_host.host, CHORDAL_LINK_CONNECT, &near_up, NULL), 0);
    CHECK_INT(chordal_link_open(relay.host, CHORDAL_LINK_AUTHENTICATE, &relay_down, NULL), 0);
    CHECK_INT(chordal_link_up(near_host.host, near_up, codec, 0, NULL), 0);
    CHECK_INT(chordal_link_up(relay.host, relay_down, codec, 0, NULL), 0);
    carry_all();
}

static void open_relay(uint32_t codec, uint32_t far_codec, const char *type) {
    test_host_open(&near_host, (chordal_host_options){0});
    test_host_open(&relay, (chordal_host_options){0});
    test_host_open(&far_host, (chordal_host_options){0});
    near_up = 0;
    provide(&far_host, type);
    CHECK_INT(chordal_link_open(relay.host, CHORDAL_LINK_ROUTE_OFFERS | CHORDAL_LINK_CONNECT, &relay_up, NULL), 0);
    CHECK_INT(chordal_link_open(far_host.host, CHORDAL_LINK_OFFER | CHORDAL_LINK_TRUSTED, &far_down, NULL), 0);
    CHECK_INT(chordal_link_up(relay.host, relay_up, far_codec, 0, NULL), 0);
    CHECK_INT(chordal_link_up(far_host.host, far_down, far_codec, 0, NULL), 0);
    link_near(codec);
}

static void admit_near(const char *authority) {
    CHECK_INT(chordal_link_admit(relay.host, relay_down, JSON(authority), NULL), 0);
    carry_all();
}

static void close_relay(void) {
    chordal_release(near_host.host, near_up);
    chordal_release(relay.host, relay_down);
    chordal_release(relay.host, relay_up);
    chordal_release(far_host.host, far_down);
    end_host(&near_host);
    end_host(&relay);
    end_host(&far_host);
}

static int judge_far(uint32_t verdict) {
    host_event *e = last_event(&far_host, CHORDAL_EVENT_GUARD);
    CHECK_TEXT(packed_json(&far_host, e->authority, e->authority_len), "{\"user\":\"ann\",\"roles\":[1,2]}");
    return chordal_guard_answer(far_host.host, e->as.guard.guard, verdict, NULL);
}

TEST(authority_goes_on_over_a_host_in_the_middle) {
    for (uint32_t codec = CHORDAL_CODEC_BINARY; codec <= CHORDAL_CODEC_TEXT; codec++) {
        for (uint32_t far_codec = CHORDAL_CODEC_BINARY; far_codec <= CHORDAL_CODEC_TEXT; far_codec++) {
            open_relay(codec, far_codec, GUARDED);
            admit_near(ANN);
            chordal_id held = get(&near_host, "notes", NOTES_PARAMS);
            carry_all();
            CHECK_INT(judge_far(CHORDAL_GUARD_ALLOW), 0);
            carry_all();
            CHECK_INT(chordal_reference_state(near_host.host, held), CHORDAL_REFERENCE_LIVE);
            (void)call(&near_host, held, "add", "[]");
            carry_all();
            CHECK_INT(judge_far(CHORDAL_GUARD_ALLOW), 0);
            carry_all();
            host_event *e = last_event(&far_host, CHORDAL_EVENT_CALL);
            CHECK_TEXT(packed_json(&far_host, e->authority, e->authority_len), "{\"user\":\"ann\",\"roles\":[1,2]}");
            CHECK_INT(answer(&far_host, e->as.call.call, "1"), 0);
            carry_all();
            CHECK_INT(last_event(&near_host, CHORDAL_EVENT_RESULT)->as.result.code, 0);
            close_relay();
        }
    }
}

static void run_revoked(test_host *by) {
    open_relay(CHORDAL_CODEC_TEXT, CHORDAL_CODEC_BINARY, NOTES);
    admit_near(ANN);
    chordal_id held = get(&near_host, "notes", NOTES_PARAMS);
    carry_all();
    CHECK_INT(chordal_reference_state(near_host.host, held), CHORDAL_REFERENCE_LIVE);
    (void)call(&near_host, held, "add", "[]");
    carry_all();
    chordal_id running = last_event(&far_host, CHORDAL_EVENT_CALL)->as.call.call;
    uint64_t sessions = test_counters(&far_host).live_sessions;
    CHECK_INT(revoke(by, ANN_TURNED, "ann has left"), 0);
    carry_all();
    CHECK_INT(chordal_reference_state(near_host.host, held), CHORDAL_REFERENCE_REVOKED);
    CHECK_TEXT(last_event(&near_host, CHORDAL_EVENT_REFERENCE)->text, "ann has left");
    host_event *e = last_event(&near_host, CHORDAL_EVENT_RESULT);
    CHECK_INT(e->as.result.code, CHORDAL_E_OUTCOME_UNKNOWN);
    CHECK_TEXT(e->text, "ann has left");
    CHECK_INT(test_counters(&far_host).live_sessions, sessions - 1);
    CHECK_INT(test_counters(&far_host).live_lost, 0);
    CHECK_INT(count_events(&far_host, CHORDAL_EVENT_CANCEL), 1);
    CHECK_INT(answer(&far_host, running, "1"), 0);
    carry_all();
    close_relay();
}

TEST(revoked_in_the_middle) {
    run_revoked(&relay);
}
TEST(revoked_behind_the_middle) {
    run_revoked(&far_host);
}

/* The tab did not hear of it, and comes back over another transport. */
TEST(revoked_in_the_middle_while_away) {
    open_relay(CHORDAL_CODEC_BINARY, CHORDAL_CODEC_BINARY, NOTES);
    admit_near(ANN);
    chordal_id held = get(&near_host, "notes", NOTES_PARAMS);
    carry_all();
    CHECK_INT(revoke(&relay, ANN, "ann has left"), 0);
    CHECK_INT(chordal_link_down(near_host.host, near_up, 0, NULL), 0);
    CHECK_INT(chordal_link_down(relay.host, relay_down, 0, NULL), 0);
    chordal_release(relay.host, relay_down);
    CHECK_INT(chordal_link_retry(near_host.host, near_up, 0, NULL), 0);
    test_poll(&near_host);
    link_near(CHORDAL_CODEC_BINARY);
    admit_near(ANN);
    CHECK_INT(chordal_reference_state(near_host.host, held), CHORDAL_REFERENCE_REVOKED);
    CHECK_TEXT(last_event(&near_host, CHORDAL_EVENT_REFERENCE)->text, "ann has left");
    close_relay();
}

/* The tab's way is gone when it is revoked in the middle: its provider ends it all the same, and its calls; when the
 * tab is back, it is told, though it is let in with the same authority. */
TEST(lost_and_revoked_in_the_middle) {
    for (uint32_t codec = CHORDAL_CODEC_BINARY; codec <= CHORDAL_CODEC_TEXT; codec++) {
        open_relay(codec, codec, NOTES);
        admit_near(ANN);
        chordal_id held = get(&near_host, "notes", NOTES_PARAMS);
        carry_all();
        (void)call(&near_host, held, "add", "[]");
        carry_all();
        chordal_id running = last_event(&far_host, CHORDAL_EVENT_CALL)->as.call.call;
        CHECK_INT(chordal_link_down(near_host.host, near_up, 0, NULL), 0);
        CHECK_INT(chordal_link_down(relay.host, relay_down, 0, NULL), 0);
        chordal_release(relay.host, relay_down);
        carry_all();
        CHECK_INT(test_counters(&far_host).live_lost, 1);
        CHECK_INT(revoke(&relay, BOB, "bob has left"), 0);
        carry_all();
        CHECK_INT(test_counters(&far_host).live_lost, 1);
        CHECK_INT(revoke(&relay, ANN_TURNED, "ann has left"), 0);
        carry_all();
        CHECK_INT(test_counters(&far_host).live_sessions, 0);
        CHECK_INT(count_events(&far_host, CHORDAL_EVENT_CANCEL), 1);
        CHECK_INT(answer(&far_host, running, "1"), 0);
        CHECK_INT(test_counters(&far_host).live_objects, 0);
        uint64_t said = test_counters(&relay).messages_out;
        CHECK_INT(revoke(&relay, ANN, "again"), 0); /* once is enough */
        CHECK_INT(test_counters(&relay).messages_out, said);
        CHECK_INT(chordal_link_retry(near_host.host, near_up, 0, NULL), 0);
        test_poll(&near_host);
        link_near(codec);
        admit_near(ANN);
        CHECK_INT(chordal_reference_state(near_host.host, held), CHORDAL_REFERENCE_REVOKED);
        CHECK_TEXT(last_event(&near_host, CHORDAL_EVENT_REFERENCE)->text, "ann has left");
        CHECK_INT(state_of(&far_host), CHORDAL_LINK_UP);
        CHECK_INT(test_counters(&far_host).live_sessions, 0);
        close_relay();
    }
}

/* What an untrusted peer says about itself is written over, and no other host believes it. */
static void say_lie(raw_peer *liar, const char *route) {
    chordal__message m = peer_message(liar, CHORDAL__ORIGIN, 1);
    m.numbers[0] = 1;
    m.numbers[1] = CHORDAL__ENCODING_JSON;
    set_text(&m, 0, route);
    set_part(&m.parts[0], "\"root\"", 6);
    CHECK_INT(peer_say(liar, &m), 0);
    CHECK_INT(say_hold(liar, 1, 0, "notes"), 0);
}

static void run_lie(test_host *h, chordal_id link, raw_peer *liar, const char *expected) {
    if (*expected) CHECK_INT(chordal_link_admit(h->host, link, JSON(expected), NULL), 0);
    char route[33] = "";
    if (h == &relay) {
        uint8_t name[16];
        CHECK_INT(chordal_host_run(far_host.host, name), 0);
        for (int i = 0; i < 16; i++) snprintf(route + 2 * i, 3, "%02x", name[i]);
    }
    say_lie(liar, route);
    carry_all();
    host_event *e = last_event(&far_host, CHORDAL_EVENT_GUARD);
    CHECK_TEXT(packed_json(&far_host, e->authority, e->authority_len), expected);
    peer_hear(liar);
    CHECK_TEXT(liar->bye, "");
    peer_close(liar);
}

TEST(a_lie_about_authority) {
    raw_peer liar;
    for (int i = 0; i < 3; i++) {
        open_relay(CHORDAL_CODEC_TEXT, CHORDAL_CODEC_BINARY, GUARDED);
        bool direct = i == 2;
        peer_open(&liar, direct ? &far_host : &relay, i == 1 ? CHORDAL_LINK_AUTHENTICATE : 0, CHORDAL_CODEC_TEXT);
        CHECK_INT(say_hello(&liar), 0);
        run_lie(direct ? &far_host : &relay, liar.link, &liar, i == 1 ? BOB : "");
        close_relay();
    }
}

/* A host that is believed and sends what is no authority breaks the rules. */
TEST(a_trusted_peer_that_is_wrong) {
    static char large[2 * CHORDAL__AUTHORITY_LIMIT + 8];
    memset(large, 'x', sizeof large - 1);
    large[0] = large[sizeof large - 2] = '"';
    raw_peer peer;
    test_host *h = &p.a;
    for (int i = 0; i < 2; i++) {
        test_host_open(h, (chordal_host_options){0});
        peer_open(&peer, h, CHORDAL_LINK_TRUSTED, CHORDAL_CODEC_TEXT);
        CHECK_INT(say_hello(&peer), 0);
        chordal__message m = peer_message(&peer, CHORDAL__ORIGIN, 1);
        const char *said = i ? large : "{\"a\":1,\"a\":2}";
        m.numbers[0] = 1;
        m.numbers[1] = CHORDAL__ENCODING_JSON;
        set_part(&m.parts[0], said, strlen(said));
        CHECK_INT(peer_say(&peer, &m), i ? CHORDAL_E_TOO_LARGE : CHORDAL_E_DUPLICATE_KEY);
        CHECK_INT(test_counters(h).live_sessions, 0);
        peer_close(&peer);
        end_host(h);
    }
}

TESTS({"a session is its authority's", a_session_is_its_authoritys},
      {"a session is not stolen", a_session_is_not_stolen}, {"revoked with its reason", revoked_with_its_reason},
      {"revoked with a full window", revoked_with_a_full_window}, {"revoked while away", revoked_while_away},
      {"revoked sessions are remembered within a bound", revoked_sessions_are_remembered_within_a_bound},
      {"revocation has limits", revocation_has_limits}, {"one object is taken", one_object_is_taken},
      {"one object is taken from who lags", one_object_is_taken_from_who_lags},
      {"outcomes are withheld", outcomes_are_withheld},
      {"authority goes on over a host in the middle", authority_goes_on_over_a_host_in_the_middle},
      {"revoked in the middle", revoked_in_the_middle}, {"revoked behind the middle", revoked_behind_the_middle},
      {"revoked in the middle while away", revoked_in_the_middle_while_away},
      {"lost and revoked in the middle", lost_and_revoked_in_the_middle},
      {"a lie about authority", a_lie_about_authority}, {"a trusted peer that is wrong", a_trusted_peer_that_is_wrong})
