"""What the core may not call."""

import re

from tidy import bare_c, check, core_files, main, place

MEMORY = "malloc calloc realloc reallocarray free aligned_alloc posix_memalign strdup strndup alloca"
TEXT = (
    "printf fprintf sprintf snprintf vsnprintf vsprintf asprintf puts fputs fwrite fopen scanf sscanf perror "
    "strtod strtof strtold strtol strtoul strtoll strtoull atoi atol atof strcpy strcat strncpy strncat gets setlocale"
)
WORLD = (
    "time clock gettimeofday clock_gettime localtime gmtime sleep usleep nanosleep rand srand random srandom rand_r "
    "getenv setenv system exit abort _exit atexit signal raise setjmp longjmp fork socket "
    "pthread_create pthread_mutex_lock thrd_create mtx_lock call_once"
)
WHY = {
    **dict.fromkeys(MEMORY.split(), "memory comes from chordal__allocate"),
    **dict.fromkeys(TEXT.split(), "text and numbers are written and read without the C library and its locale"),
    **dict.fromkeys(WORLD.split(), "the core touches nothing of the world outside"),
}
CALL = re.compile(r"(?<![\w.>])(" + "|".join(WHY) + r")\s*\(")
# The few files whose job it is.
FREE = {"base/memory.c": MEMORY.split()}


@check
def banned_calls():
    """No allocation but through the memory context, no stdio, no locale, no clock, no thread, no environment."""
    for room, path in core_files():
        free = FREE.get(f"{room}/{path.name}", ())
        for number, line in enumerate(bare_c(path.read_text()).splitlines(), 1):
            for name in CALL.findall(line):
                if name not in free:
                    yield f"{place(path, number)}: {name}: {WHY[name]}"


ASSERT = re.compile(r"\bassert\s*\((.*)\)\s*;")
EFFECT = re.compile(r"\+\+|--|(?<![=!<>])=(?!=)")


@check
def assertions_without_effect():
    """An assertion changes nothing: a release leaves it out."""
    for _, path in core_files():
        for number, line in enumerate(bare_c(path.read_text()).splitlines(), 1):
            if (found := ASSERT.search(line)) and EFFECT.search(found.group(1)):
                yield f"{place(path, number)}: the assertion changes something"


STATIC = re.compile(r"^\s*static\s+(?!const\b|inline\b|_Noreturn\b)[^()=;]*(?:=|;|\[)")


@check
def static_data_is_const():
    """No mutable static variable (built_objects asks the compiler's output too)."""
    for _, path in core_files():
        for number, line in enumerate(bare_c(path.read_text()).splitlines(), 1):
            if STATIC.match(line) and "_Static_assert" not in line and " const " not in line:
                yield f"{place(path, number)}: static data that is not const"


if __name__ == "__main__":
    main()
