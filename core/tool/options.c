/* options.c: "--name value" among the arguments. */
#include "tool/tool.h"

const char *tool_option(int *argc, char **argv, const char *name) {
    for (int i = 0; i + 1 < *argc; i++) {
        if (strcmp(argv[i], name) != 0) continue;
        const char *value = argv[i + 1];
        memmove(&argv[i], &argv[i + 2], (size_t)(*argc - i - 2) * sizeof *argv);
        *argc -= 2;
        return value;
    }
    return NULL;
}

uint32_t tool_codec(const char *word) {
    if (!word || strcmp(word, "binary") == 0) return CHORDAL_CODEC_BINARY;
    if (strcmp(word, "text") != 0) tool_die("--codec is binary or text", NULL);
    return CHORDAL_CODEC_TEXT;
}

uint64_t tool_number(int *argc, char **argv, const char *name, uint64_t otherwise) {
    const char *word = tool_option(argc, argv, name);
    char *end = NULL;
    if (!word) return otherwise;
    unsigned long long number = strtoull(word, &end, 10);
    if (*word >= '0' && *word <= '9' && !*end) return number;
    fprintf(stderr, "chordal: %s is a number\n", name);
    exit(1);
}

static bool read_digits(const char *word, uint64_t halves[2]) {
    size_t digits = 0;
    for (; *word; word++) {
        static const char all[] = "0123456789abcdef";
        const char *digit = strchr(all, *word);
        if (*word == '-') continue;
        if (!digit || digits == 32) return false;
        halves[digits / 16] = halves[digits / 16] << 4 | (uint64_t)(digit - all);
        digits++;
    }
    return digits == 32 && (halves[0] || halves[1]);
}

void tool_name(const char *word, chordal_host_options *out) {
    uint64_t halves[2] = {0};
    if (!word) return;
    if (!read_digits(word, halves)) tool_die("--name is a UUID in lower case", NULL);
    out->name_high = halves[0], out->name_low = halves[1];
}

uint32_t tool_durability(const char *word) {
    if (!word || strcmp(word, "normal") == 0) return CHORDAL_DURABILITY_NORMAL;
    if (strcmp(word, "full") == 0) return CHORDAL_DURABILITY_FULL;
    if (strcmp(word, "off") != 0) tool_die("--durability is normal, full or off", NULL);
    return CHORDAL_DURABILITY_OFF;
}

void tool_expect(int argc, char **argv, int least, int most, const char *usage) {
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) tool_help(usage);
        if (strncmp(argv[i], "--", 2) != 0) continue;
        fprintf(stderr, "chordal: no such option, or nothing behind it: %s\n", argv[i]);
        tool_usage(usage);
    }
    if (argc < least || argc > most) tool_usage(usage);
}
