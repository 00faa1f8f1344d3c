/* Foreign text on terminals and in logs: what could act on them is shown, all else is printf's. */
#include "support/unit_test.h"
#include "base/context_internal.h"
#include "base/shown_text.h"

#include <string.h>

static void check(const char *expected, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void check(const char *expected, const char *format, ...) {
    char text[256], cut[8];
    va_list arguments;
    va_start(arguments, format);
    assert_int_equal(db_shown_vformat(text, sizeof text, format, arguments), strlen(expected));
    va_end(arguments);
    assert_string_equal(text, expected);
    va_start(arguments, format);
    db_shown_vformat(cut, sizeof cut, format, arguments);
    va_end(arguments);
    assert_memory_equal(cut, expected, strlen(expected) < 7 ? strlen(expected) + 1 : 7);
}

static void what_acts_on_terminals_is_shown(void **state) {
    (void)state;
    check("a\n\\x1b[31mred\\x07\\x0a!\n", "a\n%s!\n", "\x1b[31mred\a\n");
    check("\\x7f \\x09 \\x0d", "%s %s %s", "\x7f", "\t", "\r");
    check("\\xc2\\x9b2J", "%s",
          "\xc2\x9b"
          "2J"); /* CSI of eight bits */
    check("\\xe2\\x80\\xaetxt", "%s",
          "\xe2\x80\xae"
          "txt");                                   /* right to left */
    check("\\xe2\\x80\\xa8", "%s", "\xe2\x80\xa8"); /* a line end */
    check("\\x1b", "%c", 0x1b);
}

static void valid_utf8_stays(void **state) {
    (void)state;
    check("Å µm 測定 \xf0\x9f\x92\x8e", "%s", "Å µm 測定 \xf0\x9f\x92\x8e");
    check("\\xc3", "%s", "\xc3");                   /* cut off */
    check("\\xb5m", "%s", "\xb5m");                 /* Latin-1 */
    check("\\xc0\\xaf", "%s", "\xc0\xaf");          /* longer than need be */
    check("\\xed\\xa0\\x80", "%s", "\xed\xa0\x80"); /* half of a pair */
    check("\\xf5\\x80\\x80\\x80", "%s", "\xf5\x80\x80\x80");
}

static void the_rest_is_as_printf_has_it(void **state) {
    (void)state;
    check("[ab   ] [   ab] [a]", "[%-5s] [%5s] [%.1s]", "ab", "ab", "ab");
    check("[\\x01  ] [ab]", "[%-*s] [%.*s]", 6, "\x01", 2, "abc");
    check("-3 7 7 12345678901 -9 42 x 100%", "%d %zu %lu %lld %ld %u %c 100%%", -3, (size_t)7, 7UL,
          12345678901LL, -9L, 42u, 'x');
    check("1.50 1e+300   2.5 0.25 +3 0x1f 007", "%.2f %g %5.1f %.*g %+d %#x %03d", 1.5, 1e300, 2.5,
          6, 0.25, 3, 31u, 7);
    check("left 3  |", "left %-*d|", 3, 3);
}

static void a_message_may_hold_the_one_before(void **state) {
    db_context *context;
    (void)state;
    assert_int_equal(db_context_create(&context), DB_OK);
    db_record_message(context, "expected %d words, found none", 3);
    db_record_message(context, "list.txt:%d: %s", 7, db_context_message(context));
    assert_string_equal(db_context_message(context), "list.txt:7: expected 3 words, found none");
    db_context_destroy(&context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_acts_on_terminals_is_shown),
        cmocka_unit_test(valid_utf8_stays),
        cmocka_unit_test(the_rest_is_as_printf_has_it),
        cmocka_unit_test(a_message_may_hold_the_one_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
