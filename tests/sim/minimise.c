/* minimise.c: a failing plan made small: fewer steps, fewer hosts, as long as it fails in the same way. */
#include "sim/sim.h"

#define TRIES 600

/* The word before the colon: what kind of failure it is. */
static bool same_kind(const sim_outcome *a, const sim_outcome *b) {
    const char *x = strstr(a->failure, "ms: "), *y = strstr(b->failure, "ms: ");
    x = x ? x + 4 : a->failure;
    y = y ? y + 4 : b->failure;
    size_t len = strcspn(x, ":");
    return b->failed && len == strcspn(y, ":") && memcmp(x, y, len) == 0;
}

/* Keep the smaller plan when it fails alike. */
static bool try(sim_plan *plan, sim_plan *smaller, sim_outcome *out, int *tries) {
    sim_outcome now;
    bool fails = false;
    if ((*tries)++ < TRIES) {
        sim_run_apart(smaller, &now);
        fails = same_kind(out, &now);
    }
    if (fails) {
        sim_plan_free(plan);
        *plan = *smaller;
        *out = now;
    } else {
        sim_plan_free(smaller);
    }
    return fails;
}

static bool without(sim_plan *plan, size_t from, size_t count, sim_outcome *out, int *tries) {
    sim_plan smaller;
    sim_plan_copy(&smaller, plan);
    memmove(smaller.steps + from, smaller.steps + from + count, (plan->len - from - count) * sizeof *plan->steps);
    smaller.len -= count;
    return try(plan, &smaller, out, tries);
}

static void drop_steps(sim_plan *plan, sim_outcome *out, int *tries) {
    for (size_t count = plan->len / 2; count > 0; count /= 2)
        for (size_t from = 0; from + count <= plan->len && *tries < TRIES;)
            if (!without(plan, from, count, out, tries)) from += count;
}

static void drop_hosts(sim_plan *plan, sim_outcome *out, int *tries) {
    for (bool smaller = true; smaller && plan->hosts > 2;) {
        sim_plan fewer;
        sim_plan_copy(&fewer, plan);
        fewer.hosts--;
        smaller = try(plan, &fewer, out, tries);
    }
}

void sim_minimise(sim_plan *plan, sim_outcome *out) {
    int tries = 0;
    size_t before;
    do {
        before = plan->len;
        drop_hosts(plan, out, &tries);
        drop_steps(plan, out, &tries);
    } while (plan->len < before && tries < TRIES);
}
