/* main.c: many seeds in parallel, the kept plans, and one seed to look at.
 *
 *     sim                       the kept plans, and seeds 1 to 2000
 *     sim --seed N [--trace]    one seed, told line by line
 *     sim --plan FILE [--trace] one plan of kept/
 *     --seeds COUNT --from N    other seeds    --jobs J  processes    --deep  larger plans; 20,000 seeds by default
 *     --places                  worlds with placed types and workers
 *     --stores                  worlds where some hosts have a store */
#include <dirent.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/sim.h"

#define JOBS 64
#define TOLD 5      /* failing seeds that are made small and printed */
#define TWICE 37    /* each so many-th seed runs twice, and must leave the same trace */
#define SECONDS 120 /* a seed that takes longer hangs */

typedef struct options {
    uint64_t seed, from, count;
    const char *plan;
    int jobs;
    bool one, trace;
    sim_kind kind;
} options;

/* What the processes share. */
typedef struct board {
    _Atomic uint64_t next, done, frames, checks, bytes, failed;
    _Atomic uint64_t failures[TOLD];
    uint64_t running[JOBS];
} board;

static void keep_failure(board *shared, uint64_t seed) {
    uint64_t at = atomic_fetch_add(&shared->failed, 1);
    if (at < TOLD) atomic_store(&shared->failures[at], seed);
}

static bool run_seed(uint64_t seed, const options *o, sim_outcome *out) {
    sim_plan plan;
    sim_outcome again;
    sim_plan_make(&plan, seed, o->kind);
    sim_run(&plan, false, out);
    if (!out->failed && seed % TWICE == 0) {
        sim_run(&plan, false, &again);
        if (again.trace != out->trace) printf("seed %" PRIu64 ": two runs differ\n", seed);
        out->failed = again.trace != out->trace;
    }
    sim_plan_free(&plan);
    return !out->failed;
}

static void work(const options *o, board *shared, int job) {
    sim_outcome out;
    for (;;) {
        uint64_t seed = atomic_fetch_add(&shared->next, 1);
        if (seed >= o->from + o->count) break;
        shared->running[job] = seed;
        alarm(SECONDS);
        if (!run_seed(seed, o, &out)) keep_failure(shared, seed);
        atomic_fetch_add(&shared->done, 1);
        atomic_fetch_add(&shared->frames, out.frames);
        atomic_fetch_add(&shared->checks, out.checks);
        if (out.bytes > atomic_load(&shared->bytes)) atomic_store(&shared->bytes, out.bytes);
    }
    fflush(NULL);
    _exit(0);
}

static pid_t start(const options *o, board *shared, int job) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) work(o, shared, job);
    return child;
}

/* A process that dies takes one seed with it: the others go on in a new one. */
static void run_seeds(const options *o, board *shared) {
    pid_t children[JOBS];
    for (int job = 0; job < o->jobs; job++) children[job] = start(o, shared, job);
    for (int alive = o->jobs; alive > 0;) {
        int status, job = 0;
        pid_t child = wait(&status);
        while (job < o->jobs && children[job] != child) job++;
        if (child < 0 || job == o->jobs) break;
        if (status) {
            keep_failure(shared, shared->running[job]);
            atomic_fetch_add(&shared->done, 1);
            children[job] = start(o, shared, job);
        } else {
            alive--;
        }
    }
}

/* ---- what failed ---- */

static void tell(sim_plan *plan, const char *name) {
    sim_outcome out;
    sim_run_apart(plan, &out);
    printf("FAILED %s: %s\n", name, out.failure);
    fflush(NULL);
    if (!out.failed) return;
    sim_minimise(plan, &out);
    printf("  made small: %s\n  ", out.failure);
    sim_plan_write(plan, stdout);
}

static void tell_seeds(const options *o, board *shared) {
    char name[64];
    uint64_t failed = atomic_load(&shared->failed);
    for (uint64_t i = 0; i < failed && i < TOLD; i++) {
        sim_plan plan;
        uint64_t seed = atomic_load(&shared->failures[i]);
        sim_plan_make(&plan, seed, o->kind);
        snprintf(name, sizeof name, "seed %" PRIu64 "%s%s%s", seed, o->kind.deep ? " (deep)" : "",
                 o->kind.places ? " (places)" : "", o->kind.stores ? " (stores)" : "");
        tell(&plan, name);
        sim_plan_free(&plan);
    }
}

/* ---- kept plans ---- */

static bool read_plan(const char *path, sim_plan *plan) {
    size_t room = 1 << 16, len;
    char *text = calloc(1, room);
    FILE *file = fopen(path, "r");
    bool good = file && (len = fread(text, 1, room - 1, file)) > 0;
    if (good) text[strcspn(text, "\n")] = 0;
    good = good && sim_plan_read(plan, text);
    if (file) fclose(file);
    free(text);
    return good;
}

static bool run_kept(const char *name) {
    char path[1024];
    sim_plan plan;
    sim_outcome out = {.failed = true};
    snprintf(path, sizeof path, "%s/sim/kept/%s", CHORDAL_TESTS_FOLDER, name);
    bool good = read_plan(path, &plan);
    if (good) sim_run_apart(&plan, &out);
    if (out.failed) printf("FAILED %s: %s\n", name, good ? out.failure : "it cannot be read");
    if (good) sim_plan_free(&plan);
    return !out.failed;
}

static void run_all_kept(uint64_t *passed, uint64_t *failed) {
    DIR *folder = opendir(CHORDAL_TESTS_FOLDER "/sim/kept");
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".plan") != 0) continue;
        bool good = run_kept(entry->d_name);
        *passed += good;
        *failed += !good;
    }
    if (folder) closedir(folder);
}

/* ---- the command ---- */

static int run_one(const options *o) {
    sim_plan plan;
    sim_outcome out, again;
    if (!o->plan)
        sim_plan_make(&plan, o->seed, o->kind);
    else if (!read_plan(o->plan, &plan))
        return fprintf(stderr, "%s cannot be read\n", o->plan), 2;
    sim_run(&plan, o->trace, &out);
    sim_run(&plan, false, &again);
    printf("trace %016" PRIx64 ", again %016" PRIx64 "; %" PRIu64 " frames, %" PRIu64 " checks, %zu bytes\n", out.trace,
           again.trace, out.frames, out.checks, out.bytes);
    bool good = !out.failed && out.trace == again.trace;
    if (out.failed && !o->trace) tell(&plan, "it");
    sim_plan_free(&plan);
    printf("%d passed, %d failed\n", good, !good);
    return !good;
}

static uint64_t number_of(const char *text) {
    return text ? strtoull(text, NULL, 10) : 0;
}

static bool read_options(int argc, char **argv, options *o) {
    *o = (options){.from = 1, .jobs = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = argv[i + 1];
        bool takes = true;
        if (strcmp(name, "--seed") == 0)
            o->one = true, o->seed = number_of(value);
        else if (strcmp(name, "--plan") == 0)
            o->one = true, o->plan = value;
        else if (strcmp(name, "--seeds") == 0)
            o->count = number_of(value);
        else if (strcmp(name, "--from") == 0)
            o->from = number_of(value);
        else if (strcmp(name, "--jobs") == 0)
            o->jobs = (int)number_of(value);
        else if (takes = false, strcmp(name, "--deep") == 0)
            o->kind.deep = true;
        else if (strcmp(name, "--trace") == 0)
            o->trace = true;
        else if (strcmp(name, "--places") == 0)
            o->kind.places = true;
        else if (strcmp(name, "--stores") == 0)
            o->kind.stores = true;
        else
            return false;
        if (takes && !value) return false;
        i += takes;
    }
    if (!o->count) o->count = o->kind.deep ? 20000 : 2000;
    if (o->jobs < 1 || o->jobs > JOBS) o->jobs = o->jobs < 1 ? 1 : JOBS;
    return true;
}

static int run_many(const options *o) {
    board *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 2;
    uint64_t passed = 0, failed = 0;
    run_all_kept(&passed, &failed);
    atomic_store(&shared->next, o->from);
    run_seeds(o, shared);
    tell_seeds(o, shared);
    uint64_t bad = atomic_load(&shared->failed);
    printf("%" PRIu64 " seeds, %" PRIu64 " frames, %" PRIu64 " checks; a host held %" PRIu64 " bytes at most\n",
           atomic_load(&shared->done), atomic_load(&shared->frames), atomic_load(&shared->checks),
           atomic_load(&shared->bytes));
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", passed + atomic_load(&shared->done) - bad, failed + bad);
    return failed + bad != 0;
}

int main(int argc, char **argv) {
    options o;
    if (!read_options(argc, argv, &o)) {
        fprintf(stderr,
                "sim [--seed N | --plan FILE] [--seeds COUNT] [--from N] [--deep] [--places] [--stores] [--trace] "
                "[--jobs J]\n");
        return 2;
    }
    sim_folder_make();
    int code = o.one ? run_one(&o) : run_many(&o);
    sim_folder_remove();
    return code;
}
