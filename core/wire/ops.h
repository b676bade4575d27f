/* ops.h: what the files of ops and snapshots share; for this room only. */
#ifndef CHORDAL_CORE_WIRE_OPS_H
#define CHORDAL_CORE_WIRE_OPS_H

#include "wire/token.h"
#include "wire/wire.h"

/* A part that is being read. A failure leaves its code in in.failed and in.at at the fault; what is read afterwards is
 * NULL or 0. */
typedef struct chordal__part_reader {
    chordal__reader in;
    chordal__memory *memory;
    chordal__limits limits;
    chordal__dictionary *dictionary; /* NULL: inline paths only */
    uint64_t cut;
    const uint8_t *path_start;
    chordal__segment *segments; /* of the path that is being read */
    size_t segments_len, segments_capacity;
    chordal__buffer keys; /* those of its keys that do not lie in the data: their offset in place of their address */
} chordal__part_reader;

void chordal__part_begin(chordal__part_reader *reader, chordal__memory *memory, const uint8_t *data, size_t len,
                         const chordal__limits *limits);
/* Frees what reading needed; answers the failure, if there was one. */
int chordal__part_end(chordal__part_reader *reader, chordal_error *error);

/* Build a path: begin (where it starts in the data), any number of segments, end. */
void chordal__part_path_begin(chordal__part_reader *reader);
void chordal__part_path_index(chordal__part_reader *reader, uint64_t index);
void chordal__part_path_key(chordal__part_reader *reader, const uint8_t *key, size_t len); /* stays in the data */
void chordal__part_path_copy(chordal__part_reader *reader, const chordal__node *key);
CHORDAL_OWN chordal__path *chordal__part_path_end(chordal__part_reader *reader);
/* The path of the member alone. */
CHORDAL_OWN chordal__path *chordal__part_member(chordal__part_reader *reader, uint64_t member);
/* The path with a number of the dictionary. */
CHORDAL_OWN chordal__path *chordal__part_defined(chordal__part_reader *reader, uint64_t number, const uint8_t *start);
/* The array [code, message]; takes both. NULL when code is "" (then the message must be so too), or on failure. */
CHORDAL_OWN chordal__node *chordal__part_error(chordal__part_reader *reader, chordal__node *code,
                                               chordal__node *message, const uint8_t *start);
/* NULL is out of memory. */
void *chordal__part_checked(chordal__part_reader *reader, void *block);

/* ---- ops_binary.c ---- */
void chordal__binary_path_write(chordal__buffer *buffer, const chordal__path *path);
void chordal__binary_text_write(chordal__buffer *buffer, const chordal__node *string);
/* A REPLACE up to its value. */
void chordal__binary_replace_head(chordal__buffer *buffer, uint64_t member);
void chordal__binary_error_write(chordal__buffer *buffer, uint64_t member,
                                 const chordal__node *error); /* NULL: clear */
void chordal__binary_op_write(chordal__buffer *buffer, const chordal__op *op, int64_t id);
uint64_t chordal__binary_number(chordal__part_reader *reader);
uint64_t chordal__binary_count(chordal__part_reader *reader); /* of things of a byte or more */
CHORDAL_OWN chordal__path *chordal__binary_path(chordal__part_reader *reader);
CHORDAL_OWN chordal__node *chordal__binary_text(chordal__part_reader *reader);
CHORDAL_OWN chordal__node *chordal__binary_value(chordal__part_reader *reader);
void chordal__binary_op(chordal__part_reader *reader, chordal__op *out);

/* ---- ops_json.c ---- */
void chordal__json_path_write(chordal__buffer *buffer, const chordal__path *path);
void chordal__json_op_write(chordal__buffer *buffer, const chordal__op *op, int64_t id);
CHORDAL_OWN chordal__path *chordal__json_path(chordal__part_reader *reader);
CHORDAL_OWN chordal__node *chordal__json_text(chordal__part_reader *reader);
CHORDAL_OWN chordal__node *chordal__json_value(chordal__part_reader *reader);
void chordal__json_op(chordal__part_reader *reader, chordal__op *out);

#endif
