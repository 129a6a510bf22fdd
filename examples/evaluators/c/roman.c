/* roman/1: decimal numbers as Roman numerals, and Roman numerals as decimal numbers, from 1 to 3999.
 *
 * The specification is ../README.md; the evaluators in Rust and WAT beside this one answer the same.
 * Freestanding C11: there is no library, and the module imports nothing. */

#include <stdbool.h>
#include <stdint.h>

/* What the module says about itself: a custom section, which is no part of its memory. */
__asm__(".section .custom_section.evalspan,\"\",@\n"
        ".incbin \"manifest.json\"\n"
        ".text\n");

enum { OPTIONS = 1, MAX_INPUT_BYTES = 64, MAX_PIECE_BYTES = 32, LARGEST = 3999 };

enum code { SYNTAX = 1, RANGE = 4, TOO_LONG = 5 };

/* The options, then the input: manifest.json has the same sizes. An exported variable becomes a global with its
 * address; the linker is told its name with --export. */
__attribute__((visibility("default"))) uint8_t evalspan_request[4 * OPTIONS + MAX_INPUT_BYTES];

static const uint8_t *const input = evalspan_request + 4 * OPTIONS;
static uint32_t length;

/* The longest value has 15 bytes (3888), the longest message 68, with 7 before it. */
static uint8_t response[96];

/* The letters for 1, 5 and 10 of each decimal place; thousands have only the first. */
static const struct {
    uint32_t value;
    char one, five, ten;
} places[] = {{1000, 'M', 0, 0}, {100, 'C', 'D', 'M'}, {10, 'X', 'L', 'C'}, {1, 'I', 'V', 'X'}};

enum { PLACES = sizeof places / sizeof places[0] };

static uint64_t answer(uint32_t bytes) {
    return (uint64_t)bytes << 32 | (uintptr_t)response;
}

static uint64_t fail(enum code code, uint32_t offset, uint32_t piece, const char *message) {
    uint32_t bytes = 0;
    response[bytes++] = 2;
    response[bytes++] = code;
    for (uint32_t shift = 0; shift < 32; shift += 8)
        response[bytes++] = offset >> shift;
    response[bytes++] = piece < MAX_PIECE_BYTES ? piece : MAX_PIECE_BYTES;
    while (*message && bytes < sizeof response)
        response[bytes++] = *message++;
    return answer(bytes);
}

/* A byte that cannot be there; it is quoted where it is ASCII. */
static uint64_t fail_at(uint32_t at, const char *message) {
    return fail(SYNTAX, at, at < length && input[at] < 0x80, message);
}

static bool is_digit(uint32_t at) {
    return at < length && input[at] >= '0' && input[at] <= '9';
}

/* Whether the byte is this letter; 0 is none. */
static bool is(uint32_t at, char letter) {
    return at < length && letter && input[at] == letter;
}

static uint32_t after_space(uint32_t at) {
    while (at < length && (input[at] == ' ' || input[at] == '\t' || input[at] == '\r' || input[at] == '\n'))
        at++;
    return at;
}

/* The number at *at, which moves behind it; beyond LARGEST it is only known to be too large. */
static uint32_t decimal(uint32_t *at) {
    uint32_t number = 0;
    for (; is_digit(*at); ++*at) {
        number = number * 10 + (input[*at] - '0');
        if (number > LARGEST)
            number = LARGEST + 1;
    }
    return number;
}

/* The value of the longest numeral in standard form at *at, which moves behind it. */
static uint32_t roman(uint32_t *at) {
    uint32_t number = 0;
    for (int place = 0; place < PLACES; place++) {
        char one = places[place].one, five = places[place].five, ten = places[place].ten;
        uint32_t digit = 0;
        if (is(*at, one) && is(*at + 1, five)) {
            digit = 4;
            *at += 2;
        } else if (is(*at, one) && is(*at + 1, ten)) {
            digit = 9;
            *at += 2;
        } else {
            if (is(*at, five)) {
                digit = 5;
                ++*at;
            }
            for (int ones = 0; ones < 3 && is(*at, one); ones++) {
                digit++;
                ++*at;
            }
        }
        number += digit * places[place].value;
    }
    return number;
}

static uint64_t answer_decimal(uint32_t number) {
    uint8_t digits[10];
    uint32_t count = 0, bytes = 0;
    do
        digits[count++] = '0' + number % 10;
    while (number /= 10);
    response[bytes++] = 0;
    while (count)
        response[bytes++] = digits[--count];
    return answer(bytes);
}

static uint64_t answer_roman(uint32_t number) {
    uint32_t bytes = 0;
    response[bytes++] = 0;
    for (int place = 0; place < PLACES; place++) {
        uint32_t digit = number / places[place].value % 10;
        if (digit % 5 == 4) {
            response[bytes++] = places[place].one;
            response[bytes++] = digit == 4 ? places[place].five : places[place].ten;
            continue;
        }
        if (digit >= 5)
            response[bytes++] = places[place].five;
        for (uint32_t ones = digit % 5; ones; ones--)
            response[bytes++] = places[place].one;
    }
    return answer(bytes);
}

/* Evaluates the request, whose input has `bytes` bytes. */
__attribute__((export_name("evalspan_evaluate"))) uint64_t evaluate(uint32_t bytes) {
    uint32_t max_input_bytes = evalspan_request[0] | (uint32_t)evalspan_request[1] << 8 |
                               (uint32_t)evalspan_request[2] << 16 | (uint32_t)evalspan_request[3] << 24;
    length = bytes;
    if (length > max_input_bytes)
        return fail(TOO_LONG, max_input_bytes, 0, "the input is longer than max_input_bytes");
    uint32_t start = after_space(0), end = start;
    bool decimal_digits = is_digit(start);
    uint32_t number = decimal_digits ? decimal(&end) : roman(&end);
    if (end == start)
        return fail_at(start, "expected a decimal number or a Roman numeral in capitals");
    if (decimal_digits && input[start] == '0' && end - start > 1)
        return fail(SYNTAX, start, end - start, "write the number without leading zeros");
    uint32_t rest = after_space(end);
    if (rest < length)
        return fail_at(rest, "expected the end, after one number or one numeral in standard form");
    if (!decimal_digits)
        return answer_decimal(number);
    if (number < 1 || number > LARGEST)
        return fail(RANGE, start, end - start, "Roman numerals go from 1 to 3999");
    return answer_roman(number);
}
