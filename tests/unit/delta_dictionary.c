/* Which paths get a number, when, and for how long. */
#include "unit/delta_text.h"

static const uint64_t seed[2] = {3, 4};

static void note(chordal__dictionary *dictionary, const char *json, uint64_t cut) {
    chordal__ops ops;
    ops_of(&ops, dictionary->memory, json);
    CHECK_INT(chordal__dictionary_note(dictionary, &ops, cut), 0);
    chordal__ops_dispose(&ops);
}

static int64_t id_of(const chordal__dictionary *dictionary, const char *json) {
    chordal__op op = op_of(dictionary->memory, json);
    int64_t id = chordal__dictionary_id(dictionary, op.path);
    chordal__op_dispose(dictionary->memory, &op);
    return id;
}

TEST(second_use) {
    chordal__memory *memory = memory_open();
    chordal__dictionary dictionary;
    CHECK_INT(chordal__dictionary_init(&dictionary, memory, 8, seed), 0);
    note(&dictionary, "[\"d\",[0,\"a\"],\"!\",[1],\"x\",\"\",\"!\",[1],\"x\",\"\"]", 1);
    CHECK_INT(dictionary.count, 0);
    CHECK_INT(id_of(&dictionary, "[\"d\",[0,\"a\"]]"), -1);
    note(&dictionary, "[\"d\",[0,\"b\"],\"d\",[0,\"a\"]]", 2);
    CHECK_INT(id_of(&dictionary, "[\"d\",[0,\"a\"]]"), 0);
    CHECK_INT(dictionary.entries[0].cut, 2);
    note(&dictionary, "[\"t\",[0,\"c\"],1,\"a\",[0,\"c\"],\"x\"]", 3);
    CHECK_INT(id_of(&dictionary, "[\"d\",[0,\"c\"]]"), 1);
    CHECK_INT(id_of(&dictionary, "[\"d\",[0,\"b\"]]"), -1);
    note(&dictionary, "[\"d\",[0,\"a\"],\"d\",[0,\"a\"]]", 4);
    CHECK_INT(dictionary.count, 2);
    CHECK_INT(dictionary.generation_cut, 0);
    chordal__dictionary_dispose(&dictionary);
    memory_close(memory);
}

static void note_number(chordal__dictionary *dictionary, int number, uint64_t cut) {
    char text[64];
    snprintf(text, sizeof text, "[\"d\",[0,%d]]", number);
    note(dictionary, text, cut);
}

TEST(recent) {
    chordal__memory *memory = memory_open();
    chordal__dictionary dictionary;
    chordal__dictionary_init(&dictionary, memory, 8, seed);
    for (int i = 0; i <= CHORDAL__DICTIONARY_RECENT; i++) note_number(&dictionary, i, 1);
    note_number(&dictionary, 0, 2);
    CHECK_INT(dictionary.count, 0);
    note_number(&dictionary, 2, 2);
    CHECK_INT(dictionary.count, 1);
    chordal__dictionary_dispose(&dictionary);
    memory_close(memory);
}

TEST(generation) {
    chordal__memory *memory = memory_open();
    chordal__dictionary dictionary;
    chordal__dictionary_init(&dictionary, memory, 2, seed);
    note(&dictionary, "[\"d\",[0,\"a\"],\"d\",[0,\"a\"],\"d\",[0,\"b\"],\"d\",[0,\"b\"],\"d\",[0,\"c\"]]", 5);
    CHECK_INT(dictionary.count, 2);
    note(&dictionary, "[\"d\",[0,\"c\"]]", 6);
    CHECK_INT(dictionary.count, 1);
    CHECK_INT(dictionary.generation_cut, 6);
    CHECK_INT(id_of(&dictionary, "[\"d\",[0,\"c\"]]"), 0);
    CHECK_INT(id_of(&dictionary, "[\"d\",[0,\"a\"]]"), -1);
    /* Two generations in one commit. */
    note(&dictionary,
         "[\"d\",[0,1],\"d\",[0,1],\"d\",[0,2],\"d\",[0,2],\"d\",[0,3],\"d\",[0,3],\"d\",[0,4],\"d\",[0,4]]", 7);
    CHECK_INT(dictionary.count, 1);
    CHECK_INT(dictionary.generation_cut, 7);
    CHECK_INT(id_of(&dictionary, "[\"d\",[0,4]]"), 0);
    chordal__dictionary_dispose(&dictionary);
    memory_close(memory);
}

/* The reader's side, which takes whatever the provider defines, even one path twice. */
TEST(define) {
    chordal__memory *memory = memory_open();
    chordal__dictionary dictionary;
    chordal__dictionary_init(&dictionary, memory, 3, seed);
    chordal__op a = op_of(memory, "[\"d\",[0,\"a\"]]"), b = op_of(memory, "[\"d\",[0,\"b\"]]");
    CHECK_INT(chordal__dictionary_define(&dictionary, a.path, 1), 0);
    CHECK_INT(chordal__dictionary_define(&dictionary, a.path, 1), 0);
    CHECK_INT(chordal__dictionary_define(&dictionary, b.path, 2), 0);
    CHECK_INT(chordal__dictionary_define(&dictionary, b.path, 2), CHORDAL_E_RANGE);
    CHECK_INT(chordal__dictionary_id(&dictionary, a.path), 0);
    CHECK_INT(chordal__dictionary_id(&dictionary, b.path), 2);
    chordal__dictionary_reset(&dictionary, 9);
    CHECK_INT(dictionary.count, 0);
    CHECK_INT(dictionary.generation_cut, 9);
    CHECK_INT(chordal__dictionary_id(&dictionary, a.path), -1);
    CHECK_INT(chordal__dictionary_define(&dictionary, b.path, 9), 0);
    CHECK_INT(chordal__dictionary_id(&dictionary, b.path), 0);
    chordal__op_dispose(memory, &a);
    chordal__op_dispose(memory, &b);
    chordal__dictionary_dispose(&dictionary);
    memory_close(memory);
}

/* Two paths of one hash are two paths; only the first has the number. */
TEST(collision) {
    chordal__memory *memory = memory_open();
    chordal__dictionary dictionary;
    chordal__dictionary_init(&dictionary, memory, 4, seed);
    chordal__op a = op_of(memory, "[\"d\",[0,\"a\"]]"), b = op_of(memory, "[\"d\",[0,\"b\"]]");
    b.path->hash = a.path->hash;
    chordal__ops ops;
    chordal__ops_init(&ops, memory);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(chordal__ops_push(&ops, (chordal__op){.kind = CHORDAL_OP_DELETE, .path = chordal__path_ref(a.path)}),
                  0);
        CHECK_INT(chordal__ops_push(&ops, (chordal__op){.kind = CHORDAL_OP_DELETE, .path = chordal__path_ref(b.path)}),
                  0);
    }
    CHECK_INT(chordal__dictionary_note(&dictionary, &ops, 1), 0);
    CHECK_INT(dictionary.count, 1);
    CHECK_INT(chordal__dictionary_id(&dictionary, a.path), 0);
    CHECK_INT(chordal__dictionary_id(&dictionary, b.path), -1);
    chordal__ops_dispose(&ops);
    chordal__op_dispose(memory, &a);
    chordal__op_dispose(memory, &b);
    chordal__dictionary_dispose(&dictionary);
    memory_close(memory);
}

TESTS({"second_use", second_use}, {"recent", recent}, {"generation", generation}, {"define", define},
      {"collision", collision})
