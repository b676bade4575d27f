/* tables.h: rows for tests. */
#ifndef CHORDAL_TESTS_TABLES_H
#define CHORDAL_TESTS_TABLES_H

#include "store.h"

#define ROWS_COLUMNS                                                                                                   \
    "\"columns\":{\"id\":\"integer\",\"title\":\"text\",\"done\":{\"type\":\"integer\",\"default\":0},"                \
    "\"weight\":\"real\",\"data\":\"json\",\"blob\":\"bytes\"},\"key\":[\"id\"],\"indexes\":{\"by_title\":"            \
    "[\"title\"]}"
#define BOARD                                                                                                          \
    "{\"name\":\"board\",\"version\":1,\"params\":[\"name\"],\"keep\":true,\"members\":["                              \
    "{\"name\":\"title\",\"kind\":\"document\",\"initial\":\"\"},"                                                     \
    "{\"name\":\"notes\",\"kind\":\"table\"," ROWS_COLUMNS "},"                                                        \
    "{\"name\":\"cells\",\"kind\":\"table\",\"columns\":{\"x\":\"text\",\"y\":\"bytes\",\"v\":\"integer\"},"           \
    "\"key\":[\"x\",\"y\"]}]}"
enum { BOARD_TITLE, BOARD_NOTES, BOARD_CELLS };

static inline chordal_id object_in(test_host *h, const char *type, const char *params) {
    chordal_id object = 0;
    chordal_error error = {0};
    int code = chordal_object_get(h->host, type, strlen(type), CHORDAL_FORMAT_JSON, (const uint8_t *)params,
                                  strlen(params), &object, &error);
    if (code) CHECK_FAIL("object: %d %s", code, error.detail);
    test_poll(h);
    return object;
}

static inline chordal_id open_board(test_host *h) {
    open_store(h);
    provide(h, BOARD);
    return object_in(h, "board", "{\"name\":\"a\"}");
}

static inline chordal_transaction *draft_on(test_host *h) {
    chordal_transaction *transaction = NULL;
    CHECK_INT(chordal_transaction_begin(h->host, 0, &transaction, NULL), 0);
    return transaction;
}

static inline int commit_code(chordal_transaction *transaction, chordal_id *ticket) {
    return chordal_transaction_commit(transaction, ticket, NULL);
}

static inline chordal_id commit(chordal_transaction *transaction) {
    chordal_id ticket = 0;
    CHECK_INT(commit_code(transaction, &ticket), 0);
    return ticket;
}

typedef int (*row_function)(chordal_transaction *transaction, chordal_id object, uint32_t member, uint32_t format,
                            const uint8_t *row, size_t row_len, chordal_error *error);

static char row_words[112];

static inline int row_code(row_function act, chordal_transaction *transaction, chordal_id object, uint32_t member,
                           const char *json) {
    chordal_error error = {0};
    int code = act(transaction, object, member, CHORDAL_FORMAT_JSON, (const uint8_t *)json, strlen(json), &error);
    CHECK_INT(error.code, code);
    memcpy(row_words, error.detail, sizeof row_words);
    return code;
}

static inline void act_on_row(row_function act, chordal_transaction *transaction, chordal_id object, uint32_t member,
                              const char *json) {
    int code = row_code(act, transaction, object, member, json);
    if (code) CHECK_FAIL("%s: %d %s", json, code, row_words);
}
#define put(t, object, member, json) act_on_row(chordal_transaction_put, t, object, member, json)
#define patch(t, object, member, json) act_on_row(chordal_transaction_patch, t, object, member, json)
#define take_out(t, object, member, json) act_on_row(chordal_transaction_remove, t, object, member, json)

/* In a commit of its own. */
static inline chordal_id commit_row(test_host *h, row_function act, chordal_id object, uint32_t member,
                                    const char *json) {
    chordal_transaction *transaction = draft_on(h);
    act_on_row(act, transaction, object, member, json);
    return commit(transaction);
}
#define commit_put(h, object, member, json) commit_row(h, chordal_transaction_put, object, member, json)

static char row_text[1 << 16];

static inline const char *row_answer(int code, size_t len) {
    if (code) return chordal_error_name(code);
    row_text[len] = 0;
    return row_text;
}

static inline const char *row_in(chordal_transaction *transaction, chordal_id object, uint32_t member,
                                 const char *key) {
    size_t len = 0;
    int code = chordal_transaction_row(transaction, object, member, CHORDAL_FORMAT_JSON, (const uint8_t *)key,
                                       strlen(key), (uint8_t *)row_text, sizeof row_text - 1, &len, NULL);
    return row_answer(code, len);
}

static inline const char *row_of(test_host *h, chordal_id object, uint32_t member, const char *key) {
    size_t len = 0;
    int code = chordal_object_row(h->host, object, member, CHORDAL_FORMAT_JSON, (const uint8_t *)key, strlen(key),
                                  (uint8_t *)row_text, sizeof row_text - 1, &len, NULL);
    return row_answer(code, len);
}

static inline const char *query_in(chordal_transaction *transaction, chordal_id object, uint32_t member,
                                   const char *query) {
    size_t len = 0;
    chordal_error error = {0};
    int code = chordal_transaction_query(transaction, object, member, CHORDAL_FORMAT_JSON, (const uint8_t *)query,
                                         strlen(query), (uint8_t *)row_text, sizeof row_text - 1, &len, &error);
    memcpy(row_words, error.detail, sizeof row_words);
    return row_answer(code, len);
}

static inline const char *query_of(test_host *h, chordal_id object, uint32_t member, const char *query) {
    size_t len = 0;
    chordal_error error = {0};
    int code = chordal_object_query(h->host, object, member, CHORDAL_FORMAT_JSON, (const uint8_t *)query, strlen(query),
                                    (uint8_t *)row_text, sizeof row_text - 1, &len, &error);
    memcpy(row_words, error.detail, sizeof row_words);
    return row_answer(code, len);
}

static inline int ticket_code(test_host *h, chordal_id ticket) {
    for (size_t i = 0; i < h->len; i++)
        if (h->events[i].kind == CHORDAL_EVENT_TICKET && h->events[i].as.ticket.ticket == ticket)
            return h->events[i].as.ticket.code ? h->events[i].as.ticket.code : (int)h->events[i].as.ticket.commit;
    return 0;
}

#endif
