/* rows.h: how the C programs of the bench take times and print rows of the report: a JSON object a line. */
#ifndef BENCH_ROWS_H
#define BENCH_ROWS_H

#include <stdio.h>
#include <time.h>

static inline double clock_us(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static inline double now_us(void) {
    return clock_us(CLOCK_MONOTONIC);
}

static inline void print_list(const char *name, const double *numbers, int count) {
    printf(", \"%s\": [", name);
    for (int i = 0; i < count; i++) printf("%s%.3f", i ? ", " : "", numbers[i]);
    printf("]");
}

/* A row begins: {… "samples": [ … ] */
static inline void print_samples(const char *name, const char *system, const char *unit, const double *samples,
                                 int count) {
    printf("{\"case\": \"%s\", \"system\": \"%s\", \"unit\": \"%s\"", name, system, unit);
    print_list("samples", samples, count);
}

#endif
