/* Text that is put behind a text where it lies: nobody sees it before its commit, and who looked keeps what he saw. */
#include "hosts.h"

#define DERIVED                                                                                                        \
    "{\"name\":\"derived\",\"members\":[{\"name\":\"doc\",\"kind\":\"document\",\"initial\":{\"text\":\"\"}},"         \
    "{\"name\":\"length\",\"kind\":\"derive\",\"from\":[\"doc\"]}]}"

#define WARM "0123456789012345678901234567890123456789"

static test_host h;
static chordal_id reference, object;

static void open_type(const char *type, const char *name, const char *params) {
    test_host_open(&h, (chordal_host_options){0});
    provide(&h, type);
    reference = get(&h, name, params);
    test_poll(&h);
    CHECK(last_event(&h, CHORDAL_EVENT_OBJECT));
    object = last_event(&h, CHORDAL_EVENT_OBJECT)->as.object.object;
}

/* A text that was put behind once: it has room, and nobody else has anything on the way to it. */
static void open_warm(void) {
    open_type(NOTES, "notes", NOTES_PARAMS);
    append_text(&h, object, NOTES_LIST, "/text", WARM);
    append_text(&h, object, NOTES_LIST, "/text", "+");
    test_poll(&h);
}

static void close_all(void) {
    chordal_release(h.host, reference);
    test_poll(&h);
    test_host_close(&h);
}

static const char *text(void) {
    return head_of(&h, object, NOTES_LIST);
}

#define BEGINS "{\"entries\":[],\"text\":\"" WARM "+"
#define HAS(words) CHECK_TEXT(text(), BEGINS words "\"}")

static chordal_transaction *begin_append(const char *words) {
    chordal_transaction *transaction;
    CHECK_INT(chordal_transaction_begin(h.host, 0, &transaction, NULL), 0);
    CHECK_INT(chordal_transaction_append(transaction, object, NOTES_LIST, "/text", words, strlen(words), NULL), 0);
    return transaction;
}

static int commit(chordal_transaction *transaction) {
    chordal_id ticket;
    return chordal_transaction_commit(transaction, &ticket, NULL);
}

static uint64_t allocations_of_append(void) {
    uint64_t before = test_counters(&h).allocations;
    append_text(&h, object, NOTES_LIST, "/text", "x");
    return test_counters(&h).allocations - before;
}

TEST(it_copies_nothing) {
    open_warm();
    uint64_t alone = allocations_of_append();
    chordal_value *held;
    CHECK_INT(chordal_object_value(h.host, object, NOTES_LIST, &held, NULL), 0);
    uint64_t copying = allocations_of_append();
    CHECK(alone + 2 <= copying); /* the object and its text */
    CHECK_TEXT(json_of(held), "{\"entries\":[],\"text\":\"" WARM "+x\"}");
    HAS("xx");
    close_all();
}

TEST(an_abort_leaves_no_trace) {
    open_warm();
    chordal_transaction *transaction = begin_append("gone");
    HAS("");
    chordal_transaction_abort(transaction);
    HAS("");
    transaction = begin_append("gone");
    chordal_value *inside;
    CHECK_INT(chordal_transaction_value(transaction, object, NOTES_LIST, "/text", &inside, NULL), 0);
    CHECK_TEXT(json_of(inside), "\"" WARM "+gone\"");
    HAS("");
    chordal_transaction_abort(transaction);
    HAS("");
    append_text(&h, object, NOTES_LIST, "/text", "kept");
    HAS("kept");
    close_all();
}

TEST(more_than_one_op) {
    open_warm();
    chordal_transaction *transaction = begin_append("a");
    CHECK_INT(chordal_transaction_append(transaction, object, NOTES_LIST, "/text", "b", 1, NULL), 0);
    CHECK_INT(chordal_transaction_append(transaction, object, NOTES_LIST, "/entries", "b", 1, NULL), CHORDAL_E_TYPE);
    CHECK_INT(chordal_transaction_append(transaction, object, NOTES_LIST, "/no", "b", 1, NULL), CHORDAL_E_PATH);
    CHECK_INT(chordal_transaction_truncate(transaction, object, NOTES_LIST, "/text", 1, NULL), 0);
    HAS("");
    CHECK_INT(commit(transaction), 0);
    CHECK_TEXT(text(), "{\"entries\":[],\"text\":\"123456789012345678901234567890123456789+ab\"}");
    close_all();
}

TEST(of_two_one_wins) {
    open_warm();
    chordal_transaction *one = begin_append("one"), *other = begin_append("other");
    CHECK_INT(commit(one), 0);
    HAS("one");
    CHECK_INT(commit(other), CHORDAL_E_CONFLICT);
    HAS("one");
    test_poll(&h);
    close_all();
}

TEST(a_commit_that_fails_leaves_no_trace) {
    open_warm();
    chordal_id asked = call(&h, reference, "add", "[]");
    test_poll(&h);
    chordal_id served = last_event(&h, CHORDAL_EVENT_CALL)->as.call.call;
    chordal_transaction *transaction;
    CHECK_INT(chordal_transaction_begin(h.host, served, &transaction, NULL), 0);
    CHECK_INT(chordal_transaction_append(transaction, object, NOTES_LIST, "/text", "late", 4, NULL), 0);
    CHECK_INT(answer(&h, served, "1"), 0);
    CHECK_INT(commit(transaction), CHORDAL_E_CLOSED);
    HAS("");
    test_poll(&h);
    chordal_release(h.host, asked);
    close_all();
}

TEST(one_value_at_two_places) {
    chordal_value *shared;
    chordal_transaction *transaction;
    open_warm();
    CHECK_INT(chordal_object_value(h.host, object, NOTES_LIST, &shared, NULL), 0);
    CHECK_INT(chordal_transaction_begin(h.host, 0, &transaction, NULL), 0);
    CHECK_INT(chordal_transaction_set(transaction, object, NOTES_LIST, "/copy", shared, NULL), 0);
    CHECK_INT(chordal_transaction_set(transaction, object, NOTES_TITLE, "", shared, NULL), 0);
    CHECK_INT(commit(transaction), 0);
    chordal_value_unref(shared);
    for (int i = 0; i < 3; i++) append_text(&h, object, NOTES_LIST, "/text", "x");
    for (int i = 0; i < 3; i++) append_text(&h, object, NOTES_LIST, "/copy/text", "y");
    CHECK_TEXT(text(), BEGINS "xxx\",\"copy\":{\"entries\":[],\"text\":\"" WARM "+yyy\"}}");
    CHECK_TEXT(head_of(&h, object, NOTES_TITLE), "{\"entries\":[],\"text\":\"" WARM "+\"}");
    test_poll(&h);
    close_all();
}

/* A commit that waits for another one's derive is not seen before its turn. */
TEST(while_a_batch_settles) {
    open_type(DERIVED, "derived", "{}");
    const char *texts[] = {"{\"text\":\"" WARM "\"}", "{\"text\":\"" WARM "+\"}", "{\"text\":\"" WARM "+a\"}",
                           "{\"text\":\"" WARM "+ab\"}"};
    CHECK_INT(chordal_compute_answer(h.host, last_event(&h, CHORDAL_EVENT_COMPUTE)->as.compute.compute,
                                     CHORDAL_FORMAT_JSON, (const uint8_t *)"0", 1, NULL),
              0);
    test_poll(&h);
    append_text(&h, object, 0, "/text", WARM);
    append_text(&h, object, 0, "/text", "+");
    append_text(&h, object, 0, "/text", "a");
    append_text(&h, object, 0, "/text", "b");
    for (int i = 0; i < 4; i++) {
        test_poll(&h);
        CHECK_TEXT(head_of(&h, object, 0), texts[i]);
        chordal_id compute = last_event(&h, CHORDAL_EVENT_COMPUTE)->as.compute.compute;
        char json[] = {(char)('1' + i), 0};
        CHECK_INT(chordal_compute_answer(h.host, compute, CHORDAL_FORMAT_JSON, (const uint8_t *)json, 1, NULL), 0);
    }
    test_poll(&h);
    close_all();
}

/* Between an op and its commit somebody comes to hold what is on the way to its place, but not the document. */
TEST(held_on_the_way) {
    static const char *const paths[] = {"/text", "/in", "/in/it"};
    for (int i = 0; i < 3; i++) {
        chordal_transaction *one, *other;
        chordal_value *held;
        open_warm();
        set_json(&h, object, NOTES_LIST, "", "{\"text\":\"0123456789a\",\"in\":{\"it\":\"0123456789a\"}}");
        const char *place = i ? "/in/it" : "/text";
        append_text(&h, object, NOTES_LIST, place, "b");
        append_text(&h, object, NOTES_LIST, place, "c");
        test_poll(&h);
        CHECK_INT(chordal_transaction_begin(h.host, 0, &one, NULL), 0);
        CHECK_INT(chordal_transaction_append(one, object, NOTES_LIST, place, "d", 1, NULL), 0);
        CHECK_INT(chordal_transaction_begin(h.host, 0, &other, NULL), 0);
        CHECK_INT(chordal_transaction_value(other, object, NOTES_LIST, paths[i], &held, NULL), 0);
        chordal_transaction_abort(other);
        CHECK_INT(commit(one), 0);
        CHECK_TEXT(text(), i ? "{\"text\":\"0123456789a\",\"in\":{\"it\":\"0123456789abcd\"}}"
                             : "{\"text\":\"0123456789abcd\",\"in\":{\"it\":\"0123456789a\"}}");
        CHECK_TEXT(json_of(held), i == 1 ? "{\"it\":\"0123456789abc\"}" : "\"0123456789abc\"");
        test_poll(&h);
        close_all();
    }
}

/* Who holds the document at one time, and not at another, between an op and its commit. */
TEST(held_for_a_while) {
    chordal_value *held;
    open_warm();
    CHECK_INT(chordal_object_value(h.host, object, NOTES_LIST, &held, NULL), 0);
    chordal_transaction *transaction = begin_append("x");
    chordal_value_unref(held);
    CHECK_INT(commit(transaction), 0);
    HAS("x");
    transaction = begin_append("y");
    CHECK_INT(chordal_object_value(h.host, object, NOTES_LIST, &held, NULL), 0);
    CHECK_INT(commit(transaction), 0);
    HAS("xy");
    CHECK_TEXT(json_of(held), BEGINS "x\"}");
    test_poll(&h);
    close_all();
}

/* More documents than lie in a transaction, and in one object's change, themselves. */
TEST(several_documents) {
    chordal_transaction *transaction;
    open_warm();
    set_json(&h, object, NOTES_TITLE, "", "\"title\"");
    test_poll(&h);
    for (int i = 0; i < 3; i++) {
        transaction = begin_append("a");
        CHECK_INT(chordal_transaction_append(transaction, object, NOTES_TITLE, "", "b", 1, NULL), 0);
        if (i == 1) {
            chordal_transaction_abort(transaction);
            continue;
        }
        CHECK_INT(chordal_transaction_append(transaction, object, NOTES_LIST, "/text", "c", 1, NULL), 0);
        CHECK_INT(commit(transaction), 0);
    }
    HAS("acac");
    CHECK_TEXT(head_of(&h, object, NOTES_TITLE), "\"titlebb\"");
    test_poll(&h);
    close_all();
}

/* The same pointer where it leads another way by now. */
TEST(where_a_pointer_leads) {
    open_warm();
    set_json(&h, object, NOTES_LIST, "", "{\"p\":[\"a\"]}");
    for (int i = 0; i < 3; i++) append_text(&h, object, NOTES_LIST, "/p/0", "x");
    CHECK_TEXT(text(), "{\"p\":[\"axxx\"]}");
    set_json(&h, object, NOTES_LIST, "", "{\"p\":{\"0\":\"b\"}}");
    for (int i = 0; i < 3; i++) append_text(&h, object, NOTES_LIST, "/p/0", "y");
    CHECK_TEXT(text(), "{\"p\":{\"0\":\"byyy\"}}");
    chordal_transaction *transaction;
    set_json(&h, object, NOTES_LIST, "", "{\"p\":\"0\"}");
    CHECK_INT(chordal_transaction_begin(h.host, 0, &transaction, NULL), 0);
    CHECK_INT(chordal_transaction_append(transaction, object, NOTES_LIST, "/p/0", "z", 1, NULL), CHORDAL_E_PATH);
    chordal_transaction_abort(transaction);
    CHECK_TEXT(text(), "{\"p\":\"0\"}");
    test_poll(&h);
    close_all();
}

#define SETS_IN(words) "{\"a\":1,\"list\":[" words "]}"
static void check_set(const char *path, const char *json, const char *before, const char *after) {
    chordal_transaction *transaction;
    CHECK_TEXT(text(), before);
    CHECK_INT(chordal_transaction_begin(h.host, 0, &transaction, NULL), 0);
    CHECK_INT(chordal_transaction_set_json(transaction, object, NOTES_LIST, path, json, NULL), 0);
    CHECK_TEXT(text(), before);
    chordal_transaction_abort(transaction);
    CHECK_TEXT(text(), before);
    set_json(&h, object, NOTES_LIST, path, json);
    CHECK_TEXT(text(), after);
    test_poll(&h);
}

TEST(what_is_set) {
    open_warm();
    set_json(&h, object, NOTES_LIST, "", SETS_IN("0,{\"b\":[2]}"));
    check_set("/list/0", "\"x\"", SETS_IN("0,{\"b\":[2]}"), SETS_IN("\"x\",{\"b\":[2]}"));
    check_set("/list/1/b/0", "7", SETS_IN("\"x\",{\"b\":[2]}"), SETS_IN("\"x\",{\"b\":[7]}"));
    check_set("/list/1/b/0", "{\"c\":[]}", SETS_IN("\"x\",{\"b\":[7]}"), SETS_IN("\"x\",{\"b\":[{\"c\":[]}]}"));
    check_set("/list/1/b", "null", SETS_IN("\"x\",{\"b\":[{\"c\":[]}]}"), SETS_IN("\"x\",{\"b\":null}"));
    check_set("/list/1/n", "3", SETS_IN("\"x\",{\"b\":null}"), SETS_IN("\"x\",{\"b\":null,\"n\":3}"));
    check_set("/list/2", "4", SETS_IN("\"x\",{\"b\":null,\"n\":3}"), SETS_IN("\"x\",{\"b\":null,\"n\":3},4"));
    uint64_t batches = test_counters(&h).batches;
    check_set("/list/2", "4", SETS_IN("\"x\",{\"b\":null,\"n\":3},4"), SETS_IN("\"x\",{\"b\":null,\"n\":3},4"));
    CHECK_INT(test_counters(&h).batches, batches); /* nothing changed */
    close_all();
}

/* Halves of a character, and beyond what one block holds. */
TEST(odd_texts) {
    static char expected[8192], words[600];
    chordal_transaction *transaction;
    open_warm();
    append_text(&h, object, NOTES_LIST, "/text", "\xed\xa0\xbd");
    append_text(&h, object, NOTES_LIST, "/text", "\xed\xb8\x80");
    HAS("\xf0\x9f\x98\x80");
    size_t len = strlen(text()) - 2;
    memcpy(expected, text(), len);
    memset(words, 'w', sizeof words);
    for (int i = 0; i < 10; i++) {
        CHECK_INT(chordal_transaction_begin(h.host, 0, &transaction, NULL), 0);
        CHECK_INT(chordal_transaction_append(transaction, object, NOTES_LIST, "/text", words, sizeof words, NULL), 0);
        CHECK_INT(commit(transaction), 0);
        memcpy(expected + len, words, sizeof words);
        len += sizeof words;
        memcpy(expected + len, "\"}", 3);
        CHECK_TEXT(text(), expected);
    }
    uint64_t before = test_counters(&h).allocations;
    for (int i = 0; i < 100; i++) {
        append_text(&h, object, NOTES_LIST, "/text", i % 3 ? "y" : "\xc3\xa4");
        len += (size_t)sprintf(expected + len, i % 3 ? "y\"}" : "\xc3\xa4\"}") - 2;
        CHECK_TEXT(text(), expected);
    }
    CHECK(test_counters(&h).allocations - before < 100 * 14); /* in copies of the way it is 16 */
    CHECK_INT(chordal_transaction_begin(h.host, 0, &transaction, NULL), 0);
    CHECK_INT(chordal_transaction_truncate(transaction, object, NOTES_LIST, "/text", 6000, NULL), 0); /* its length */
    CHECK_INT(commit(transaction), 0);
    test_poll(&h);
    close_all();
}

TESTS({"it_copies_nothing", it_copies_nothing}, {"an_abort_leaves_no_trace", an_abort_leaves_no_trace},
      {"more_than_one_op", more_than_one_op}, {"of_two_one_wins", of_two_one_wins},
      {"a_commit_that_fails_leaves_no_trace", a_commit_that_fails_leaves_no_trace},
      {"one_value_at_two_places", one_value_at_two_places}, {"while_a_batch_settles", while_a_batch_settles},
      {"held_on_the_way", held_on_the_way}, {"held_for_a_while", held_for_a_while},
      {"several_documents", several_documents}, {"where_a_pointer_leads", where_a_pointer_leads},
      {"what_is_set", what_is_set}, {"odd_texts", odd_texts})
