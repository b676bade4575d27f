/* store.c: the disk fails at every call in turn, once and for good: all of a commit is there or nothing, what was told
 * is there, the codes are stable, reading goes on, and all is well again when the disk is. */
#include "../outbox.h"
#include "disk.h"

#define ROUNDS 12
#define TYPE                                                                                                           \
    "{\"name\":\"pair\",\"keep\":true,\"deltas\":3,\"members\":[{\"name\":\"left\",\"kind\":\"document\","             \
    "\"initial\":{\"list\":[]}},{\"name\":\"right\",\"kind\":\"document\",\"initial\":0},"                             \
    "{\"name\":\"rows\",\"kind\":\"table\",\"columns\":{\"id\":\"integer\",\"n\":\"integer\"},"                        \
    "\"key\":[\"id\"],\"indexes\":{\"by_n\":[\"n\"]}}]}"

static test_host h;
static bool follows; /* an outbox is kept, and most commits write documents alone, so that their rows wait */

/* Both documents and two rows change in every commit: the list gets the number, the other one is it; row 0 has it, and
 * there is one of its own, but for the one before. */
static void put_rows(chordal_transaction *transaction, chordal_id object, int number) {
    char row[64];
    snprintf(row, sizeof row, "{\"id\":0,\"n\":%d}", number);
    put(transaction, object, 2, row);
    snprintf(row, sizeof row, "{\"id\":%d,\"n\":%d}", number, number);
    put(transaction, object, 2, row);
    snprintf(row, sizeof row, "%d", number - 1);
    if (number > 1 && !follows) take_out(transaction, object, 2, row);
}

static chordal_id commit_pair(chordal_id object, int number) {
    chordal_transaction *transaction;
    chordal_id ticket = 0;
    char json[16];
    snprintf(json, sizeof json, "%d", number);
    CHECK_INT(chordal_transaction_begin(h.host, 0, &transaction, NULL), 0);
    CHECK_INT(chordal_transaction_set_json(transaction, object, 0, "/list/-", json, NULL), 0);
    CHECK_INT(chordal_transaction_set_json(transaction, object, 1, "", json, NULL), 0);
    if (!follows || number % 5 == 0) put_rows(transaction, object, number);
    CHECK_INT(chordal_transaction_commit(transaction, &ticket, NULL), 0);
    return ticket;
}

static bool is_stable(int code) {
    return code == CHORDAL_E_DISK_IO || code == CHORDAL_E_DISK_FULL || code == CHORDAL_E_OWNED ||
           code == CHORDAL_E_CONFLICT || code == CHORDAL_E_READ_ONLY || code == CHORDAL_E_NOMEM;
}

/* What the documents must be when the last number in is `number`. */
static void expect(chordal_id object, const char *list, int number) {
    char right[16];
    snprintf(right, sizeof right, "%d", number);
    CHECK_TEXT(head_of(&h, object, 0), list);
    CHECK_TEXT(head_of(&h, object, 1), right);
    if (disk.kinds || follows) return; /* rows are in the file alone */
    char row[64];
    snprintf(row, sizeof row, "{\"id\":0,\"n\":%d}", number);
    CHECK_TEXT(row_of(&h, object, 2, "0"), number ? row : "not_found");
    snprintf(row, sizeof row, "{\"id\":%d,\"n\":%d}", number, number);
    if (number) CHECK_TEXT(row_of(&h, object, 2, right), row);
}

typedef struct outcome {
    char list[256]; /* the document, of what was told to be there */
    int last;       /* the number told last */
    int told;
} outcome;

static void note_write(outbox_row *row, const char *member, const char *form, int number, int at) {
    char change[64];
    snprintf(change, sizeof change, form, number, at);
    outbox_write(row, "pair", "{}", member, change);
}

static void note_outbox(const outcome *out, int number, uint64_t commit) {
    outbox_row *row = outbox_begin(commit);
    if (out->told)
        note_write(row, "left", "\"ops\":[\"p\",[0,\"list\"],%2$d,0,[%1$d]]", number, out->told);
    else
        note_write(row, "left", "\"value\":{\"list\":[%d]}", number, 0);
    note_write(row, "right", "\"value\":%d", number, 0);
    if (number % 5) return;
    note_write(row, "rows", "\"put\":{\"id\":0,\"n\":%d}", number, 0);
    note_write(row, "rows", "\"put\":{\"id\":%1$d,\"n\":%1$d}", number, 0);
}

static void note_told(outcome *out, int number, uint64_t commit) {
    char more[16];
    if (follows) note_outbox(out, number, commit);
    snprintf(more, sizeof more, "%s%d", out->told++ ? "," : "", number);
    size_t len = strlen(out->list) - 2;
    snprintf(out->list + len, sizeof out->list - len, "%s]}", more);
    out->last = number;
}

static int opened(chordal_id *object) {
    chordal_host_options options = {
        .store = store_path, .store_vfs = DISK_NAME, .store_flags = follows ? CHORDAL_STORE_OUTBOX : 0};
    chordal_error error = {0};
    options.size = sizeof options;
    memset(&h, 0, sizeof h);
    int code = chordal_host_open(&options, &h.host, &error);
    if (code) return code;
    h.events = calloc(HOST_EVENTS, sizeof *h.events);
    chordal_id type;
    code = chordal_type_provide(h.host, (const uint8_t *)TYPE, strlen(TYPE), &type, &error);
    if (code == 0)
        code = chordal_object_get(h.host, "pair", 4, CHORDAL_FORMAT_JSON, (const uint8_t *)"{}", 2, object, &error);
    if (code) test_host_close(&h);
    return code;
}

/* Commits, some alone and some two in a step, as far as the disk allows. */
static void work(chordal_id object, outcome *out) {
    for (int number = 1; number <= ROUNDS; number++) {
        bool two = number % 4 == 0;
        chordal_id tickets[2] = {commit_pair(object, number), two ? commit_pair(object, 100 + number) : 0};
        forget_events(&h);
        test_poll(&h);
        for (size_t i = 0; i < h.len; i++) {
            const chordal_event_TICKET *ticket = &h.events[i].as.ticket;
            if (h.events[i].kind != CHORDAL_EVENT_TICKET) continue;
            if (ticket->code && !is_stable(ticket->code)) CHECK_FAIL("code %d", ticket->code);
            if (!ticket->code) note_told(out, ticket->ticket == tickets[0] ? number : 100 + number, ticket->commit);
        }
        expect(object, out->list, out->last); /* reading goes on */
    }
}

/* One run with one fault, and the look at what it left. False: the fault did not come. */
static bool run(uint32_t kinds, int64_t at, bool goes_on) {
    outcome out = {.list = "{\"list\":[]}"};
    chordal_id object;
    new_store();
    outbox_forget();
    disk.kinds = kinds, disk.at = at, disk.goes_on = goes_on, disk.calls = disk.failures = 0;
    int code = opened(&object);
    if (code && !is_stable(code) && code != CHORDAL_E_CORRUPT && code != CHORDAL_E_NOT_FOUND)
        CHECK_FAIL("open: %d", code);
    if (code == 0) {
        work(object, &out);
        disk.kinds = 0; /* the disk is well again */
        chordal_id ticket = commit_pair(object, 50);
        forget_events(&h);
        test_poll(&h);
        host_event *told = last_event(&h, CHORDAL_EVENT_TICKET);
        CHECK(told && told->as.ticket.ticket == ticket);
        if (told && told->as.ticket.code == 0) note_told(&out, 50, told->as.ticket.commit);
        if (told && told->as.ticket.code) CHECK_FAIL("well again, but %d %s", told->as.ticket.code, told->text);
        if (follows) outbox_expect(h.host, "well again");
        disk.kinds = kinds; /* closing meets it, too */
        test_host_close(&h);
    }
    bool came = disk.failures != 0;
    disk.kinds = 0;
    if (follows && out.told) outbox_expect_beside(store_path, "after the end");
    CHECK_INT(opened(&object), 0);
    expect(object, out.list, out.last);
    if (follows) outbox_expect(h.host, "opened again");
    test_host_close(&h);
    return came;
}

static void sweep(uint32_t kinds) {
    for (int goes_on = 0; goes_on < 2; goes_on++) {
        int64_t at = 0;
        while (run(kinds, at, goes_on) && check_failures == 0) at++;
        CHECK(at > 0);
    }
}

TEST(reading) {
    sweep(DISK_READ);
}
TEST(writing) {
    sweep(DISK_WRITE);
}
TEST(syncing) {
    sweep(DISK_SYNC);
}
TEST(locking) {
    sweep(DISK_LOCK);
}
TEST(shared_memory) {
    sweep(DISK_SHARED);
}
TEST(opening) {
    sweep(DISK_OPEN);
}
TEST(a_full_disk) {
    sweep(DISK_FULL);
}

/* Rows that wait are lost by no failure, and no row is there twice or too many. */
static void sweep_outbox(uint32_t kinds) {
    follows = true;
    sweep(kinds);
    follows = false;
}

TEST(reading_with_an_outbox) {
    sweep_outbox(DISK_READ);
}
TEST(writing_with_an_outbox) {
    sweep_outbox(DISK_WRITE);
}
TEST(syncing_with_an_outbox) {
    sweep_outbox(DISK_SYNC);
}
TEST(locking_with_an_outbox) {
    sweep_outbox(DISK_LOCK | DISK_SHARED | DISK_OPEN);
}
TEST(a_full_disk_with_an_outbox) {
    sweep_outbox(DISK_FULL);
}

static void start(void) {
    static bool started;
    if (!started) disk_register();
    started = true;
}

TEST(begin) {
    start();
}
TEST(done) {
    if (store_folder[0]) remove_store();
}

TESTS({"begin", begin}, {"reading", reading}, {"writing", writing}, {"syncing", syncing}, {"locking", locking},
      {"shared memory", shared_memory}, {"opening", opening}, {"a full disk", a_full_disk},
      {"reading with an outbox", reading_with_an_outbox}, {"writing with an outbox", writing_with_an_outbox},
      {"syncing with an outbox", syncing_with_an_outbox}, {"locking with an outbox", locking_with_an_outbox},
      {"a full disk with an outbox", a_full_disk_with_an_outbox}, {"done", done})
