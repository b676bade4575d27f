/* The fork guard, and the default entropy. */
#include "base/base.h"
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

static void check_child(const chordal__fork_guard *guard) {
    CHECK(!chordal__fork_guard_forked(guard));
    pid_t child = fork();
    if (child == 0) _exit(chordal__fork_guard_forked(guard) ? 7 : 8);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK_INT(WEXITSTATUS(status), 7);
    CHECK(!chordal__fork_guard_forked(guard));
}

TEST(forked) {
    chordal__fork_guard guard;
    chordal__fork_guard_open(&guard);
    check_child(&guard);
    chordal__fork_guard_close(&guard);
    chordal__fork_guard_close(&guard);
}

TEST(forked_without_a_page) {
    chordal__fork_guard guard;
    chordal__fork_guard_open(&guard);
    chordal__fork_guard_close(&guard);
    check_child(&guard);
}

TEST(entropy) {
    uint8_t a[1000] = {0}, b[1000] = {0};
    size_t zeros = 0;
    CHECK_INT(chordal__entropy(NULL, a, sizeof a), 0);
    CHECK_INT(chordal__entropy(NULL, b, sizeof b - 1), 0);
    CHECK_INT(chordal__entropy(NULL, b, 0), 0);
    CHECK(memcmp(a, b, 16) != 0);
    for (size_t i = 0; i < sizeof a; i++) zeros += a[i] == 0;
    CHECK(zeros < 40);
    CHECK_INT(b[sizeof b - 1], 0);
}

TESTS({"forked", forked}, {"forked_without_a_page", forked_without_a_page}, {"entropy", entropy})
