/* The list --media of the case media of htwave bench: names of media that are
 * built in, and input files of the user.
 */
#include <stdlib.h>
#include <string.h>

#include "htwave/params.h"
#include "media.h"

/* ---- a file ---- */

/* What no two grids have in common: sources of Hermite methods need a uniform
 * medium, layers are thick by cells, and random data are other ones on each
 * grid, as those of a file are for one grid only. */
static enum ht_err check_data(const struct ht_params *params) {
    static const char *const types[] = {"zero", "random", "file"};
    static const char *const why[] = {"nothing moves",
                                      "such data differ on every grid",
                                      "such data are those of one grid"};
    if (params->shots.count > 0)
        return ht_params_error(params, "sources",
                               "bench media compares runs from initial data: "
                               "must be left out");
    for (int i = 0; i < 3; i++)
        if (strcmp(params->initial.type, types[i]) == 0)
            return ht_params_error(params, "initial.type",
                                   "%s: bench media needs data that are the "
                                   "same on all grids, as gaussian",
                                   why[i]);
    return HT_OK;
}

static enum ht_err check_sides(const struct ht_params *params) {
    for (int k = 0; k < params->grid.dims; k++) {
        const char *const *side = (const char *const *)params->boundary.side[k];
        char key[32];
        snprintf(key, sizeof key, "boundary.x%d", k + 1);
        if (strcmp(side[0], "absorbing") == 0 ||
            strcmp(side[1], "absorbing") == 0)
            return ht_params_error(params, key,
                                   "bench media compares runs in one box, and "
                                   "absorbing layers are thick by cells: must "
                                   "be periodic or walls");
    }
    return HT_OK;
}

static enum ht_err check_grid(const struct ht_params *params) {
    const struct ht_system *system = ht_system_find(params->system);
    if (system != NULL && !system->second_order.known)
        return ht_params_error(params, "system",
                               "bench media takes acoustic and wave");
    if (params->time.end <= 0)
        return ht_params_error(params, "time.end",
                               "bench media needs a time above 0");
    for (int k = 0; k < params->grid.dims; k++)
        if (params->grid.cells[k] % 2 != 0)
            return ht_params_error(params, "grid.cells",
                                   "bench media takes multiples of half of "
                                   "them: must be even along every axis");
    return HT_OK;
}

/* Every plan says what else is wrong, an unknown system, too. */
static enum ht_err read_grid(const struct ht_params *params,
                             struct ht_media_medium *medium) {
    const struct ht_system *system = ht_system_find(params->system);
    TRY(check_grid(params));
    TRY(check_sides(params));
    TRY(check_data(params));
    medium->dims = params->grid.dims;
    medium->points = 0.5;
    for (int k = 0; k < 3; k++)
        medium->unit[k] = k < medium->dims ? params->grid.cells[k] / 2 : 1;
    if (system != NULL)
        medium->field = system->field[system->second_order.field].name;
    return HT_OK;
}

static const char ending[] = ".cfg";
enum { ENDING = sizeof ending - 1 };

static enum ht_err read_file(const char *path, struct ht_media_medium *medium) {
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    struct ht_params *params = NULL;
    snprintf(medium->name, sizeof medium->name, "%.*s",
             (int)(strlen(base) - ENDING), base);
    medium->file = true;
    medium->jumps = true;
    TRY(ht_params_read(path, 0, NULL, &params));
    enum ht_err err = read_grid(params, medium);
    ht_params_destroy(params);
    return err;
}

/* ---- the list ---- */

static const char *const names[] = {"uniform", "smooth", "rough"};
enum { NAMES = sizeof names / sizeof names[0] };

static enum ht_err read_word(const char *word, struct ht_media_medium *medium) {
    const size_t length = strlen(word);
    medium->field = "p";
    if (length > ENDING && strcmp(word + length - ENDING, ending) == 0) {
        TRY(ht_text_copy(word, &medium->path));
        return read_file(word, medium);
    }
    for (int i = 0; i < NAMES; i++)
        if (strcmp(word, names[i]) == 0) {
            snprintf(medium->name, sizeof medium->name, "%s", word);
            medium->jumps = strcmp(word, "rough") == 0;
            medium->uniform = strcmp(word, "uniform") == 0;
            return HT_OK;
        }
    FAIL(HT_ERR_INPUT,
         "--media %s: must be of uniform, smooth, rough, or an input file "
         "whose name ends in %s",
         HT_SHOWN(word), ending);
}

static enum ht_err add_word(const char *word, struct ht_media *media) {
    struct ht_media_medium *medium = &media->medium[media->count];
    REQUIRE(media->count < HT_MEDIA_MEDIA, HT_ERR_INPUT,
            "--media: takes up to %d media", HT_MEDIA_MEDIA);
    media->count++;
    TRY(read_word(word, medium));
    for (int i = 0; i + 1 < media->count; i++)
        REQUIRE(strcmp(media->medium[i].name, medium->name) != 0, HT_ERR_INPUT,
                "--media %s: two media have the name %s", HT_SHOWN(word),
                HT_SHOWN(medium->name));
    return HT_OK;
}

enum ht_err ht_media_list(const char *list, struct ht_media **out) {
    char *words = NULL;
    TRY(HT_ALLOC(*out, 1));
    TRY(ht_text_copy(list != NULL ? list : "uniform,smooth,rough", &words));
    enum ht_err err = HT_OK;
    for (char *at = words; err == HT_OK && at != NULL;) {
        char *comma = strchr(at, ',');
        if (comma != NULL) *comma = '\0';
        err = add_word(at, *out);
        at = comma != NULL ? comma + 1 : NULL;
    }
    free(words);
    return err;
}

void ht_media_free(struct ht_media *media) {
    for (int i = 0; media != NULL && i < media->count; i++)
        free(media->medium[i].path);
    free(media);
}

enum ht_err ht_bench_media_check(const char *list) {
    struct ht_media *media = NULL;
    enum ht_err err = ht_media_list(list, &media);
    ht_media_free(media);
    return err;
}
