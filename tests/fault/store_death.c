/* store_death.c: a process with a store dies at each call of its file system: all of a commit is there or nothing, and
 * what was told, as far as the durability promises. */
#define OUTBOX_ROWS 16
#define OUTBOX_WRITES 301 /* a life with its rows */
#include "../outbox.h"
#include "mortal.h"

enum { COMMITS = 11, LIFE = 8 }; /* LIFE: the number of the commit of a life that ends */

/* Documents with history that is compacted, a table, an outbox that is trimmed, a life that ends. */
#define TYPE                                                                                                           \
    "{\"name\":\"pair\",\"keep\":true,\"deltas\":2,\"members\":[{\"name\":\"left\",\"kind\":\"document\","             \
    "\"initial\":{\"list\":[]}},{\"name\":\"right\",\"kind\":\"document\",\"initial\":0},"                             \
    "{\"name\":\"rows\",\"kind\":\"table\",\"key\":[\"id\"],\"columns\":{\"id\":\"integer\",\"text\":\"text\"}}]}"
#define OTHER                                                                                                          \
    "{\"name\":\"other\",\"members\":[{\"name\":\"title\",\"kind\":\"document\",\"initial\":\"\"},"                    \
    "{\"name\":\"rows\",\"kind\":\"table\",\"key\":[\"id\"],\"columns\":{\"id\":\"integer\"}}]}"
enum { OTHER_ROWS = 300 }; /* more than go in a turn when their object ends */

static test_host h;
static uint32_t durability;

/* Each host has a run of its own, in whatever process. */
static int open_host(const char *vfs, chordal_error *error) {
    chordal_host_options options = {.size = sizeof options,
                                    .store = store_path,
                                    .store_vfs = vfs,
                                    .store_flags = CHORDAL_STORE_OUTBOX,
                                    .store_durability = durability};
    memset(&h, 0, sizeof h);
    int code = chordal_host_open(&options, &h.host, error);
    if (code == 0) h.events = calloc(HOST_EVENTS, sizeof *h.events);
    return code;
}

static chordal_id open_pair(const char *vfs) {
    chordal_error error = {0};
    if (open_host(vfs, &error)) {
        fprintf(stderr, "open: %s\n", error.detail);
        exit(1);
    }
    provide(&h, TYPE);
    provide(&h, OTHER);
    return object_in(&h, "pair", "{}");
}

static bool has_row(int number) {
    return number % 4 == 0;
}

/* Commit `number` is that number in the list, in the other document, and of some in a row. */
static void commit_all(chordal_id object, int number) {
    char json[64];
    chordal_transaction *t = draft_on(&h);
    snprintf(json, sizeof json, "%d", number);
    CHECK_INT(chordal_transaction_set_json(t, object, 0, "/list/-", json, NULL), 0);
    CHECK_INT(chordal_transaction_set_json(t, object, 1, "", json, NULL), 0);
    snprintf(json, sizeof json, "{\"id\":%d,\"text\":\"row %d\"}", number, number);
    if (has_row(number)) put(t, object, 2, json);
    notes->submitted = number;
    commit(t);
}

static void take_turn(void) {
    forget_events(&h);
    test_poll(&h);
    for (size_t i = 0; i < h.len; i++)
        if (h.events[i].kind == CHORDAL_EVENT_TICKET && h.events[i].as.ticket.code == 0) notes->told++;
}

/* An object with rows lives and ends; its rows go in the turns that follow. */
static void live_and_end(void) {
    char json[24];
    chordal_id other = object_in(&h, "other", "{}");
    chordal_transaction *t = draft_on(&h);
    CHECK_INT(chordal_transaction_set_json(t, other, 0, "", "\"life\"", NULL), 0);
    for (int i = 0; i < OTHER_ROWS; i++) {
        snprintf(json, sizeof json, "{\"id\":%d}", i);
        put(t, other, 1, json);
    }
    commit(t);
    test_poll(&h);
    CHECK_INT(chordal_object_retire(h.host, other, NULL), 0);
    test_poll(&h);
}

static void work(void) {
    uint32_t dropped;
    chordal_id object = open_pair(MORTAL_NAME);
    for (int number = 1; number <= COMMITS; number++) {
        commit_all(object, number);
        if (number % 3 == 0) continue; /* two in a step */
        take_turn();
        if (number % 5 == 0) chordal_store_trim(h.host, (uint64_t)number - 2, &dropped, NULL);
        if (number == 7) live_and_end();
    }
    take_turn();
    test_host_close(&h);
}

/* The number of the last commit that is there, whole; -1: there is no such state. */
static int64_t state_of(chordal_id object) {
    char expected[256] = "{\"list\":[", key[16], row[64];
    int64_t last = strtoll(head_of(&h, object, 1), NULL, 10);
    for (int64_t i = 1; i <= last; i++)
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%s%d", i > 1 ? "," : "", (int)i);
    strcat(expected, "]}");
    CHECK_TEXT(head_of(&h, object, 0), expected);
    for (int i = 1; i <= COMMITS; i++) {
        snprintf(key, sizeof key, "%d", i);
        snprintf(row, sizeof row, "{\"id\":%d,\"text\":\"row %d\"}", i, i);
        CHECK_TEXT(row_of(&h, object, 2, key), i <= last && has_row(i) ? row : "not_found");
    }
    return last;
}

static void expect_no_damage(void) {
    chordal_value *value;
    uint64_t next = 0;
    do {
        CHECK_INT(chordal_store_check(h.host, next, 0, &value, &next, NULL), 0);
        CHECK_TEXT(json_of(value), "[]");
    } while (next);
}

/* The other object is there with all its rows, or gone with all of them when the host had the turns for it. */
static void expect_swept(void) {
    for (int i = 0; i < 20 && chordal_host_deadline(h.host) == 0; i++) test_poll(&h);
    int64_t lives = store_number("SELECT count(*) FROM chordal_owners WHERE type = CAST('other' AS BLOB)");
    CHECK_INT(store_number("SELECT count(*) FROM chordal_table_2"), lives ? OTHER_ROWS : 0);
    CHECK_INT(store_number("SELECT count(*) FROM chordal_owners WHERE type NOT IN (CAST('other' AS BLOB), "
                           "CAST('pair' AS BLOB))"),
              0);
}

/* ---- the outbox ---- */

static void model_commit(int number, uint64_t commit) {
    char change[64];
    outbox_row *row = outbox_begin(commit);
    snprintf(change, sizeof change, number == 1 ? "\"value\":{\"list\":[1]}" : "\"ops\":[\"p\",[0,\"list\"],%d,0,[%d]]",
             number - 1, number);
    outbox_write(row, "pair", "{}", "left", change);
    snprintf(change, sizeof change, "\"value\":%d", number);
    outbox_write(row, "pair", "{}", "right", change);
    snprintf(change, sizeof change, "\"put\":{\"id\":%d,\"text\":\"row %d\"}", number, number);
    if (has_row(number)) outbox_write(row, "pair", "{}", "rows", change);
}

static void model_life(void) {
    char change[32];
    outbox_row *row = outbox_begin(LIFE);
    outbox_write(row, "other", "{}", "title", "\"value\":\"life\"");
    for (int i = 0; i < OTHER_ROWS; i++) {
        snprintf(change, sizeof change, "\"put\":{\"id\":%d}", i);
        outbox_write(row, "other", "{}", "rows", change);
    }
}

static bool life_is_there(void) {
    chordal_value *value;
    uint64_t next;
    CHECK_INT(chordal_store_documents(h.host, 0, 0, &value, &next, NULL), 0);
    return strstr(json_of(value), "\"other\"") != NULL;
}

/* Of what was there, trimming may have taken the first commits, when it had come so far. */
static void model_trimmed(int last) {
    static const int first[] = {0, 3, LIFE};
    char head[32];
    chordal_value *value;
    uint64_t next;
    CHECK_INT(chordal_store_outbox(h.host, 0, 1, &value, &next, NULL), 0);
    const char *text = json_of(value);
    for (int i = 0; i < 3 && i <= last / 5; i++) {
        snprintf(head, sizeof head, "[{\"commit\":%d,", first[i] + 1);
        if (strncmp(text, head, strlen(head)) == 0) outbox.first = (size_t)first[i];
    }
}

static void model_of(int last) {
    outbox_forget();
    for (int number = 1; number <= last; number++) {
        if (number == LIFE) model_life();
        model_commit(number, (uint64_t)(number < LIFE ? number : number + 1));
    }
    if (last == LIFE - 1 && life_is_there()) model_life();
    model_trimmed(last);
}

/* All of it as a reader finds it that comes before the next owner; NULL: there is no store yet. */
static char *read_beside(void) {
    chordal_value *value;
    uint64_t next;
    chordal_host *host;
    chordal_host_options options = {
        .size = sizeof options, .store = store_path, .store_flags = CHORDAL_STORE_READ_ONLY};
    int code = chordal_host_open(&options, &host, NULL);
    if (code) CHECK(code == CHORDAL_E_NOT_FOUND || code == CHORDAL_E_NOT_STORE);
    if (code) return NULL;
    CHECK_INT(chordal_store_outbox(host, 0, 0, &value, &next, NULL), 0);
    char *text = strdup(json_of(value));
    chordal_host_forget(host);
    return text;
}

static void look_at_outbox(char *before, int last) {
    chordal_value *value;
    uint64_t next;
    model_of(last);
    outbox_expect(h.host, "the next owner");
    CHECK_INT(chordal_store_outbox(h.host, 0, 0, &value, &next, NULL), 0);
    const char *text = json_of(value);
    if (before) CHECK_TEXT(text, before);
    free(before);
}

/* What is left is a state that was, and it goes on. */
static void look(int64_t at, bool keeps) {
    uint32_t level = durability;
    char *before = read_beside();
    durability = CHORDAL_DURABILITY_OFF; /* nothing more is lost */
    chordal_id object = open_pair(NULL);
    durability = level;
    int64_t last = state_of(object);
    if (last > notes->submitted || (keeps && last < notes->told))
        CHECK_FAIL("call %d: %d of %d told and %d submitted", (int)at, (int)last, (int)notes->told,
                   (int)notes->submitted);
    expect_no_damage();
    look_at_outbox(before, (int)last);
    commit_all(object, (int)last + 1);
    test_poll(&h);
    host_event *told = last_event(&h, CHORDAL_EVENT_TICKET);
    if (told->as.ticket.code) CHECK_FAIL("call %d: afterwards %d %s", (int)at, told->as.ticket.code, told->text);
    CHECK(told->as.ticket.commit > (uint64_t)last);
    CHECK_INT(state_of(object), last + 1);
    model_commit((int)last + 1, told->as.ticket.commit);
    outbox_expect(h.host, "its owner");
    expect_swept();
    test_host_close(&h);
    outbox_expect_beside(store_path, "after the end");
}

/* Each call, or each `stride`-th: all of them in the deep tier. */
static void sweep(uint32_t level, int death, bool keeps, int64_t stride) {
    int64_t at = 0;
    if (getenv("CHORDAL_TEST_DEEP")) stride = 1;
    mortal_register();
    durability = level;
    for (bool died = true; died && check_failures == 0; at += stride) {
        new_store();
        died = mortal_run(work, at, death);
        if (!died) CHECK(notes->finished);
        look(at, keeps);
    }
    CHECK(at > 100);
}

TEST(killed) {
    sweep(CHORDAL_DURABILITY_NORMAL, DEATH_KILLED, true, 1);
}

/* Trimming nothing writes what waits: here the rows that were found in the revisions. */
static void work_again(void) {
    uint32_t dropped;
    open_pair(MORTAL_NAME);
    CHECK_INT(chordal_store_trim(h.host, 0, &dropped, NULL), 0);
    test_host_close(&h);
}

TEST(killed_again_and_again) {
    mortal_register();
    durability = CHORDAL_DURABILITY_NORMAL;
    for (int64_t at = 100; check_failures == 0; at += getenv("CHORDAL_TEST_DEEP") ? 1 : 17) {
        new_store();
        if (!mortal_run(work, at, DEATH_KILLED)) break;
        mortal_notes first = *notes;
        for (int64_t again = 0; mortal_run(work_again, again, DEATH_KILLED); again++) {
        }
        *notes = first;
        look(at, true);
    }
}

TEST(killed_without_syncs) {
    sweep(CHORDAL_DURABILITY_OFF, DEATH_KILLED, true, 4);
}
TEST(a_power_cut_at_full) {
    sweep(CHORDAL_DURABILITY_FULL, DEATH_ALL_LOST, true, 3);
    sweep(CHORDAL_DURABILITY_FULL, DEATH_SOME_LOST, true, 3);
}
TEST(a_power_cut_at_normal) {
    sweep(CHORDAL_DURABILITY_NORMAL, DEATH_ALL_LOST, false, 3);
    sweep(CHORDAL_DURABILITY_NORMAL, DEATH_SOME_LOST, false, 3);
}

/* Nothing is sure then, but that it is told. */
TEST(a_power_cut_without_syncs) {
    mortal_register();
    durability = CHORDAL_DURABILITY_OFF;
    for (int64_t at = 0;; at += 3) {
        chordal_error error = {0};
        new_store();
        if (!mortal_run(work, at, DEATH_SOME_LOST)) break;
        int code =
            open_code((chordal_host_options){.store = store_path, .store_flags = CHORDAL_STORE_READ_ONLY}, &error);
        if (code && code != CHORDAL_E_CORRUPT && code != CHORDAL_E_NOT_STORE && code != CHORDAL_E_NOT_FOUND &&
            code != CHORDAL_E_DISK_IO)
            CHECK_FAIL("call %d: %d %s", (int)at, code, error.detail);
    }
}

/* ---- several processes want the file, and die with it ---- */

enum { FIGHTERS = 3, WON = 60 };

/* As its owner: some commits, then the end, one way or another. */
static void own_for_a_while(unsigned *seed) {
    chordal_id object = object_in(&h, "pair", "{}");
    int count = 1 + rand_r(seed) % 4;
    for (int i = 0; i < count; i++) {
        char json[24];
        snprintf(json, sizeof json, "%ld", strtol(head_of(&h, object, 1), NULL, 10) + 1);
        __atomic_fetch_add(&notes->submitted, 1, __ATOMIC_SEQ_CST);
        chordal_id ticket = set_json(&h, object, 1, "", json);
        test_poll(&h);
        if (ticket_code(&h, ticket) <= 0) _exit(1);
        __atomic_fetch_add(&notes->told, 1, __ATOMIC_SEQ_CST);
    }
    if (rand_r(seed) % 3 == 0) raise(SIGKILL);
    test_host_close(&h);
}

static void fight(unsigned seed) {
    while (__atomic_load_n(&notes->told, __ATOMIC_SEQ_CST) < WON) {
        int code = open_host(NULL, NULL);
        if (code && code != CHORDAL_E_OWNED) _exit(2);
        if (code) {
            usleep(200);
            continue;
        }
        provide(&h, TYPE);
        own_for_a_while(&seed);
    }
    _exit(0);
}

TEST(processes_fight_for_the_file) {
    unsigned seed = 1;
    int status = 0, running = 0;
    mortal_register();
    new_store();
    *notes = (mortal_notes){0};
    durability = CHORDAL_DURABILITY_NORMAL;
    for (;;) {
        bool goes_on = notes->told < WON;
        for (; goes_on && running < FIGHTERS; running++) {
            seed++;
            if (fork() == 0) fight(seed);
        }
        if (!running) break;
        CHECK(wait(&status) > 0);
        running--;
        if (WIFEXITED(status)) CHECK_INT(WEXITSTATUS(status), 0);
    }
    open_pair(NULL);
    chordal_id object = object_in(&h, "pair", "{}");
    int64_t last = strtoll(head_of(&h, object, 1), NULL, 10);
    CHECK(last >= notes->told && last <= notes->submitted);
    expect_no_damage();
    test_host_close(&h);
}

/* ---- each page of the file, damaged ---- */

static bool is_told(int code) {
    return code == 0 || code == CHORDAL_E_CORRUPT || code == CHORDAL_E_NOT_STORE || code == CHORDAL_E_NEWER ||
           code == CHORDAL_E_DISK_IO || code == CHORDAL_E_TYPE_VERSION || code == CHORDAL_E_INVALID ||
           code == CHORDAL_E_NOMEM || code == CHORDAL_E_SIZE || code == CHORDAL_E_CONFLICT;
}

static void damage_page(int64_t page, int way) {
    uint8_t bytes[4096];
    FILE *file = fopen(store_path, "r+b");
    fseek(file, (long)(page * 4096), SEEK_SET);
    CHECK_INT(fread(bytes, 1, sizeof bytes, file), sizeof bytes);
    for (size_t i = way ? 100 : 0; i < sizeof bytes; i += way ? 97 : 1)
        bytes[i] = (uint8_t)(bytes[i] ^ (way ? 0x21 : 0xa5));
    fseek(file, (long)(page * 4096), SEEK_SET);
    fwrite(bytes, 1, sizeof bytes, file);
    fclose(file);
}

static void use_damaged(void) {
    chordal_id type, object = 0;
    chordal_value *value = NULL;
    uint64_t next = 0;
    int code = open_host(NULL, NULL);
    if (!is_told(code)) CHECK_FAIL("open: %d", code);
    if (code) return;
    do {
        code = chordal_store_check(h.host, next, 0, &value, &next, NULL);
        if (!is_told(code)) CHECK_FAIL("check: %d", code);
        chordal_value_unref(value);
        value = NULL;
    } while (code == 0 && next);
    code = chordal_type_provide(h.host, (const uint8_t *)TYPE, strlen(TYPE), &type, NULL);
    if (!is_told(code)) CHECK_FAIL("provide: %d", code);
    if (code == 0)
        code = chordal_object_get(h.host, "pair", 4, CHORDAL_FORMAT_JSON, (const uint8_t *)"{}", 2, &object, NULL);
    if (!is_told(code)) CHECK_FAIL("object: %d", code);
    if (code == 0) {
        set_json(&h, object, 1, "", "1000");
        test_poll(&h);
        if (!is_told(last_event(&h, CHORDAL_EVENT_TICKET)->as.ticket.code)) CHECK_FAIL("commit");
    }
    test_host_close(&h);
}

TEST(damaged_pages) {
    durability = CHORDAL_DURABILITY_OFF;
    for (int64_t page = 0, pages = 1; page < pages; page++) {
        for (int way = 0; way < 2; way++) {
            new_store();
            chordal_id object = open_pair(NULL);
            for (int number = 1; number <= COMMITS; number++) {
                commit_all(object, number);
                test_poll(&h);
            }
            test_host_close(&h);
            pages = store_number("PRAGMA page_count");
            damage_page(page, way);
            use_damaged();
        }
    }
}

TEST(done) {
    remove_store();
}

TESTS({"killed", killed}, {"killed again and again", killed_again_and_again},
      {"killed without syncs", killed_without_syncs}, {"a power cut at full", a_power_cut_at_full},
      {"a power cut at normal", a_power_cut_at_normal}, {"a power cut without syncs", a_power_cut_without_syncs},
      {"processes fight for the file", processes_fight_for_the_file}, {"damaged pages", damaged_pages}, {"done", done})
