/* plan.c: a plan: made from a seed, written in one line, read. */
#include "sim/sim.h"

/* ---- chance: one generator, cut into streams ---- */

uint64_t sim_next(sim_random *random) {
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint32_t sim_draw(sim_random *random, uint32_t below) {
    return below ? (uint32_t)(sim_next(random) >> 32) % below : 0;
}

sim_random sim_stream(uint64_t seed, uint64_t a, uint64_t b) {
    sim_random random = {seed};
    random.state = sim_next(&random) + a;
    random.state = sim_next(&random) + b;
    return random;
}

/* ---- steps ---- */

#define NAME(name, weight, fault) #name,
#define WEIGHT(name, weight, fault) weight,
#define FAULT(name, weight, fault) fault,
static const char *const names[] = {SIM_STEPS(NAME)};
static const uint32_t weights[] = {SIM_STEPS(WEIGHT)};
static const uint32_t faults[] = {SIM_STEPS(FAULT)};
#undef NAME
#undef WEIGHT
#undef FAULT

/* Each plan leaves some classes of faults out, so that not everything happens everywhere. */
static uint32_t draw_classes(sim_random *random) {
    uint32_t mask = 1;
    if (sim_draw(random, 8) == 0) return mask; /* calm */
    uint32_t among = 1 + sim_draw(random, 3);
    for (uint32_t i = 1; i < SIM_FAULTS; i++)
        if (sim_draw(random, 4) < among) mask |= 1u << i;
    return mask;
}

static uint32_t draw_kind(sim_random *random, uint32_t classes) {
    uint32_t total = 0;
    for (uint32_t i = 0; i < SIM_STEP_END; i++) total += classes >> faults[i] & 1 ? weights[i] : 0;
    uint32_t at = sim_draw(random, total);
    for (uint32_t i = 0; i < SIM_STEP_END; i++) {
        uint32_t weight = classes >> faults[i] & 1 ? weights[i] : 0;
        if (at < weight) return i;
        at -= weight;
    }
    return SIM_commit;
}

/* In worlds with places or stores much of what happens is about these. */
static uint32_t draw_step_kind(sim_random *random, uint32_t classes, sim_kind kind) {
    static const uint32_t places[] = {SIM_place, SIM_place, SIM_place, SIM_work, SIM_work, SIM_die, SIM_die, SIM_stop};
    static const uint32_t stores[] = {SIM_shut, SIM_power, SIM_power, SIM_restart,
                                      SIM_copy, SIM_copy,  SIM_swap,  SIM_disk};
    bool own = (kind.places || kind.stores) && sim_draw(random, 5) == 0;
    if (!own) return draw_kind(random, classes);
    bool store = kind.stores && (!kind.places || sim_draw(random, 2));
    return store ? stores[sim_draw(random, 8)] : places[sim_draw(random, 8)];
}

static sim_step draw_step(sim_random *random, uint32_t kind, uint32_t span) {
    sim_step step = {.kind = kind, .at = sim_draw(random, span)};
    step.a = sim_draw(random, 1 << 16);
    step.b = sim_draw(random, 1 << 16);
    step.x = sim_draw(random, 1u << 31);
    return step;
}

static int in_time(const void *a, const void *b) {
    const sim_step *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->x < y->x ? -1 : x->x > y->x;
}

void sim_plan_make(sim_plan *plan, uint64_t seed, sim_kind kind) {
    uint64_t flavour = (uint64_t)kind.deep + 2 * (uint64_t)kind.places + 4 * (uint64_t)kind.stores;
    bool deep = kind.deep;
    sim_random random = sim_stream(seed, 1, flavour);
    uint32_t first = 2 + sim_draw(&random, 8), count = first + 20 + sim_draw(&random, deep ? 400 : 110);
    uint32_t span = 2000 + sim_draw(&random, 30000), classes = draw_classes(&random);
    *plan = (sim_plan){.seed = seed, .hosts = 2 + sim_draw(&random, deep ? SIM_HOSTS - 1 : 5), .len = count};
    plan->steps = calloc(count, sizeof *plan->steps);
    for (uint32_t i = 0; i < count; i++)
        plan->steps[i] =
            draw_step(&random, i < first ? SIM_hold : draw_step_kind(&random, classes, kind), i < first ? 20 : span);
    qsort(plan->steps, count, sizeof *plan->steps, in_time);
}

void sim_plan_free(sim_plan *plan) {
    free(plan->steps);
    *plan = (sim_plan){0};
}

void sim_plan_copy(sim_plan *to, const sim_plan *from) {
    *to = *from;
    to->steps = calloc(from->len + 1, sizeof *to->steps);
    if (from->len) memcpy(to->steps, from->steps, from->len * sizeof *to->steps);
}

bool sim_plan_uses(const sim_plan *plan, uint32_t kind) {
    for (size_t i = 0; i < plan->len; i++)
        if (plan->steps[i].kind == kind) return true;
    return false;
}

/* ---- as text: seed hosts step:at:a:b:x … ---- */

void sim_plan_write(const sim_plan *plan, FILE *out) {
    fprintf(out, "%" PRIu64 " %" PRIu32, plan->seed, plan->hosts);
    for (size_t i = 0; i < plan->len; i++) {
        const sim_step *s = &plan->steps[i];
        fprintf(out, " %s:%" PRIu32 ":%" PRIu32 ":%" PRIu32 ":%" PRIu32, names[s->kind], s->at, s->a, s->b, s->x);
    }
    fputc('\n', out);
}

static bool read_step(const char *text, sim_step *out) {
    char name[16];
    int used = 0;
    if (sscanf(text, "%15[a-z]:%" SCNu32 ":%" SCNu32 ":%" SCNu32 ":%" SCNu32 "%n", name, &out->at, &out->a, &out->b,
               &out->x, &used) != 5)
        return false;
    for (out->kind = 0; out->kind < SIM_STEP_END; out->kind++)
        if (strcmp(names[out->kind], name) == 0) return true;
    return false;
}

bool sim_plan_read(sim_plan *plan, const char *text) {
    int used = 0;
    *plan = (sim_plan){0};
    if (sscanf(text, "%" SCNu64 " %" SCNu32 "%n", &plan->seed, &plan->hosts, &used) != 2) return false;
    if (plan->hosts < 2 || plan->hosts > SIM_HOSTS) return false;
    plan->steps = calloc(strlen(text) / 8 + 1, sizeof *plan->steps);
    for (const char *at = text + used; (at = strchr(at, ' ')) != NULL; plan->len++)
        if (!read_step(++at, &plan->steps[plan->len])) return false;
    return true;
}
