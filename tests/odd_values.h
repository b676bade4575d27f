/* odd_values.h: JSON values that random edits put in place: every kind, and those that have gone wrong elsewhere. Kept
 * plans of the simulator count on their order. */
#ifndef CHORDAL_TESTS_ODD_VALUES_H
#define CHORDAL_TESTS_ODD_VALUES_H

static const char *const odd_values[] = {"1",
                                         "-5",
                                         "2.5",
                                         "null",
                                         "true",
                                         "\"text\"",
                                         "\"\\ud83d\"",
                                         "\"\\ude00\"",
                                         "[]",
                                         "{}",
                                         "[1,[2,{\"x\":3}]]",
                                         "{\"a\":{\"b\":[1,2]},\"__proto__\":1}",
                                         "18446744073709551615",
                                         "1e300",
                                         "\"\""};
#define ODD_VALUES (sizeof odd_values / sizeof *odd_values)

#endif
