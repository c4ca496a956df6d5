/* The program cache: one file per (device, driver, program text), named by the hash of these, which
 * it contains and which are compared in full. Files appear by rename and end in a checksum. What is
 * in them is executed: files and a folder are taken that nobody but the user can write.
 *
 *      "htwave program 1\n"  key bytes  binary bytes  checksum
 *      then the key and the binary (all counts are 64-bit, this machine's) */
#include "backend.h"

#include <sys/stat.h>

static const char magic[] = "htwave program 1\n";

struct header {
    char magic[24];
    uint64_t key_size, binary_size, checksum;
};

/* key: all properties that change the result of compiling the text. */
static HT_ERR find_entry(const char *directory, const struct ht_device_info *info, const char *text,
                         struct ht_text *key, char **path) {
    ht_text_add(key, "%s\n%s\n%s\n%s %d\n%s\n%s", info->backend, info->platform, info->vendor,
                info->name, info->ptx, info->driver, text);
    TRY(ht_text_status(key));
    return ht_text_print(path, "%s/%016llx.bin", directory,
                         (unsigned long long)ht_hash(HT_HASH_SEED, key->data, key->length));
}

static uint64_t checksum(const struct ht_text *key, const void *binary, size_t size) {
    return ht_hash(ht_hash(HT_HASH_SEED, key->data, key->length), binary, size);
}

/* The binary in the contents of a cache file, or NULL. */
static const char *verify(const char *data, size_t size, const struct ht_text *key,
                          size_t *binary_size) {
    struct header header;
    if (size < sizeof header + key->length) return NULL;
    memcpy(&header, data, sizeof header);
    if (memcmp(header.magic, magic, sizeof magic) != 0) return NULL;
    if (header.key_size != key->length) return NULL;
    if (header.binary_size != size - sizeof header - key->length) return NULL;
    const char *stored = data + sizeof header, *binary = stored + key->length;
    if (memcmp(stored, key->data, key->length) != 0) return NULL;
    *binary_size = (size_t)header.binary_size;
    return checksum(key, binary, *binary_size) == header.checksum ? binary : NULL;
}

bool ht_cache_load(const char *directory, const struct ht_device_info *info, const char *text,
                   void **binary, size_t *size) {
    HT_FREED_TEXT struct ht_text key = {0};
    HT_FREED char *data = NULL, *path = NULL;
    size_t length = 0;
    if (find_entry(directory, info, text, &key, &path) != HT_OK || !ht_file_is_private(directory) ||
        !ht_file_is_private(path) || ht_file_read(path, &data, &length) != HT_OK)
        return false;
    const char *inside = verify(data, length, &key, size);
    if (inside == NULL || ht_mem_alloc(*size, 1, binary) != HT_OK) return false;
    memcpy(*binary, inside, *size);
    return true;
}

static HT_ERR store(const char *directory, const struct ht_device_info *info, const char *text,
                    const void *binary, size_t size) {
    HT_FREED_TEXT struct ht_text key = {0};
    HT_FREED char *path = NULL;
    TRY(find_entry(directory, info, text, &key, &path));
    struct header header = {
        .key_size = key.length, .binary_size = size, .checksum = checksum(&key, binary, size)};
    const size_t length = sizeof header + key.length + size;
    memcpy(header.magic, magic, sizeof magic);
    HT_ARRAY(char, whole, length);
    memcpy(whole, &header, sizeof header);
    memcpy(whole + sizeof header, key.data, key.length);
    memcpy(whole + sizeof header + key.length, binary, size);
    /* For the user alone, whatever the umask is. */
    const mode_t old = umask(S_IRWXG | S_IRWXO);
    enum ht_err err = ht_file_make_directory(directory);
    if (err == HT_OK && !ht_file_is_private(directory))
        err = ht_err_set(HT_ERR_IO,
                         "%s belongs to another user, or others can write to "
                         "it: chmod go-w, or choose another device.cache",
                         directory);
    if (err == HT_OK) err = ht_file_write(path, whole, length);
    umask(old);
    return err;
}

bool ht_cache_store(const char *directory, const struct ht_device_info *info, const char *text,
                    const void *binary, size_t size) {
    if (store(directory, info, text, binary, size) == HT_OK) return true;
    if (ht_log_level_get() >= HT_LOG_VERBOSE)
        ht_note("compiled kernels are not cached: %s", ht_err_message());
    return false;
}
