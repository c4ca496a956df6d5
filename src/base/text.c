/* Memory, growing lists and strings, the nearest name, readable units; hash, random numbers. */
#include "htwave/base.h"

HT_ERR ht_mem_grow(int64_t count, size_t size, void *out, int64_t *room) {
    const int64_t more = 2 * count + 16;
    void *list;
    if (count <= *room) return HT_OK;
    memcpy(&list, out, sizeof list);
    list = (size_t)more <= SIZE_MAX / size ? realloc(list, (size_t)more * size) : NULL;
    REQUIRE(list, HT_ERR_MEMORY, "out of memory: cannot make room for %s",
            HT_BYTES((double)more * (double)size));
    memcpy(out, &list, sizeof list);
    *room = more;
    return HT_OK;
}

void ht_mem_release(void *address) {
    void *memory;
    memcpy(&memory, address, sizeof memory);
    free(memory);
}

/* The first number of a file behind a word; infinite: there is none. */
static double number_in(const char *path, const char *word) {
    char line[128];
    double number = INFINITY;
    FILE *file = fopen(path, "r");
    if (file == NULL) return number;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, word, strlen(word)) == 0 && isinf(number)) {
            char *end;
            const double read = strtod(line + strlen(word), &end);
            if (end != line + strlen(word)) number = read;
        }
    (void)fclose(file);
    return number;
}

/* Of a control group (version 2) the memory of caches counts as used. */
double ht_mem_free(void) {
    const double limit =
        number_in("/sys/fs/cgroup/memory.max", "") - number_in("/sys/fs/cgroup/memory.current", "");
    const double machine = 1024 * number_in("/proc/meminfo", "MemAvailable:");
    return isnan(limit) ? machine : fmax(fmin(machine, limit), 0);
}

struct ht_pool_part {
    struct ht_pool_part *before;
    _Alignas(max_align_t) char memory[];
};

HT_ERR ht_pool_take(struct ht_pool *pool, size_t count, size_t size, void *out) {
    struct ht_pool_part *part = NULL;
    /* Items that make room for the part; more than half of what there can be is refused. */
    const size_t more = size > 0 && count < SIZE_MAX / 2 ? (sizeof *part + size - 1) / size : 0;
    TRY(ht_mem_alloc(count + more, size, &part));
    part->before = pool->last;
    pool->last = part;
    void *memory = part->memory;
    memcpy(out, &memory, sizeof memory);
    return HT_OK;
}

HT_ERR ht_pool_copy(struct ht_pool *pool, const char *string, char **out) {
    const size_t size = strlen(string) + 1;
    TRY(ht_pool_take(pool, size, 1, out));
    memcpy(*out, string, size);
    return HT_OK;
}

void ht_pool_free(struct ht_pool *pool) {
    while (pool->last != NULL) {
        struct ht_pool_part *part = pool->last;
        pool->last = part->before;
        free(part);
    }
}

void ht_text_add_list(struct ht_text *text, const char *fmt, va_list args) {
    va_list again;
    if (text->failed) return;
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, fmt, args);
    const int64_t need = (int64_t)text->length + length + 1;
    text->failed = length < 0 || HT_GROW(text->data, need, text->room) != HT_OK;
    if (!text->failed) {
        vsnprintf(text->data + text->length, (size_t)length + 1, fmt, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void ht_text_add(struct ht_text *text, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    ht_text_add_list(text, fmt, args);
    va_end(args);
}

HT_ERR ht_text_numbered(const char *pattern, int number, char **out) {
    HT_FREED_TEXT struct ht_text text = {0};
    *out = NULL;
    ht_text_add(&text, "%s", "");
    for (; *pattern; pattern++)
        ht_text_add(&text, *pattern == '*' ? "%d" : "%c", *pattern == '*' ? number : *pattern);
    TRY(ht_text_status(&text));
    return ht_text_copy(text.data, out);
}

enum ht_err ht_text_print(char **out, const char *fmt, ...) {
    struct ht_text text = {0};
    va_list args;
    va_start(args, fmt);
    ht_text_add_list(&text, fmt, args);
    va_end(args);
    if (text.failed) ht_text_free(&text);
    *out = text.data;
    REQUIRE(*out, HT_ERR_MEMORY, "out of memory while writing text");
    return HT_OK;
}

void ht_text_add_quoted(struct ht_text *text, const char *string, bool json) {
    ht_text_add(text, "\"");
    for (const char *c = string; *c; c++) {
        const unsigned char byte = (unsigned char)*c;
        if (byte == '"' || byte == '\\' || byte == '\n' || (byte == '\t' && json))
            ht_text_add(text, "\\%c", byte == '\n' ? 'n' : byte == '\t' ? 't' : byte);
        else if (byte < 0x20 || byte == 0x7f)
            ht_text_add(text, json ? "\\u%04x" : "\\x%02x", byte);
        else
            ht_text_add(text, "%c", *c);
    }
    ht_text_add(text, "\"");
}

void ht_text_add_real(struct ht_text *text, int fewest, double value) {
    char digits[40];
    for (int n = fewest; n <= 17; n++)
        if (strtod(ht_text_format(digits, sizeof digits, "%.*g", n, value), NULL) == value) break;
    ht_text_add(text, "%s", digits);
}

HT_ERR ht_text_status(const struct ht_text *text) {
    REQUIRE(!text->failed, HT_ERR_MEMORY, "out of memory while writing text");
    return HT_OK;
}

void ht_text_free(struct ht_text *text) {
    free(text->data);
    *text = (struct ht_text){0};
}

HT_ERR ht_text_copy(const char *string, char **out) {
    return ht_text_print(out, "%s", string);
}

/* ---- text from outside ---- */

/* Bytes of the UTF-8 character at s; 0: invalid, or a control character of the upper half (C1),
 * which terminals interpret. */
static size_t character(const unsigned char *s) {
    static const struct {
        unsigned char mask, head, least; /* least: of the second byte */
        size_t bytes;
    } row[] = {
        {0x80, 0x00, 0, 1}, {0xe0, 0xc0, 0x80, 2}, {0xf0, 0xe0, 0x80, 3}, {0xf8, 0xf0, 0x80, 4}};
    for (int i = 0; i < 4; i++) {
        if ((s[0] & row[i].mask) != row[i].head) continue;
        size_t n = 1;
        while (n < row[i].bytes && (s[n] & 0xc0) == 0x80) n++;
        bool overlong = s[0] == 0xc0 || s[0] == 0xc1 || (s[0] == 0xe0 && s[1] < 0xa0) ||
                        (s[0] == 0xf0 && s[1] < 0x90);
        bool control = s[0] == 0xc2 && s[1] < 0xa0;
        return n == row[i].bytes && !overlong && !control ? n : 0;
    }
    return 0;
}

/* Makes one character at s printable; returns the bytes taken. */
static size_t visible(const char *s, char shown[8]) {
    const unsigned char *byte = (const unsigned char *)s;
    size_t length = character(byte);
    bool control = (*byte < 0x20 && *s != '\t') || *byte == 0x7f;
    if (*s == '\n') {
        snprintf(shown, 8, "\\n");
    } else if (length == 0 || control) {
        snprintf(shown, 8, "\\x%02x", *byte);
    } else {
        memcpy(shown, s, length);
        shown[length] = '\0';
    }
    return length ? length : 1;
}

/* Of the first `length` bytes; returns the bytes written, without the NUL. */
static size_t show_part(const char *string, size_t length, char *buffer, size_t size) {
    size_t whole = 0, head = (size - 4) * 2 / 3, tail = size - 4 - head;
    size_t used = 0, at = 0;
    const char *end = string + length;
    bool dots = false;
    char shown[8];
    for (const char *s = string; s < end; whole += strlen(shown)) s += visible(s, shown);
    for (const char *s = string; s < end;) {
        s += visible(s, shown);
        size_t begin = at;
        at += strlen(shown);
        if (whole >= size && at > head && begin < whole - tail) {
            if (dots) continue;
            snprintf(shown, sizeof shown, "...");
            dots = true;
        }
        memcpy(buffer + used, shown, strlen(shown));
        used += strlen(shown);
    }
    buffer[used] = '\0';
    return used;
}

char *ht_text_show(const char *string, char *buffer, size_t size) {
    show_part(string, strlen(string), buffer, size);
    return buffer;
}

const char *ht_text_show_lines(const char *text, size_t line, char *buffer, size_t size) {
    size_t used = 0;
    while (*text && used + line + 8 <= size) {
        const size_t length = strcspn(text, "\n");
        used += show_part(text, length, buffer + used, line);
        text += length;
        if (*text == '\n') buffer[used++] = *text++;
    }
    buffer[used] = '\0';
    return text;
}

static int lower(char c) {
    return tolower((unsigned char)c);
}

enum { WORD_MAX = 63 };

/* Optimal string alignment distance, case ignored: insertions, deletions, replacements and swaps of
 * neighbours cost one each. Only three rows of the table are stored. */
static int distance(const char *a, const char *b) {
    int table[3][WORD_MAX + 1];
    int rows = (int)strlen(a), columns = (int)strlen(b);
    if (rows > WORD_MAX || columns > WORD_MAX) return INT_MAX / 3;
    for (int j = 0; j <= columns; j++) table[0][j] = j;
    for (int i = 1; i <= rows; i++) {
        int *row = table[i % 3];
        const int *up = table[(i + 2) % 3], *up2 = table[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= columns; j++) {
            row[j] = (int)ht_least(up[j - 1] + (lower(a[i - 1]) != lower(b[j - 1])),
                                   ht_least(up[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = (int)ht_least(row[j], up2[j - 2] + 1);
        }
    }
    return table[rows % 3][columns];
}

const char *ht_text_nearest(const char *word, const char *const *names, int count) {
    const char *best = NULL;
    size_t length = strlen(word);
    int best_distance = 0;
    for (int i = 0; i < count; i++) {
        int d = distance(word, names[i]);
        /* An abbreviation counts as one mistake, whatever its length. */
        if (length >= 3 && strncmp(word, names[i], length) == 0) d = (int)ht_least(d, 1);
        /* Names are suggested with up to a third of the letters wrong. */
        if ((int64_t)d * 3 > ht_most((int64_t)length, (int64_t)strlen(names[i])) ||
            (best && d >= best_distance))
            continue;
        best = names[i];
        best_distance = d;
    }
    return best;
}

int ht_text_find(const char *list, char between, const char *word) {
    const char ends[] = {between, '\0'};
    const size_t length = strlen(word);
    for (int n = 0;; n++) {
        list += strspn(list, " ");
        const size_t size = strcspn(list, ends);
        if (size == length && strncmp(list, word, size) == 0) return n;
        if (list[size] == '\0') return -1;
        list += size + 1;
    }
}

char *ht_text_format(char *buffer, size_t size, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vsnprintf(buffer, size, fmt, args);
    va_end(args);
    return buffer;
}

char *ht_text_append(char *buffer, size_t size, const char *fmt, ...) {
    const size_t used = strlen(buffer);
    va_list args;
    va_start(args, fmt);
    vsnprintf(buffer + used, size - used, fmt, args);
    va_end(args);
    return buffer;
}

char *ht_text_extents(int count, const int64_t *extent, const char *between, char *buffer) {
    ht_text_format(buffer, 192, count > 0 ? "" : "1 (without axes)");
    for (int i = 0; i < count; i++)
        ht_text_append(buffer, 192, "%s%lld", i ? between : "", (long long)extent[i]);
    return buffer;
}

char *ht_text_bytes(double bytes, char *buffer) {
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    int step = 0;
    /* 1023.95 would print as "1024.0" of the smaller unit. */
    for (; bytes >= (step ? 1023.95 : 1023.5) && step < 6; step++) bytes /= 1024;
    return ht_text_format(buffer, 32, "%.*f %s", step ? 1 : 0, fmin(bytes, 1e15), unit[step]);
}

char *ht_text_prefixed(double value, bool padded, char *buffer) {
    static const char *const prefix[] = {"", " k", " M", " G", " T", " P"};
    int step = 0;
    for (; value >= 999.5 && step < 5; step++) value /= 1000;
    const int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    if (padded) return ht_text_format(buffer, 32, "%.*f%s", digits, value, prefix[step]);
    return ht_text_format(buffer, 32, "%.3g%s", value, prefix[step]);
}

/* In one unit, or two, of which the smaller has two digits: "1 h 02 min". */
char *ht_text_seconds(double seconds, char *buffer) {
    if (!(seconds >= 0 && seconds < 1e14)) return ht_text_format(buffer, 32, "unknown time");
    if (seconds < 1e-3) return ht_text_format(buffer, 32, "%.0f us", seconds * 1e6);
    if (seconds < 0.0995) return ht_text_format(buffer, 32, "%.0f ms", seconds * 1e3);
    if (seconds < 59.95) return ht_text_format(buffer, 32, "%.1f s", seconds);
    static const char *const unit[] = {"s", "min", "h", "d"};
    const int u = seconds < 3599.5 ? 1 : seconds < 86370 ? 2 : 3, ratio = u == 3 ? 24 : 60;
    const long long parts = llround(seconds / (u == 3 ? 3600 : u == 2 ? 60 : 1));
    return ht_text_format(buffer, 32, "%lld %s %02lld %s", parts / ratio, unit[u], parts % ratio,
                          unit[u - 1]);
}

/* ---- hash and random numbers ---- */

/* FNV-1a (Fowler, Noll, Vo; draft-eastlake-fnv): for every byte b
 *   h = (h xor b) * 0x100000001b3  mod 2^64.
 * Pieces may be hashed one after the other, the result being the next seed. */
uint64_t ht_hash(uint64_t seed, const void *data, size_t size) {
    const unsigned char *byte = data;
    uint64_t hash = seed;
    for (size_t i = 0; i < size; i++) hash = (hash ^ byte[i]) * 0x100000001b3ULL;
    return hash;
}

/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). Its
 * state is an arithmetic sequence, so the value at an index is computed without the ones before it:
 *    z = seed + (index + 1) * gamma,  gamma = 2^64 / golden ratio (odd),
 *    value = mix(z), a bijection of 64 bits. */
uint64_t ht_rng_bits(uint64_t seed, uint64_t index) {
    uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

double ht_rng_uniform(uint64_t seed, uint64_t index) {
    /* 53 bits: k / 2^52 - 1 is exact, so the values are equally spaced. */
    return (double)(ht_rng_bits(seed, index) >> 11) * 0x1p-52 - 1.0;
}
