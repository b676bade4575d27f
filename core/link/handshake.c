/* handshake.c: hello and welcome. */
#include "chordal/version.h"
#include "link/link.h"

static void introduce(chordal__link *link, chordal__message *message, int limit_field) {
    message->numbers[limit_field] = link->runtime->settings.limits.size;
    memcpy(message->ids[0], link->runtime->name, sizeof message->ids[0]);
    memcpy(message->ids[1], link->runtime->run, sizeof message->ids[1]);
}

void chordal__handshake_hello(chordal__link *link) {
    chordal__message hello = {.kind = CHORDAL__HELLO, .numbers = {1, CHORDAL_PROTOCOL}};
    introduce(link, &hello, 2);
    chordal__send(link, &hello, NULL);
}

static int receive_hello(chordal__link *link, const chordal__message *message, chordal_error *error) {
    uint64_t oldest = message->numbers[0], newest = message->numbers[1];
    if (oldest > newest || oldest > CHORDAL_PROTOCOL || newest < 1)
        return chordal__fail(error, CHORDAL_E_VERSION, 0, "no protocol version in common");
    link->peer_newer = newest > CHORDAL_PROTOCOL;
    link->codec.send_limit = message->numbers[2];
    chordal__message welcome = {.kind = CHORDAL__WELCOME};
    welcome.numbers[0] = newest < CHORDAL_PROTOCOL ? newest : CHORDAL_PROTOCOL;
    introduce(link, &welcome, 1);
    chordal__send(link, &welcome, NULL);
    chordal__link_ready(link, message);
    return 0;
}

static int receive_welcome(chordal__link *link, const chordal__message *message, chordal_error *error) {
    if (message->numbers[0] < 1 || message->numbers[0] > CHORDAL_PROTOCOL)
        return chordal__fail(error, CHORDAL_E_VERSION, 0, "the peer chose a version that was not offered");
    link->codec.send_limit = message->numbers[1];
    link->attempts = 0;
    chordal__link_ready(link, message);
    return 0;
}

int chordal__handshake_receive(chordal__link *link, const chordal__message *message, chordal_error *error) {
    bool connects = (link->flags & CHORDAL_LINK_CONNECT) != 0;
    if (!connects && message->kind == CHORDAL__HELLO) return receive_hello(link, message, error);
    if (connects && message->kind == CHORDAL__WELCOME) return receive_welcome(link, message, error);
    return chordal__fail(error, CHORDAL_E_ORDER, 0, "the handshake comes first");
}
