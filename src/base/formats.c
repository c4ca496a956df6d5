/* Numbers as files hold them, and .npy files (NumPy Enhancement Proposal 1, versions 1 to 3). */
#include "htwave/formats.h"

bool ht_file_ends(const char *path, const char *endings) {
    const char *dot = strrchr(path, '.');
    char ending[8] = "";
    for (size_t i = 0; dot != NULL && dot[i] != '\0' && i < sizeof ending; i++)
        ending[i] = i + 1 < sizeof ending ? (char)tolower((unsigned char)dot[i + 1]) : '\0';
    return ending[0] != '\0' && ht_text_find(endings, '|', ending) >= 0;
}

double ht_number_at(struct ht_number number, const unsigned char *at) {
    uint64_t bits = 0;
    for (int i = 0; i < number.bytes; i++)
        bits |= (uint64_t)at[number.big ? number.bytes - 1 - i : i] << 8 * i;
    const uint64_t sign = (uint64_t)1 << (8 * number.bytes - 1);
    if (number.kind == HT_NUMBER_UNSIGNED) return (double)bits;
    if (number.kind == HT_NUMBER_SIGNED) return (double)(int64_t)((bits ^ sign) - sign);
    /* a sign, 7 bits of an exponent of 16, 64 more than it is, and a fraction of 24 bits */
    if (number.kind == HT_NUMBER_IBM) {
        const double value = ldexp((double)(bits & 0xffffff), 4 * (int)(bits >> 24 & 0x7f) - 280);
        return bits & sign ? -value : value;
    }
    const uint32_t low = (uint32_t)bits;
    float single;
    double value;
    memcpy(&single, &low, sizeof single);
    memcpy(&value, &bits, sizeof value);
    return number.bytes == 4 ? (double)single : value;
}

/* ---- .npy ---- */

/* What follows a key of a header, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }". */
static const char *value_of(const char *header, const char *key) {
    const char *at = strstr(header, key);
    return at ? at + strlen(key) + strspn(at + strlen(key), " :'\"(") : "";
}

/* "<f4"; one byte has no order: "|u1", "|b1". */
static bool parse_number(const char *text, struct ht_number *out) {
    static const char kinds[] = "fiub";
    const char *kind = text[0] ? strchr(kinds, text[1]) : NULL;
    if (strchr("<>|", text[0]) == NULL || kind == NULL || *kind == '\0') return false;
    out->kind = kind == kinds       ? HT_NUMBER_FLOAT
                : kind == kinds + 1 ? HT_NUMBER_SIGNED
                                    : HT_NUMBER_UNSIGNED;
    out->bytes = text[2] - '0';
    out->big = text[0] == '>';
    const bool wide = out->bytes == 4 || out->bytes == 8;
    return text[3] == '\'' && (wide || (kind != kinds && (out->bytes == 1 || out->bytes == 2)));
}

/* The header's text, which ends with a line, and where values begin. */
static HT_ERR read_header(const char *path, char *data, size_t size, struct ht_number *number,
                          bool *fortran, struct ht_array *out, size_t *begin) {
    const unsigned char *bytes = (const unsigned char *)data;
    const bool npy = size > 12 && memcmp(data, "\x93NUMPY", 6) == 0 && bytes[6] <= 3;
    const struct ht_number length = {HT_NUMBER_UNSIGNED, npy && bytes[6] > 1 ? 4 : 2, false};
    const size_t head = 8 + (size_t)length.bytes;
    REQUIRE(npy, HT_ERR_INPUT, "%s is no .npy file: it does not begin with its mark", path);
    *begin = head + (size_t)ht_number_at(length, bytes + 8);
    REQUIRE(*begin <= size, HT_ERR_INPUT, "%s is cut off in its header", path);
    data[*begin - 1] = '\0';
    const char *type = value_of(data + head, "'descr'"), *at = value_of(data + head, "'shape'");
    REQUIRE(
        parse_number(type, number), HT_ERR_INPUT,
        "%s holds values of type %.*s: float32, float64 and integers are read (astype of NumPy)",
        path, (int)ht_least((int64_t)strcspn(type, "'"), 16), HT_SHOWN(type));
    *fortran = *value_of(data + head, "'fortran_order'") == 'T';
    out->count = 1;
    for (char *end; out->rank < 8; out->rank++, at = end + strspn(end, ", ")) {
        const long long extent = strtoll(at, &end, 10);
        if (end == at) break;
        REQUIRE(extent >= 1 && extent <= INT64_MAX / 16 / out->count, HT_ERR_INPUT,
                "%s has extent %lld: no values, or too many", path, extent);
        out->extent[out->rank] = extent;
        out->count *= extent;
    }
    return HT_OK;
}

HT_ERR ht_npy_read(const char *path, struct ht_array *out) {
    HT_FREED char *data = NULL;
    struct ht_number number = {0};
    size_t size, begin;
    bool fortran;
    *out = (struct ht_array){.rank = 0};
    TRY(ht_file_read(path, &data, &size));
    TRY(read_header(path, data, size, &number, &fortran, out, &begin));
    REQUIRE(size - begin == (size_t)(out->count * number.bytes), HT_ERR_INPUT,
            "%s holds %zu bytes of values, but %s of %d bytes need %lld", path, size - begin,
            HT_EXTENTS(out->rank, out->extent), number.bytes,
            (long long)(out->count * number.bytes));
    TRY(HT_ALLOC(out->value, out->count));
    const unsigned char *values = (unsigned char *)data + begin;
    for (int64_t i = 0; i < out->count; i++) {
        int64_t at = fortran ? 0 : i, rest = i, stride = out->count;
        for (int k = out->rank - 1; fortran && k >= 0; rest /= out->extent[k--])
            at += rest % out->extent[k] * (stride /= out->extent[k]);
        out->value[i] = ht_number_at(number, values + at * number.bytes);
    }
    return HT_OK;
}
