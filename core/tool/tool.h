/* tool.h: what the commands of the `chordal` program share. */
#ifndef CHORDAL_CORE_TOOL_H
#define CHORDAL_CORE_TOOL_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "chordal.h"
#include "chordal/dispatch.h"
#include "chordal/uv.h"

/* ---- commands: one file each, listed in main.c; the answer is the process's exit code ---- */
int tool_serve(int argc, char **argv);
int tool_watch(int argc, char **argv);
int tool_call(int argc, char **argv);
int tool_convert(int argc, char **argv);
int tool_provide(int argc, char **argv);
int tool_check_holder(int argc, char **argv);
int tool_backup(int argc, char **argv);
int tool_check(int argc, char **argv);
int tool_dump(int argc, char **argv);
int tool_export(int argc, char **argv);
int tool_import(int argc, char **argv);

/* ---- text.c: text that grows ---- */
typedef struct tool_text {
    char *data; /* NUL-terminated once something was put */
    size_t len, room;
} tool_text;
void tool_text_put(tool_text *text, const char *data, size_t len);
void tool_text_add(tool_text *text, const char *more);
void tool_text_room(tool_text *text, size_t len);                   /* room for so many bytes more, and the end */
void tool_text_json(tool_text *text, const char *data, size_t len); /* as a JSON string */
/* The value as JSON. */
void tool_text_value(tool_text *text, const chordal_value *value);
void tool_text_free(tool_text *text);
/* Copy a string; the caller frees it. */
char *tool_string(const chordal_cursor *cursor, size_t *out_len);

/* ---- program.c: a host on a loop ---- */
typedef struct tool_program {
    uv_loop_t loop;
    uv_signal_t signals[2];
    chordal_host *host;
    chordal_dispatcher *dispatcher;
    chordal_uv *adapter;
    int status; /* the exit code */
} tool_program;
/* Open all of it, or say why not and exit. `options` may be NULL; `context` is for the handlers. */
void tool_program_open(tool_program *program, const chordal_host_options *options, const chordal_handlers *handlers,
                       void *context);
void tool_program_provide(tool_program *program, const chordal_type *type);
chordal_id tool_program_connect(tool_program *program, const char *address, uint32_t codec, uint32_t flags);
/* End tool_program_run with this exit code; safe inside of handlers. */
void tool_program_stop(tool_program *program, int status);
/* Run until stopped or interrupted, close everything, answer the exit code. */
int tool_program_run(tool_program *program);
/* Say what went wrong and exit with 1. */
_Noreturn void tool_die(const char *what, const chordal_error *error);
_Noreturn void tool_usage(const char *usage);
_Noreturn void tool_help(const char *usage); /* it was asked for */

/* ---- options.c: "--name value" anywhere among the arguments ---- */
/* The value of an option, taken out of the arguments; NULL: not given. */
const char *tool_option(int *argc, char **argv, const char *name);
/* "binary" (also NULL) or "text". */
uint32_t tool_codec(const char *word);
uint64_t tool_number(int *argc, char **argv, const char *name, uint64_t otherwise); /* the value of an option */
/* A host's lasting name: 32 hexadecimal digits, hyphens between them as in a UUID. NULL: none. */
void tool_name(const char *word, chordal_host_options *out);
uint32_t tool_durability(const char *word); /* NULL: normal */
/* Exit with the usage unless so many arguments are left, and no unknown option; --help asks for it. */
void tool_expect(int argc, char **argv, int least, int most, const char *usage);

/* ---- target.c: "ADDRESS TYPE key=value…" ---- */
typedef struct tool_target {
    const char *address, *type;
    tool_text params; /* a JSON object */
    int used;         /* arguments */
} tool_target;
/* key=text or key:=json; ends at the first argument that is neither. */
void tool_target_read(tool_target *target, int argc, char **argv, const char *usage);
chordal_id tool_target_get(const tool_target *target, chordal_host *host, chordal_id link);

/* ---- request.c: how the tool's own types read arguments and change documents ---- */
typedef struct tool_argument {
    char *text; /* kind 's' */
    size_t text_len;
    uint64_t index; /* kind 'i' */
} tool_argument;
#define TOOL_ARGUMENTS 4
/* Read the arguments by kinds ("si": a text and an index). False: the call was answered with an error. */
bool tool_arguments(const chordal_request *request, const char *kinds, tool_argument *out);
void tool_arguments_free(tool_argument *arguments);
/* Begin a transaction for the call; NULL: the call was answered with an error. */
chordal_transaction *tool_begin(const chordal_request *request);
/* Commit and answer with `result` (JSON) when `code` is 0, else abort and answer with the error. */
void tool_finish(const chordal_request *request, chordal_transaction *transaction, int code, const chordal_error *error,
                 const char *result);
void tool_answer(const chordal_request *request, const char *json);
void tool_refuse(const chordal_request *request, const char *name, const char *message);
/* Answer a derive with the length of the array `key` in document `member`. */
void tool_answer_length(const chordal_request *request, uint32_t member, const char *key);

/* ---- store.c: what the commands on stores share ---- */
#define TOOL_EXPORT_HEAD "{\"chordal\":\"export\",\"version\":1}"
#define TOOL_EXPORT_END "{\"items\":" /* how many lines came before */
/* A part of a JSON text that the core has written. */
typedef struct tool_slice {
    const char *data;
    size_t len;
} tool_slice;
/* The value of a key of an object; null where it has none. */
tool_slice tool_field(const char *object, const char *key);
/* Where the value that begins at `at` ends. */
size_t tool_value_end(const char *json, size_t at);
bool tool_slice_number(tool_slice slice, uint64_t *out); /* false: null */
void tool_text_set(tool_text *out, tool_slice slice);    /* it is this */
void tool_text_keys(tool_text *out, const char *object); /* an object's keys, as an array */
/* The one thing of a list; false: it is empty. */
bool tool_text_only(tool_text *out, const chordal_value *page);
/* The text of a JSON string; the caller frees it. */
char *tool_unquoted(chordal_host *host, tool_slice json, size_t *len);
/* As other programs read it, too. */
void tool_print_json(const char *json, size_t len);
/* Nothing more is printed: exit with 1 if it could not be written. */
void tool_print_end(void);
/* A host with this store, or say why not and exit. */
chordal_host *tool_store_open(const char *path, uint32_t flags);
/* What is told of each document: its entry (chordal_store_documents) as JSON, and its value, NULL if that is not kept;
 * the answers are added up. */
typedef uint64_t tool_each_document(void *context, const char *entry, bool retired, const char *value);
/* Those that lived at commit `at`, as it left them; 0: all, as they are or were at their end. */
uint64_t tool_store_each(chordal_host *host, uint64_t at, tool_each_document *each, void *context);

/* ---- board.c, square.c: the types ---- */
extern const chordal_type tool_board, tool_square;

#endif
