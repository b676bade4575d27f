/* error.c: codes and how they are answered. */
#include "base/base.h"

/* The preprocessor cannot lower a name; a name without its line here does not compile. */
#define LOWER_NOMEM "nomem"
#define LOWER_INVALID "invalid"
#define LOWER_STATE "state"
#define LOWER_BUSY "busy"
#define LOWER_CLOSED "closed"
#define LOWER_LIMIT "limit"
#define LOWER_NOT_FOUND "not_found"
#define LOWER_EXISTS "exists"
#define LOWER_ROOM "room"
#define LOWER_FORKED "forked"
#define LOWER_UNSUPPORTED "unsupported"
#define LOWER_SYNTAX "syntax"
#define LOWER_UTF8 "utf8"
#define LOWER_NUMBER "number"
#define LOWER_DEPTH "depth"
#define LOWER_DUPLICATE_KEY "duplicate_key"
#define LOWER_TRUNCATED "truncated"
#define LOWER_TRAILING "trailing"
#define LOWER_TYPE "type"
#define LOWER_PATH "path"
#define LOWER_RANGE "range"
#define LOWER_SIZE "size"
#define LOWER_PERMUTATION "permutation"
#define LOWER_VERSION "version"
#define LOWER_MALFORMED "malformed"
#define LOWER_ORDER "order"
#define LOWER_TOO_LARGE "too_large"
#define LOWER_TIMEOUT "timeout"
#define LOWER_REFUSED "refused"
#define LOWER_LOST "lost"
#define LOWER_BYE "bye"
#define LOWER_STALLED "stalled"
#define LOWER_REPLACED "replaced"
#define LOWER_NO_ROUTE "no_route"
#define LOWER_NO_TYPE "no_type"
#define LOWER_NO_MEMBER "no_member"
#define LOWER_TYPE_VERSION "type_version"
#define LOWER_PARAMS "params"
#define LOWER_RETIRED "retired"
#define LOWER_REVOKED "revoked"
#define LOWER_RELEASED "released"
#define LOWER_CONFLICT "conflict"
#define LOWER_DOWN "down"
#define LOWER_DENIED "denied"
#define LOWER_CANCELLED "cancelled"
#define LOWER_DEADLINE "deadline"
#define LOWER_OUTCOME_UNKNOWN "outcome_unknown"
#define LOWER_METHOD "method"
#define LOWER_COMPUTE "compute"
#define LOWER_DISK_FULL "disk_full"
#define LOWER_DISK_IO "disk_io"
#define LOWER_CORRUPT "corrupt"
#define LOWER_OWNED "owned"
#define LOWER_READ_ONLY "read_only"
#define LOWER_NOT_STORE "not_store"
#define LOWER_NEWER "newer"

typedef struct error_row {
    int32_t code;
    const char *name, *text;
} error_row;

#define ERROR_ROW(name, number, text) {number, LOWER_##name, CHORDAL__WORDS(text)},
static const error_row rows[] = {CHORDAL_ERRORS(ERROR_ROW)};
#define ROWS (sizeof rows / sizeof *rows)

static const error_row *find_row(int32_t code) {
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].code == code) return &rows[i];
    }
    return NULL;
}

const char *chordal_error_name(int32_t code) {
    const error_row *row = find_row(code);
    if (!row) return code == 0 ? "ok" : "unknown";
    return row->name;
}

const char *chordal_error_text(int32_t code) {
    const error_row *row = find_row(code);
    if (!row) return code == 0 ? CHORDAL__WORDS("it went well") : CHORDAL__WORDS("no such code");
    return row->text;
}

int chordal__error_code(const char *name, size_t name_len) {
    for (size_t i = 0; i < ROWS; i++) {
        if (strlen(rows[i].name) == name_len && memcmp(rows[i].name, name, name_len) == 0) return rows[i].code;
    }
    return 0;
}

/* Cuts between code points, so that the text stays UTF-8. */
static size_t cut(const char *text, size_t room) {
    size_t len = strlen(text);
    if (len <= room) return len;
    for (len = room; len && ((uint8_t)text[len] & 0xc0) == 0x80; len--) continue;
    return len;
}

int(chordal__fail)(chordal_error *error, int code, uint64_t position, const char *detail) {
    if (!error) return code;
    if (!detail) detail = chordal_error_text(code);
    /* `detail` may lie in `error` itself, when an error is answered on. */
    size_t len = cut(detail, sizeof error->detail - 1);
    memmove(error->detail, detail, len);
    memset(error->detail + len, 0, sizeof error->detail - len);
    error->code = code;
    error->reserved = 0;
    error->position = position;
    return code;
}

int chordal__fail_about(chordal_error *error, int code, const char *words, const void *name, size_t name_len) {
    char detail[2 * sizeof error->detail]; /* chordal__fail cuts it */
    size_t len = strlen(words), room = sizeof detail - 1 - len;
    memcpy(detail, words, len);
    if (name_len > room) name_len = room;
    if (name_len) memcpy(detail + len, name, name_len);
    detail[len + name_len] = 0;
    return (chordal__fail)(error, code, 0, detail);
}

int chordal__fail_number(chordal_error *error, int code, const char *words, uint64_t number) {
    char digits[20];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    return chordal__fail_about(error, code, words, digits + at, sizeof digits - at);
}

#ifdef CHORDAL__NO_WORDS
int chordal__fail_at(chordal_error *error, int code, uint64_t position) {
    return (chordal__fail)(error, code, position, NULL);
}

int chordal__fail_plainly(chordal_error *error, int code) {
    return chordal__fail_at(error, code, 0);
}
#endif
