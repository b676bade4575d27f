/* admission.c: a peer that shook hands waits until the program lets it in. */
#include "link/link.h"

/* `info` may hold more than credentials, and is whole in the message; what it holds is looked at by the program. */
static int read_info(chordal__link *link, const chordal__part *part, chordal__node **out, chordal_error *error) {
    chordal__runtime *runtime = link->runtime;
    *out = NULL;
    if (!part->len) return 0;
    if (part->len > 2 * CHORDAL__CREDENTIALS_LIMIT)
        return chordal__fail(error, CHORDAL_E_TOO_LARGE, 0, "the credentials are too large");
    uint32_t format =
        chordal__link_encoding(link) == CHORDAL__ENCODING_JSON ? CHORDAL_FORMAT_JSON : CHORDAL_FORMAT_PACKED;
    runtime->counters.parts_parsed++;
    int code = chordal__node_of(runtime, format, part->data, part->len, out, error);
    if (code < 0 || chordal__node_kind(*out) == CHORDAL_KIND_OBJECT) return code;
    chordal__node_unref(runtime->memory, *out);
    return chordal__fail(error, CHORDAL_E_MALFORMED, 0, "info is an object");
}

int chordal__admission_ask(chordal__link *link, const chordal__part *part, chordal_error *error) {
    chordal__runtime *runtime = link->runtime;
    chordal__node *info;
    int code = read_info(link, part, &info, error);
    if (code < 0) return code;
    const chordal__node *credentials = info ? chordal__node_get(info, "credentials", 11) : NULL;
    chordal__buffer_clear(&runtime->scratch);
    if (credentials)
        chordal__pack_write(&runtime->scratch, credentials);
    else
        chordal__buffer_byte(&runtime->scratch, 0xc0); /* null */
    chordal__node_unref(runtime->memory, info);
    chordal__body_unref(link->credentials);
    link->credentials = chordal__body_of_buffer(runtime->memory, &runtime->scratch);
    if (!link->credentials) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for the credentials");
    link->asking = true;
    chordal__tell(runtime, &link->admission);
    return 0;
}

void chordal__admission_told(chordal__link *link) {
    chordal__untell(&link->admission);
    chordal__body_unref(link->credentials); /* a secret is kept no longer than it is needed */
    link->credentials = NULL;
}

void chordal__admission_drop(chordal__link *link) {
    if (!link->asking) return;
    link->asking = false;
    chordal__admission_told(link);
}

/* TAKES authority when it succeeds. */
int chordal__admission_admit(chordal__link *link, chordal__authority *authority, chordal_error *error) {
    if (!link->asking) return chordal__fail(error, CHORDAL_E_STATE, 0, "the peer does not wait to be admitted");
    chordal__admission_drop(link);
    link->authority = authority;
    chordal__handshake_welcome(link);
    return 0;
}

int chordal__admission_refuse(chordal__link *link, const char *reason, size_t len, chordal_error *error) {
    char words[CHORDAL__REFUSAL_BYTES + 1];
    if (!link->asking) return chordal__fail(error, CHORDAL_E_STATE, 0, "the peer does not wait to be admitted");
    if (len > CHORDAL__REFUSAL_BYTES) {
        len = CHORDAL__REFUSAL_BYTES;
        while (len && ((uint8_t)reason[len] & 0xc0) == 0x80) len--; /* whole characters */
    }
    if (len) memcpy(words, reason, len);
    words[len] = 0;
    chordal__link_fail(link, CHORDAL_E_REFUSED, words);
    return 0;
}
