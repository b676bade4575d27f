/* handshake.c: hello and welcome. */
#include "chordal/version.h"
#include "link/link.h"

static void introduce(chordal__link *link, chordal__message *message, int limit_field) {
    message->numbers[limit_field] = link->runtime->settings.limits.size;
    memcpy(message->ids[0], link->runtime->name, sizeof message->ids[0]);
    memcpy(message->ids[1], link->runtime->run, sizeof message->ids[1]);
}

static void meet(chordal__link *link, const chordal__message *message, int limit_field) {
    link->codec.send_limit = message->numbers[limit_field];
    if (link->was_up && memcmp(link->peer_host, message->ids[0], sizeof link->peer_host) != 0)
        memcpy(link->peer_before, link->peer_host, sizeof link->peer_before);
    memcpy(link->peer_host, message->ids[0], sizeof link->peer_host);
    memcpy(link->peer_run, message->ids[1], sizeof link->peer_run);
}

uint8_t chordal__link_encoding(const chordal__link *link) {
    return link->codec_kind == CHORDAL_CODEC_TEXT ? CHORDAL__ENCODING_JSON : CHORDAL__ENCODING_BINARY;
}

void chordal__handshake_hello(chordal__link *link) {
    chordal__message hello = {.kind = CHORDAL__HELLO, .numbers = {1, CHORDAL_PROTOCOL}};
    chordal__body *info = link->credentials;
    introduce(link, &hello, 2);
    if (info && chordal__part_of_packed(link->runtime, chordal__link_encoding(link), info->data, info->len, info,
                                        &hello.parts[0]) < 0)
        chordal__link_break(link, CHORDAL_E_NOMEM);
    chordal__send(link, &hello, NULL);
    chordal__body_unref(hello.parts[0].body);
}

void chordal__handshake_welcome(chordal__link *link) {
    chordal__message welcome = {.kind = CHORDAL__WELCOME, .numbers = {link->version}};
    introduce(link, &welcome, 1);
    chordal__send(link, &welcome, NULL);
    chordal__link_ready(link);
}

static int receive_hello(chordal__link *link, const chordal__message *message, chordal_error *error) {
    uint64_t oldest = message->numbers[0], newest = message->numbers[1];
    if (oldest > newest || oldest > CHORDAL_PROTOCOL || newest < 1)
        return chordal__fail(error, CHORDAL_E_VERSION, 0, "no protocol version in common");
    link->peer_newer = newest > CHORDAL_PROTOCOL;
    link->version = newest < CHORDAL_PROTOCOL ? newest : CHORDAL_PROTOCOL;
    meet(link, message, 2);
    if (CHORDAL__AUTHORITY && link->flags & CHORDAL_LINK_AUTHENTICATE)
        return chordal__admission_ask(link, &message->parts[0], error);
    chordal__handshake_welcome(link);
    return 0;
}

static int receive_welcome(chordal__link *link, const chordal__message *message, chordal_error *error) {
    if (message->numbers[0] < 1 || message->numbers[0] > CHORDAL_PROTOCOL)
        return chordal__fail(error, CHORDAL_E_VERSION, 0, "the peer chose a version that was not offered");
    meet(link, message, 1);
    chordal__link_ready(link);
    return 0;
}

int chordal__handshake_receive(chordal__link *link, const chordal__message *message, chordal_error *error) {
    bool connects = (link->flags & CHORDAL_LINK_CONNECT) != 0;
    if (!connects && message->kind == CHORDAL__HELLO && !link->version) return receive_hello(link, message, error);
    if (connects && message->kind == CHORDAL__WELCOME) return receive_welcome(link, message, error);
    return chordal__fail(error, CHORDAL_E_ORDER, 0, "the handshake comes first");
}

/* ---- what a connecting side shows ---- */

int chordal__link_credentials(chordal__link *link, const chordal__body *value, chordal_error *error) {
    static const char head[] = "\x81\xab"
                               "credentials";
    if (!(link->flags & CHORDAL_LINK_CONNECT))
        return chordal__fail(error, CHORDAL_E_STATE, 0, "credentials are for a link that connects");
    if (value->len > CHORDAL__CREDENTIALS_LIMIT)
        return chordal__fail(error, CHORDAL_E_SIZE, 0, "the credentials are too large");
    chordal__body *info = chordal__body_new(link->runtime->memory, sizeof head - 1 + value->len);
    if (!info) return chordal__fail(error, CHORDAL_E_NOMEM, 0, "no memory for the credentials");
    memcpy(info->data, head, sizeof head - 1);
    memcpy(info->data + sizeof head - 1, value->data, value->len);
    chordal__body_unref(link->credentials);
    link->credentials = info;
    return 0;
}
