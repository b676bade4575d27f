/* store_copy.c: a store is copied while its host goes on: as it was when that was asked for, whole or not at all. */
#include "store.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>

static test_host h;
static char copy_path[128];

enum { LARGE = 300, ITEM = 8000 }; /* some 600 pages: three turns of copying */

static void begin_store(void) {
    new_store();
    snprintf(copy_path, sizeof copy_path, "%s/copy.db", store_folder);
}

static void remove_beside(const char *suffix) {
    char name[160];
    snprintf(name, sizeof name, "%s%s", copy_path, suffix);
    unlink(name);
}

static void end_store(void) {
    remove_beside("");
}

/* How many files the folder has. */
static size_t count_files(void) {
    size_t count = 0;
    struct dirent *entry;
    DIR *folder = opendir(store_folder);
    while ((entry = readdir(folder)) != NULL) count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static chordal_id open_notes(uint32_t flags) {
    chordal_id object = 0;
    test_host_open(&h, (chordal_host_options){.store = store_path, .store_flags = flags});
    provide(&h, NOTES);
    CHECK_INT(chordal_object_get(h.host, "notes", 5, CHORDAL_FORMAT_JSON, (const uint8_t *)NOTES_PARAMS,
                                 strlen(NOTES_PARAMS), &object, NULL),
              0);
    test_poll(&h);
    return object;
}

static void fill(chordal_id object) {
    static char item[ITEM + 3];
    memset(item, 'x', ITEM + 2);
    item[0] = item[ITEM + 1] = '"';
    for (int i = 0; i < LARGE; i++) set_json(&h, object, NOTES_LIST, "/entries/-", item);
    test_poll(&h);
}

static int start_to(const char *path, chordal_id *ticket) {
    chordal_error error = {0};
    int code = chordal_store_backup(h.host, path, strlen(path), ticket, &error);
    if (code) CHECK(error.detail[0]);
    return code;
}

static host_event *wait_for(chordal_id ticket) {
    for (int turns = 0; turns < 100; turns++) {
        test_poll(&h);
        for (size_t i = 0; i < h.len; i++)
            if (h.events[i].kind == CHORDAL_EVENT_TICKET && h.events[i].as.ticket.ticket == ticket) return &h.events[i];
        CHECK_INT(chordal_host_deadline(h.host), 0);
    }
    CHECK_FAIL("no outcome");
    exit(1);
}

/* The copy as a store of its own: whole, with so many entries and this title. */
static void look_at_copy(uint64_t entries, const char *title) {
    chordal_value *value;
    uint64_t commit, next;
    chordal_cursor root, list;
    test_host copy;
    test_host_open(&copy, (chordal_host_options){.store = copy_path, .store_flags = CHORDAL_STORE_READ_ONLY});
    CHECK_INT(chordal_store_check(copy.host, 0, 0, &value, &next, NULL), 0);
    CHECK_TEXT(json_of(value), "[]");
    CHECK_INT(chordal_store_read(copy.host, "notes", 5, CHORDAL_FORMAT_JSON, (const uint8_t *)NOTES_PARAMS,
                                 strlen(NOTES_PARAMS), "list", 4, 0, &value, &commit, NULL),
              0);
    chordal_cursor_root(value, &root);
    CHECK_INT(chordal_cursor_get(&root, "entries", 7, &list), 0);
    CHECK_INT(chordal_cursor_length(&list), entries);
    chordal_value_unref(value);
    int code = chordal_store_read(copy.host, "notes", 5, CHORDAL_FORMAT_JSON, (const uint8_t *)NOTES_PARAMS,
                                  strlen(NOTES_PARAMS), "title", 5, 0, &value, &commit, NULL);
    CHECK_TEXT(code ? chordal_error_name(code) : json_of(value), title);
    test_host_close(&copy);
    remove_beside("-wal");
    remove_beside("-shm");
}

TEST(as_it_was_when_it_was_asked_for) {
    chordal_id ticket;
    begin_store();
    chordal_id object = open_notes(0);
    fill(object);
    set_json(&h, object, NOTES_TITLE, "", "\"before\""); /* not written yet */
    CHECK_INT(start_to(copy_path, &ticket), 0);
    forget_events(&h);
    for (int turn = 0; turn < 2; turn++) {
        set_json(&h, object, NOTES_TITLE, "", turn ? "\"after\"" : "\"meanwhile\"");
        set_json(&h, object, NOTES_LIST, "/entries/-", "1");
        test_poll(&h);
        CHECK_INT(open_code((chordal_host_options){.store = copy_path, .store_flags = CHORDAL_STORE_READ_ONLY}, NULL),
                  CHORDAL_E_NOT_FOUND);
        CHECK_INT(open_code((chordal_host_options){.store = copy_path}, NULL), CHORDAL_E_OWNED);
    }
    host_event *outcome = wait_for(ticket);
    CHECK_INT(outcome->as.ticket.code, 0);
    CHECK_INT(outcome->as.ticket.commit, LARGE + 1);
    CHECK_INT(count_files(), 5); /* the store with its log, index and lock, and the copy */
    look_at_copy(LARGE, "\"before\"");
    test_host_close(&h);
    CHECK_INT(count_files(), 2);
    end_store();
}

/* A copy goes on as another run, from the commit that it has. */
TEST(a_copy_is_a_store) {
    char kept[128];
    chordal_id ticket;
    begin_store();
    chordal_id object = open_notes(0);
    set_json(&h, object, NOTES_TITLE, "", "\"first\"");
    test_poll(&h);
    CHECK_INT(start_to(copy_path, &ticket), 0);
    CHECK_INT(wait_for(ticket)->as.ticket.commit, 1);
    set_json(&h, object, NOTES_TITLE, "", "\"elsewhere\"");
    test_host_close(&h);
    memcpy(kept, store_path, sizeof store_path);
    memcpy(store_path, copy_path, sizeof store_path);
    object = open_notes(0);
    CHECK_TEXT(head_of(&h, object, NOTES_TITLE), "\"first\"");
    set_json(&h, object, NOTES_TITLE, "", "\"second\"");
    test_poll(&h);
    CHECK_INT(last_event(&h, CHORDAL_EVENT_TICKET)->as.ticket.commit, 2);
    test_host_close(&h);
    CHECK_INT(store_number("SELECT count(*) FROM chordal_runs"), 2);
    CHECK_INT(store_number("SELECT first FROM chordal_runs ORDER BY id DESC LIMIT 1"), 2);
    CHECK_INT(store_number("SELECT last IS NULL FROM chordal_runs ORDER BY id LIMIT 1"), 1);
    memcpy(store_path, kept, sizeof store_path);
    end_store();
}

TEST(beside_the_owner) {
    chordal_id ticket;
    test_host owner;
    begin_store();
    chordal_id object = open_notes(0);
    fill(object);
    owner = h;
    open_notes(CHORDAL_STORE_READ_ONLY);
    test_host reader = h;
    CHECK_INT(start_to(copy_path, &ticket), 0);
    for (int i = 0; i < 4; i++) { /* what another process writes does not begin it anew */
        h = owner;
        set_json(&h, object, NOTES_LIST, "/entries/-", "1");
        test_poll(&h);
        owner = h, h = reader;
        if (i < 3) test_poll(&h);
        reader = h;
    }
    CHECK_INT(wait_for(ticket)->as.ticket.commit, LARGE);
    look_at_copy(LARGE, "not_found");
    test_host_close(&h);
    h = owner;
    test_host_close(&h);
    end_store();
}

TEST(what_is_cut_leaves_nothing) {
    chordal_id ticket;
    begin_store();
    fill(open_notes(0));
    CHECK_INT(start_to(copy_path, &ticket), 0);
    test_poll(&h);
    CHECK_INT(count_files(), 7); /* the copy's lock, what it has, and its journal or none */
    test_host_close(&h);
    CHECK_INT(count_files(), 1);
    end_store();
}

/* A process that dies within leaves a file that is no store, and the next copy takes its place. */
TEST(what_is_killed_leaves_no_store) {
    char part[160];
    int status;
    begin_store();
    snprintf(part, sizeof part, "%s-copy", copy_path);
    pid_t child = fork();
    if (child == 0) {
        chordal_id ticket;
        fill(open_notes(0));
        start_to(copy_path, &ticket);
        test_poll(&h);
        raise(SIGKILL);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    CHECK_INT(access(part, F_OK), 0);
    CHECK_INT(open_code((chordal_host_options){.store = part, .store_flags = CHORDAL_STORE_READ_ONLY}, NULL),
              CHORDAL_E_NOT_STORE);
    CHECK_INT(open_code((chordal_host_options){.store = copy_path, .store_flags = CHORDAL_STORE_READ_ONLY}, NULL),
              CHORDAL_E_NOT_FOUND);
    chordal_id ticket;
    open_notes(0);
    CHECK_INT(start_to(copy_path, &ticket), 0);
    CHECK_INT(wait_for(ticket)->as.ticket.code, 0);
    look_at_copy(LARGE, "not_found");
    test_host_close(&h);
    CHECK_INT(count_files(), 2);
    end_store();
}

TEST(where_it_cannot_be) {
    chordal_id ticket, others[4];
    char path[160];
    begin_store();
    fill(open_notes(0));
    CHECK_INT(start_to("", &ticket), CHORDAL_E_INVALID);
    CHECK_INT(chordal_store_backup(h.host, "a\0b", 3, &ticket, NULL), CHORDAL_E_INVALID);
    static const char *const beside[] = {"-copy", "-owner", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) { /* SQLite would remove it, or the next copy */
        char name[160];
        snprintf(name, sizeof name, "%s%s", copy_path, beside[i]);
        CHECK_INT(start_to(name, &ticket), CHORDAL_E_INVALID);
    }
    CHECK_INT(start_to(store_path, &ticket), CHORDAL_E_EXISTS);
    CHECK_INT(start_to(store_folder, &ticket), CHORDAL_E_EXISTS);
    snprintf(path, sizeof path, "%s/none/copy.db", store_folder);
    CHECK_INT(start_to(path, &ticket), CHORDAL_E_NOT_FOUND);
    CHECK_INT(start_to(copy_path, &others[0]), 0);
    CHECK_INT(start_to(copy_path, &ticket), CHORDAL_E_OWNED);
    for (int i = 1; i < 4; i++) {
        snprintf(path, sizeof path, "%s%d", copy_path, i);
        CHECK_INT(start_to(path, &others[i]), 0);
    }
    snprintf(path, sizeof path, "%s5", copy_path);
    CHECK_INT(start_to(path, &ticket), CHORDAL_E_LIMIT);
    for (int i = 0; i < 4; i++) CHECK_INT(wait_for(others[i])->as.ticket.code, 0);
    CHECK_INT(start_to(copy_path, &ticket), CHORDAL_E_EXISTS);
    /* What comes to lie there meanwhile stays. */
    CHECK_INT(start_to(path, &ticket), 0);
    FILE *other = fopen(path, "w");
    fclose(other);
    CHECK_INT(wait_for(ticket)->as.ticket.code, CHORDAL_E_EXISTS);
    CHECK_INT(access(path, F_OK), 0);
    unlink(path);
    test_host_close(&h);
    for (int i = 1; i < 4; i++) {
        snprintf(path, sizeof path, "%s%d", copy_path, i);
        CHECK_INT(unlink(path), 0);
    }
    CHECK_INT(count_files(), 2);
    end_store();
}

TEST(done) {
    remove_store();
}

TESTS({"as_it_was_when_it_was_asked_for", as_it_was_when_it_was_asked_for}, {"a_copy_is_a_store", a_copy_is_a_store},
      {"beside_the_owner", beside_the_owner}, {"what_is_cut_leaves_nothing", what_is_cut_leaves_nothing},
      {"what_is_killed_leaves_no_store", what_is_killed_leaves_no_store}, {"where_it_cannot_be", where_it_cannot_be},
      {"done", done})
