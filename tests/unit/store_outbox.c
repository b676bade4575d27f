/* store_outbox.c: the outbox has each commit that is in the file, for its owner, for readers and after any end, however
 * late its rows are written. */
#include "outbox.h"

#define PAGE                                                                                                           \
    "{\"name\":\"page\",\"params\":[\"n\"],\"history\":%s,\"deltas\":3,\"keep\":true,\"members\":["                    \
    "{\"name\":\"left\",\"kind\":\"document\",\"initial\":{\"text\":\"\"}},"                                           \
    "{\"name\":\"right\",\"kind\":\"document\",\"initial\":{\"text\":\"\"}},"                                          \
    "{\"name\":\"rows\",\"kind\":\"table\",\"columns\":{\"id\":\"integer\"},\"key\":[\"id\"]}]}"

enum { PAGES = 3, ROWS_MEMBER = 2, BOUND = 64, LARGE = 20000 };

static test_host h;
static const char *history;
static char copy_path[128];
static bool known[PAGES][2]; /* documents that are in the store */
static uint64_t newest;      /* commit */
static size_t numbered;      /* rows of the model that have their number */

static void open_pages(uint32_t flags) {
    char type[sizeof PAGE + 16];
    test_host_open(&h, (chordal_host_options){.store = store_path, .store_flags = flags});
    snprintf(type, sizeof type, PAGE, history);
    provide(&h, type);
}

static void begin(const char *kept) {
    history = kept;
    new_store();
    outbox_forget();
    newest = numbered = 0;
    memset(known, 0, sizeof known);
    open_pages(CHORDAL_STORE_OUTBOX);
}

static const char *params_of(int page) {
    static char text[PAGES][16];
    snprintf(text[page], sizeof text[page], "{\"n\":%d}", page);
    return text[page];
}

static chordal_id page_of(int page) {
    return object_in(&h, "page", params_of(page));
}

/* ---- commits, and what they must say ---- */

static void change(chordal_transaction *t, outbox_row *row, int page, uint32_t member, bool anew) {
    static const char *const names[] = {"left", "right"};
    static int number;
    char text[16], value[40], told[64];
    snprintf(text, sizeof text, "%d,", ++number);
    snprintf(value, sizeof value, "{\"text\":\"%s\"}", text);
    anew = anew || !known[page][member];
    CHECK_INT(anew ? chordal_transaction_set_json(t, page_of(page), member, "", value, NULL)
                   : chordal_transaction_append(t, page_of(page), member, "/text", text, strlen(text), NULL),
              0);
    if (anew)
        snprintf(told, sizeof told, "\"value\":%s", value);
    else
        snprintf(told, sizeof told, "\"ops\":[\"a\",[%d,\"text\"],\"%s\"]", (int)member, text);
    known[page][member] = true;
    outbox_write(row, "page", params_of(page), names[member], told);
}

static void put_row(chordal_transaction *t, outbox_row *row, int page) {
    static int number;
    char json[24], told[40];
    snprintf(json, sizeof json, "{\"id\":%d}", ++number);
    snprintf(told, sizeof told, "\"put\":%s", json);
    put(t, page_of(page), ROWS_MEMBER, json);
    outbox_write(row, "page", params_of(page), "rows", told);
}

/* Several may be of one turn. */
static void commit_page(int page, uint32_t members, bool rows, bool anew) {
    chordal_transaction *t = draft_on(&h);
    outbox_row *row = outbox_begin(0);
    for (uint32_t i = 0; i < 2; i++)
        if (members & 1u << i) change(t, row, page, i, anew);
    if (rows) put_row(t, row, page);
    commit(t);
}

static void take_turn(void) {
    test_poll(&h);
    for (size_t i = 0; i < h.len; i++) {
        const chordal_event_TICKET *ticket = &h.events[i].as.ticket;
        if (h.events[i].kind != CHORDAL_EVENT_TICKET) continue;
        CHECK_INT(ticket->code, 0);
        if (numbered < outbox.len) outbox.rows[numbered++].commit = newest = ticket->commit;
    }
    forget_events(&h);
}

/* ---- ends of all kinds ---- */

/* The files as a crash would leave them now. */
static void copy_store(void) {
    char command[800];
    snprintf(copy_path, sizeof copy_path, "%s/crash.db", store_folder);
    snprintf(command, sizeof command, "rm -f %s*; cp %s %s && { cp %s-wal %s-wal 2>/dev/null || true; }", copy_path,
             store_path, copy_path, store_path, copy_path);
    CHECK_INT(system(command), 0);
}

static void remove_copy(void) {
    char command[160];
    snprintf(command, sizeof command, "rm -f %s*", copy_path);
    CHECK_INT(system(command), 0);
}

static void expect_after_crash(void) {
    test_host owner;
    copy_store();
    outbox_expect_beside(copy_path, "beside, after a crash");
    for (int i = 0; i < 2; i++) { /* it writes nothing, so the next finds the same */
        test_host_open(&owner, (chordal_host_options){.store = copy_path, .store_flags = CHORDAL_STORE_OUTBOX});
        outbox_expect(owner.host, "the next owner");
        outbox_expect_beside(copy_path, "beside the next owner");
        test_host_close(&owner);
    }
    remove_copy();
}

static void expect_all(void) {
    outbox_expect(h.host, "the owner");
    outbox_expect_beside(store_path, "beside");
    expect_after_crash();
}

/* Go on with what a crash would have left. */
static void crash(uint32_t flags) {
    char command[800];
    copy_store();
    test_host_close(&h);
    snprintf(command, sizeof command, "rm -f %s*; mv %s %s; mv %s-wal %s-wal 2>/dev/null || true", store_path,
             copy_path, store_path, copy_path, store_path);
    CHECK_INT(system(command), 0);
    open_pages(flags);
}

/* ---- when rows are written ---- */

static int64_t in_file(void) {
    return store_number("SELECT count(*) FROM chordal_outbox");
}

TEST(a_commit_takes_four_statements) {
    uint64_t before, all = 0;
    begin("\"all\"");
    commit_page(0, 3, false, false);
    take_turn();
    for (int i = 0; i < 3 * BOUND; i++) {
        before = test_counters(&h).statements;
        commit_page(0, 1, false, false);
        take_turn();
        int64_t count = (int64_t)test_counters(&h).statements - (int64_t)before;
        bool base = i % 3 == 2;
        if (count > 4 + base) CHECK_FAIL("commit %d: %d statements", i, (int)count);
        all += (uint64_t)count - base;
    }
    CHECK_INT(all, 3 * BOUND * 3 + 3);
    CHECK_INT(in_file(), 3 * BOUND);
    expect_all();
    test_host_close(&h);
    CHECK_INT(in_file(), 3 * BOUND + 1);
}

TEST(many_bytes_do_not_wait) {
    static char large[LARGE + 2];
    begin("\"all\"");
    memset(large, 'x', sizeof large);
    large[0] = large[LARGE] = '"', large[LARGE + 1] = 0;
    for (int i = 0; i < 5; i++) {
        large[1] = (char)('0' + i);
        set_json(&h, page_of(0), 0, "", large);
        test_poll(&h);
        CHECK_INT(in_file(), i < 3 ? 0 : 4);
    }
    test_host_close(&h);
    CHECK_INT(in_file(), 5);
}

TEST(many_commits_of_one_step) {
    begin("0");
    for (int i = 0; i < 5 * BOUND + 7; i++) commit_page(i % PAGES, 1 + (uint32_t)i % 3, false, i % 5 == 0);
    take_turn();
    expect_all();
    test_host_close(&h);
    outbox_expect_beside(store_path, "after the end");
}

TEST(rows_of_tables_are_written_at_once) {
    begin("\"all\"");
    commit_page(0, 1, false, false);
    take_turn();
    CHECK_INT(in_file(), 0);
    commit_page(0, 2, true, false);
    take_turn();
    CHECK_INT(in_file(), 2);
    commit_page(0, 0, true, false);
    take_turn();
    CHECK_INT(in_file(), 3);
    expect_all();
    test_host_close(&h);
}

/* What the revisions told alone is written before they go. */
TEST(revisions_that_go) {
    begin("0");
    for (int i = 0; i < 21; i++) {
        commit_page(0, 1, false, i % 2);
        take_turn();
        expect_all();
    }
    CHECK_INT(chordal_object_retire(h.host, page_of(0), NULL), 0);
    expect_all();
    CHECK_INT(store_number("SELECT count(*) FROM chordal_revisions"), 0);
    test_host_close(&h);
}

TEST(what_was_trimmed_stays_away) {
    uint32_t dropped;
    begin("\"all\"");
    for (int i = 0; i < 5; i++) commit_page(0, 1, false, false);
    take_turn();
    for (uint64_t upto = 3; upto <= 9; upto += 3) {
        CHECK_INT(chordal_store_trim(h.host, upto, &dropped, NULL), 0);
        CHECK_INT(dropped, outbox_trim(upto));
        expect_all();
    }
    crash(CHORDAL_STORE_OUTBOX);
    outbox_expect(h.host, "after a crash");
    commit_page(0, 1, false, false);
    take_turn();
    expect_all();
    CHECK_INT(chordal_store_trim(h.host, UINT64_MAX, &dropped, NULL), 0);
    CHECK_INT(dropped, outbox_trim(UINT64_MAX));
    expect_all();
    test_host_close(&h);
}

/* The next owner writes what is missing with its first step, also one that keeps none itself. */
TEST(after_a_crash) {
    for (uint32_t flags = 0; flags <= CHORDAL_STORE_OUTBOX; flags += CHORDAL_STORE_OUTBOX) {
        begin("\"all\"");
        for (int i = 0; i < 7; i++) {
            commit_page(i % PAGES, 3, false, false);
            take_turn();
        }
        crash(flags);
        CHECK_INT(in_file(), 0);
        outbox_expect(h.host, "the next owner");
        commit_page(0, 1, false, false);
        if (!flags) outbox.len--;
        take_turn();
        CHECK_INT(in_file(), 7);
        expect_all();
        crash(CHORDAL_STORE_OUTBOX); /* of a run without an outbox nothing is known */
        expect_all();
        commit_page(1, 1, false, false);
        take_turn();
        expect_all();
        test_host_close(&h);
    }
}

TEST(a_clean_end_leaves_nothing_to_do) {
    begin("0");
    for (int i = 0; i < 7; i++) commit_page(0, 1, false, false);
    take_turn();
    test_host_close(&h);
    CHECK_INT(in_file(), 7);
    open_pages(CHORDAL_STORE_OUTBOX);
    CHECK_INT(test_counters(&h).steps, 0);
    CHECK_INT(test_counters(&h).statements, 3 + 1); /* the table is looked for */
    outbox_expect(h.host, "the next owner");
    test_host_close(&h);
}

/* What was put into a new store is no commit that anybody follows. */
TEST(what_was_filled_in) {
    static const char document[] =
        "{\"type\":\"page\",\"version\":1,\"params\":{\"n\":0},\"member\":\"left\",\"value\":{\"text\":\"\"}}";
    history = "0";
    new_store();
    outbox_forget();
    test_host_open(&h, (chordal_host_options){.store = store_path, .store_flags = CHORDAL_STORE_OUTBOX});
    CHECK_INT(chordal_store_put(h.host, CHORDAL_FORMAT_JSON, (const uint8_t *)document, strlen(document), NULL), 0);
    CHECK_INT(chordal_store_seal(h.host, NULL), 0);
    expect_all();
    crash(CHORDAL_STORE_OUTBOX);
    memset(known, 0, sizeof known);
    known[0][0] = true, numbered = 0;
    commit_page(0, 1, false, false);
    take_turn();
    expect_all();
    test_host_close(&h);
}

TEST(a_copy_has_it) {
    char path[128];
    chordal_id ticket;
    begin("0");
    for (int i = 0; i < 7; i++) commit_page(i % PAGES, 3, false, false);
    take_turn();
    snprintf(path, sizeof path, "%s/copy.db", store_folder);
    CHECK_INT(chordal_store_backup(h.host, path, strlen(path), &ticket, NULL), 0);
    test_poll(&h);
    CHECK_INT(ticket_code(&h, ticket), 7);
    outbox_expect_beside(path, "the copy");
    test_host_close(&h);
    unlink(path);
}

/* Rows that are missing for another reason are not made up without end. */
TEST(farther_behind_than_can_be) {
    chordal_value *value = NULL;
    uint64_t next;
    begin("\"all\"");
    for (int i = 0; i < 2 * BOUND; i++) commit_page(0, 1, false, false);
    take_turn();
    test_host_close(&h);
    store_execute("DELETE FROM chordal_outbox; UPDATE chordal_runs SET last = NULL");
    CHECK_INT(open_code((chordal_host_options){.store = store_path}, NULL), CHORDAL_E_CORRUPT);
    open_pages(CHORDAL_STORE_READ_ONLY);
    CHECK_INT(chordal_store_outbox(h.host, 0, 0, &value, &next, NULL), CHORDAL_E_CORRUPT);
    test_host_close(&h);
}

/* ---- anything, in any order ---- */

static unsigned seed;

static int any(int below) {
    return rand_r(&seed) / 7 % below;
}

static void retire(int page) {
    CHECK_INT(chordal_object_retire(h.host, page_of(page), NULL), 0);
    test_poll(&h);
    known[page][0] = known[page][1] = false;
}

static void act(int what) {
    uint32_t dropped = 0;
    uint64_t upto = newest ? (uint64_t)any((int)newest + 3) : 0;
    int page = any(PAGES), count = any(8) ? 1 : any(BOUND) + 1;
    if (what < 40)
        for (int i = 0; i < count; i++) commit_page(any(PAGES), 1 + (uint32_t)any(3), any(8) == 0, any(4) == 0);
    else if (what < 43)
        retire(page);
    else if (what < 46 && chordal_store_trim(h.host, upto, &dropped, NULL) == 0)
        CHECK_INT(dropped, outbox_trim(upto));
    else if (what < 49)
        crash(CHORDAL_STORE_OUTBOX);
    else if (what < 51)
        test_host_close(&h), open_pages(CHORDAL_STORE_OUTBOX);
    take_turn();
}

TEST(anything_in_any_order) {
    static const char *const kept[] = {"0", "2", "\"all\""};
    for (unsigned round = 0; round < 3 * (getenv("CHORDAL_TEST_DEEP") ? 20 : 1) && check_failures == 0; round++) {
        seed = round + 1;
        begin(kept[round % 3]);
        for (int i = 0; i < 120 && check_failures == 0; i++) {
            act(any(51));
            outbox_expect(h.host, "the owner");
            if (i % 4 == 0) expect_all();
        }
        if (check_failures) fprintf(stderr, "round %u\n", round);
        test_host_close(&h);
        outbox_expect_beside(store_path, "after the end");
    }
}

TEST(done) {
    remove_store();
}

TESTS({"a_commit_takes_four_statements", a_commit_takes_four_statements},
      {"many_bytes_do_not_wait", many_bytes_do_not_wait}, {"many_commits_of_one_step", many_commits_of_one_step},
      {"rows_of_tables_are_written_at_once", rows_of_tables_are_written_at_once},
      {"revisions_that_go", revisions_that_go}, {"what_was_trimmed_stays_away", what_was_trimmed_stays_away},
      {"after_a_crash", after_a_crash}, {"a_clean_end_leaves_nothing_to_do", a_clean_end_leaves_nothing_to_do},
      {"what_was_filled_in", what_was_filled_in}, {"a_copy_has_it", a_copy_has_it},
      {"farther_behind_than_can_be", farther_behind_than_can_be}, {"anything_in_any_order", anything_in_any_order},
      {"done", done})
