/* fork.c: tells whether the process was forked since. On Linux a page that the kernel empties in the child. */
#include "base/base.h"

#if defined(__wasm__)

void chordal__fork_guard_open(chordal__fork_guard *guard) {
    *guard = (chordal__fork_guard){0};
}
bool chordal__fork_guard_forked(const chordal__fork_guard *guard) {
    (void)guard;
    return false;
}
void chordal__fork_guard_close(chordal__fork_guard *guard) {
    (void)guard;
}

#else

#include <sys/mman.h>
#include <unistd.h>

#define PAGE_LEN ((size_t)4096)

static const uint8_t *emptied_page(void) {
#if defined(__linux__) && defined(MADV_WIPEONFORK)
    uint8_t *page = mmap(NULL, PAGE_LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return NULL;
    if (madvise(page, PAGE_LEN, MADV_WIPEONFORK) == 0) {
        *page = 1;
        return page;
    }
    munmap(page, PAGE_LEN);
#endif
    return NULL;
}

void chordal__fork_guard_open(chordal__fork_guard *guard) {
    guard->page = emptied_page();
    guard->process = (int64_t)getpid();
}

bool chordal__fork_guard_forked(const chordal__fork_guard *guard) {
    if (guard->page) return *(const volatile uint8_t *)guard->page == 0;
    return guard->process != (int64_t)getpid();
}

void chordal__fork_guard_close(chordal__fork_guard *guard) {
    if (guard->page) munmap((void *)(uintptr_t)guard->page, PAGE_LEN);
    guard->page = NULL;
}

#endif
