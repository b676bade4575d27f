/* convert.c: `chordal convert`: values, ops and messages from one form to the other, line by line. Binary is written in
 * hexadecimal digits. Of messages only the envelope is turned: their parts stay as they are. */
#include "tool/tool.h"

#include "wire/wire.h"

#define USAGE                                                                                                          \
    "convert value|ops|message binary|json\n"                                                                          \
    "  Reads lines of standard input in that form and writes each in the other one. Binary is hexadecimal."
#define MESSAGE_LIMIT (64u << 20)
#define DEPTH 512

typedef struct converter {
    chordal__memory *memory;
    chordal__limits limits;
    bool from_binary, messages;
    chordal__buffer in, out; /* of the line at hand */
    chordal__codec from, to; /* of messages: they remember the last origin */
} converter;

/* ---- hexadecimal ---- */

static int digit(char letter) {
    static const char digits[] = "0123456789abcdef";
    const char *at = letter ? strchr(digits, letter) : NULL;
    return at ? (int)(at - digits) : -1;
}

static bool read_hex(const char *line, size_t len, chordal__buffer *out) {
    if (len % 2) return false;
    for (size_t i = 0; i < len; i += 2) {
        int high = digit(line[i]), low = digit(line[i + 1]);
        if (high < 0 || low < 0) return false;
        chordal__buffer_byte(out, (uint8_t)(high << 4 | low));
    }
    return true;
}

static void print_hex(const uint8_t *data, size_t len) {
    for (size_t i = 0; i < len; i++) printf("%02x", data[i]);
}

static void print_out(const converter *self) {
    if (self->from_binary)
        fwrite(self->out.data, 1, self->out.len, stdout);
    else
        print_hex(self->out.data, self->out.len);
    putchar('\n');
}

/* ---- what can be converted ---- */

static int convert_value(converter *self, chordal_error *error) {
    chordal__reader reader = chordal__reader_of(self->in.data, self->in.len);
    int code = self->from_binary ? chordal__json_from_pack(&self->out, &reader, &self->limits, error)
                                 : chordal__pack_from_json(&self->out, &reader, &self->limits, error);
    if (!code && chordal__reader_left(&reader))
        code = chordal__fail(error, CHORDAL_E_TRAILING, chordal__reader_position(&reader), "more than one value");
    if (!code) print_out(self);
    return code;
}

static int convert_ops(converter *self, chordal_error *error) {
    static const uint8_t encodings[] = {CHORDAL__ENCODING_JSON, CHORDAL__ENCODING_BINARY};
    chordal__ops ops;
    chordal__ops_init(&ops, self->memory);
    int code = chordal__ops_read(&ops, encodings[self->from_binary], self->in.data, self->in.len, NULL, 0,
                                 &self->limits, error);
    if (!code) chordal__ops_write(&self->out, encodings[!self->from_binary], &ops, NULL);
    chordal__ops_dispose(&ops);
    if (!code) print_out(self);
    return code;
}

static void print_frame(const chordal__frame *frame) {
    for (uint32_t i = 0; i < frame->pieces_len; i++) {
        const chordal__frame_piece *piece = &frame->pieces[i];
        const uint8_t *data = (piece->body ? piece->body->data : frame->own) + piece->offset;
        if (frame->frame == CHORDAL_FRAME_TEXT)
            fwrite(data, 1, piece->len, stdout);
        else
            print_hex(data, piece->len);
    }
    putchar('\n');
}

static int convert_message(converter *self, chordal_error *error) {
    chordal__message message;
    chordal__list frames;
    uint32_t frame =
        self->in.len && self->in.data[0] == '[' && !self->from_binary ? CHORDAL_FRAME_TEXT : CHORDAL_FRAME_BINARY;
    int code = chordal__codec_decode(&self->from, frame, self->in.data, self->in.len, &message, error);
    if (code <= 0) return code;
    chordal__list_init(&frames);
    code = chordal__codec_encode(&self->to, &message, &frames);
    while (!chordal__list_empty(&frames)) {
        chordal__frame *next = CHORDAL__ENTRY(frames.next, chordal__frame, node);
        chordal__list_remove(&next->node);
        print_frame(next);
        chordal__frame_free(next);
    }
    return code ? chordal__fail(error, code, 0, "this message has no such form") : 0;
}

static const struct {
    const char *name;
    int (*convert)(converter *self, chordal_error *error);
} kinds[] = {{"value", convert_value}, {"ops", convert_ops}, {"message", convert_message}};

/* ---- lines ---- */

static bool take_line(converter *self, const char *line, size_t len) {
    bool raw = self->messages && len && line[0] != '['; /* a frame that a text message announced */
    chordal__buffer_clear(&self->in);
    chordal__buffer_clear(&self->out);
    if (self->from_binary || raw) return read_hex(line, len, &self->in);
    chordal__buffer_put(&self->in, line, len);
    return true;
}

static int convert_lines(converter *self, int (*convert)(converter *self, chordal_error *error)) {
    char *line = NULL;
    size_t room = 0;
    int status = 0;
    for (ssize_t len; (len = getline(&line, &room, stdin)) >= 0;) {
        chordal_error error = {0};
        if (len && line[len - 1] == '\n') len--;
        if (!take_line(self, line, (size_t)len))
            fprintf(stderr, "not hexadecimal\n"), status = 1;
        else if (convert(self, &error)) {
            fprintf(stderr, "%s at %llu: %s\n", chordal_error_name(error.code), (unsigned long long)error.position,
                    error.detail);
            status = 1;
        }
    }
    free(line);
    return status;
}

static void converter_open(converter *self, bool from_binary) {
    memset(self, 0, sizeof *self);
    self->memory = chordal__memory_new(NULL, UINT64_MAX);
    self->limits = (chordal__limits){DEPTH, MESSAGE_LIMIT};
    self->from_binary = from_binary;
    uint8_t from = from_binary ? CHORDAL_CODEC_BINARY : CHORDAL_CODEC_TEXT;
    uint8_t to = from_binary ? CHORDAL_CODEC_TEXT : CHORDAL_CODEC_BINARY;
    if (!self->memory || chordal__codec_init(&self->from, self->memory, from, MESSAGE_LIMIT, DEPTH) ||
        chordal__codec_init(&self->to, self->memory, to, MESSAGE_LIMIT, DEPTH))
        tool_die("out of memory", NULL);
    chordal__buffer_init(&self->in, self->memory, MESSAGE_LIMIT);
    chordal__buffer_init(&self->out, self->memory, 2 * MESSAGE_LIMIT);
}

static void converter_close(converter *self) {
    chordal__codec_dispose(&self->from);
    chordal__codec_dispose(&self->to);
    chordal__buffer_dispose(&self->in);
    chordal__buffer_dispose(&self->out);
    chordal__memory_unref(self->memory);
}

int tool_convert(int argc, char **argv) {
    tool_expect(argc, argv, 2, 2, USAGE);
    bool from_binary = strcmp(argv[1], "binary") == 0;
    if (!from_binary && strcmp(argv[1], "json") != 0) tool_usage(USAGE);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(argv[0], kinds[i].name) != 0) continue;
        converter self;
        converter_open(&self, from_binary);
        self.messages = kinds[i].convert == convert_message;
        int status = convert_lines(&self, kinds[i].convert);
        converter_close(&self);
        return status;
    }
    tool_usage(USAGE);
}
