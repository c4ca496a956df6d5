/* htwave describe: the table of systems as text. */
#include <string.h>

#include "commands.h"
#include "htwave/json.h"
#include "htwave/problem.h"

/* "odd in x1" of parity bits. */
static const char *parity_words(unsigned parity, char buffer[40]) {
    int used = snprintf(buffer, 40, "even");
    if (parity != 0) used = snprintf(buffer, 40, "odd in");
    for (int k = 0; k < 3; k++)
        if (parity >> k & 1u) used += snprintf(buffer + used, 40 - (size_t)used, " x%d", k + 1);
    return buffer;
}

static void add_energy(const struct ht_equations *eq, struct ht_text *text) {
    const struct ht_system *system = eq->system;
    if (!ht_equations_measured(eq)) return;
    ht_text_add(text, "energy      1/2 integral of ");
    for (int t = 0; t < eq->nenergy; t++) {
        const struct ht_energy_term *term = &eq->energy[t];
        int m = term->material;
        const char *name = m >= 0 ? system->material[m].name : "";
        bool quotient = strchr(name, '/') != NULL;
        ht_text_add(text, term->gradient ? "%s|grad %s|^2" : "%s%s^2", t ? " + " : "",
                    eq->field[term->field].name);
        if (m >= 0) ht_text_add(text, quotient ? "/(%s)" : "/%s", name);
    }
    ht_text_add(text, ", conserved\n");
}

/* The fields of these bits with commas; 0: all. */
static void add_stored(const struct ht_equations *eq, unsigned bits, struct ht_text *text) {
    const char *comma = "";
    for (int f = 0; f < eq->nfields; f++) {
        if (bits != 0 && !(bits >> f & 1u)) continue;
        ht_text_add(text, "%s%s", comma, eq->field[f].name);
        comma = ", ";
    }
}

static void add_schemes(const struct ht_equations *eq, struct ht_text *text) {
    const char *before = "schemes     ";
    for (int s = 0; s < ht_scheme_count(); s++) {
        const struct ht_scheme *scheme = ht_scheme_at(s);
        struct ht_form form;
        if (scheme->form(eq, &form) != NULL) continue;
        ht_text_add(text, "%s%s", before, scheme->name);
        before = ", ";
        if (!scheme->two_level || scheme->method != HT_HERMITE) continue;
        ht_text_add(text, " (");
        add_stored(eq, form.stored[HT_PRIMARY], text);
        ht_text_add(text, " at integer times, ");
        add_stored(eq, form.stored[HT_DUAL], text);
        ht_text_add(text, " at half-integer times)");
    }
    ht_text_add(text, "\n");
}

/* "speed of sound, or bulk modulus", "velocity along x1". */
static const char *parameter_meaning(const struct ht_parameter *row, char *buffer, size_t size) {
    int length = 0;
    size_t used = 0;
    buffer[0] = '\0';
    for (int i = 0; used < size; i++) {
        const char *entry = ht_alternative(row->meanings, i, &length);
        if (!entry) break;
        used +=
            (size_t)snprintf(buffer + used, size - used, "%s%.*s", i ? ", or " : "", length, entry);
    }
    if (row->vector && used < size)
        snprintf(buffer + used, size - used, " along x%d", row->axis + 1);
    return buffer;
}

static void add_parameters(const struct ht_system *system, struct ht_text *text) {
    char meaning[160];
    for (int p = 0; p < system->nparameters; p++) {
        const struct ht_parameter *row = &system->parameter[p];
        ht_text_add(text, "%-11s medium.%-11s %s (default %g)\n", p ? "" : "medium",
                    row->vector ? row->vector : row->names,
                    parameter_meaning(row, meaning, sizeof meaning), row->fallback);
    }
    for (int m = 0; m < system->nmaterials; m++)
        ht_text_add(text, "%-11s %-18s %s%s%s\n", m ? "" : "materials", system->material[m].name,
                    system->material[m].meaning, system->material[m].positive ? ", positive" : "",
                    system->material[m].varies ? ", may vary in space" : "");
}

/* The fewest dimensions in which a field exists. */
static int least_dims(const struct ht_system *system, const char *field) {
    int dims = 1;
    for (; dims < ht_system_largest(system); dims++) {
        const struct ht_equations eq = ht_equations_make(system, dims);
        if (ht_equations_field(&eq, field) >= 0) break;
    }
    return dims;
}

static void add_text(const struct ht_system *system, struct ht_text *text) {
    const struct ht_equations eq = ht_equations_make(system, ht_system_largest(system));
    char words[40];
    ht_text_add(text, "%s: %s\n", system->name, system->title);
    ht_text_add(text, "equations   %s\n", system->equations);
    for (int f = 0; f < eq.nfields; f++) {
        const int least = least_dims(system, eq.field[f].name);
        ht_text_add(text, "%-11s %-4s %-28s %s%s\n", f ? "" : "fields", eq.field[f].name,
                    eq.field[f].meaning, parity_words(eq.field[f].parity, words),
                    least == 3   ? "; in 3-D"
                    : least == 2 ? "; in 2-D and 3-D"
                                 : "");
    }
    add_parameters(system, text);
    ht_text_add(text, "%-11s %-10s %s\n", "boundaries", "periodic",
                "both sides continue at the other");
    for (int w = 0; w < system->nwalls; w++)
        ht_text_add(text, "%-11s %-10s %s\n", "", system->wall[w].name, system->wall[w].meaning);
    add_energy(&eq, text);
    add_schemes(&eq, text);
    ht_text_add(text,
                "solutions   plane wave %s, standing mode %s, advected "
                "data %s\n",
                eq.second_order.known || eq.translates ? "yes" : "no",
                eq.second_order.known ? "yes" : "no", eq.translates ? "yes" : "no");
}

static void add_fields_json(const struct ht_equations *eq, struct ht_json *json) {
    ht_json_open(json, "fields", '[');
    for (int f = 0; f < eq->nfields; f++) {
        const struct ht_field *field = &eq->field[f];
        ht_json_open(json, NULL, '{');
        ht_json_string(json, "name", field->name);
        ht_json_string(json, "meaning", field->meaning);
        ht_json_open(json, "odd", '[');
        for (int k = 0; k < 3; k++)
            if (field->parity >> k & 1u) ht_json_integer(json, NULL, k + 1);
        ht_json_close(json, ']');
        ht_json_integer(json, "min_dimensions", least_dims(eq->system, field->name));
        ht_json_close(json, '}');
    }
    ht_json_close(json, ']');
}

static void add_medium_json(const struct ht_system *system, struct ht_json *json) {
    char meaning[160];
    ht_json_open(json, "parameters", '[');
    for (int p = 0; p < system->nparameters; p++) {
        ht_json_open(json, NULL, '{');
        ht_json_string(json, "name", system->parameter[p].names);
        ht_json_string(json, "meaning",
                       parameter_meaning(&system->parameter[p], meaning, sizeof meaning));
        ht_json_number(json, "default", system->parameter[p].fallback);
        ht_json_close(json, '}');
    }
    ht_json_close(json, ']');
    ht_json_open(json, "materials", '[');
    for (int m = 0; m < system->nmaterials; m++) {
        ht_json_open(json, NULL, '{');
        ht_json_string(json, "name", system->material[m].name);
        ht_json_string(json, "meaning", system->material[m].meaning);
        ht_json_bool(json, "positive", system->material[m].positive);
        ht_json_bool(json, "varies", system->material[m].varies);
        ht_json_close(json, '}');
    }
    ht_json_close(json, ']');
}

static void add_json(const struct ht_system *system, struct ht_json *json) {
    const struct ht_equations eq = ht_equations_make(system, ht_system_largest(system));
    ht_json_open(json, NULL, '{');
    ht_json_string(json, "name", system->name);
    ht_json_string(json, "title", system->title);
    ht_json_string(json, "equations", system->equations);
    add_fields_json(&eq, json);
    add_medium_json(system, json);
    ht_json_open(json, "boundaries", '[');
    ht_json_string(json, NULL, "periodic");
    for (int w = 0; w < system->nwalls; w++) ht_json_string(json, NULL, system->wall[w].name);
    ht_json_close(json, ']');
    ht_json_bool(json, "energy_conserved", eq.nenergy > 0);
    ht_json_open(json, "schemes", '[');
    for (int s = 0; s < ht_scheme_count(); s++)
        if (ht_scheme_steps(ht_scheme_at(s), &eq))
            ht_json_string(json, NULL, ht_scheme_at(s)->name);
    ht_json_close(json, ']');
    ht_json_close(json, '}');
}

static enum ht_err fail_unknown(const char *word) {
    const char *names[32];
    int count = 0;
    struct ht_text list = {0};
    for (int i = 0; i < ht_system_count() && count < 32; i++) {
        names[count++] = ht_system_at(i)->name;
        ht_text_add(&list, "%s%s", i ? ", " : "", ht_system_at(i)->name);
    }
    const char *near = ht_text_nearest(word, names, count);
    enum ht_err err = ht_text_status(&list);
    if (err == HT_OK)
        err = ht_err_set(HT_ERR_INPUT, "%s: unknown system%s%s; there are %s", word,
                         near ? ", nearest is " : "", near ? near : "", list.data);
    ht_text_free(&list);
    return err;
}

static enum ht_err print(const struct ht_system *only, bool as_json) {
    struct ht_json json = {0};
    struct ht_text text = {0};
    if (only != NULL) {
        add_text(only, &text);
        add_json(only, &json);
    } else {
        ht_json_open(&json, NULL, '{');
        ht_json_open(&json, "systems", '[');
        for (int i = 0; i < ht_system_count(); i++) {
            const struct ht_system *system = ht_system_at(i);
            ht_text_add(&text, "%-12s %s\n%-12s %s\n", system->name, system->title, "",
                        system->equations);
            add_json(system, &json);
        }
        ht_json_close(&json, ']');
        ht_json_close(&json, '}');
    }
    ht_json_end(&json);
    return ht_json_or_text(&json, &text, as_json);
}

enum ht_err ht_command_describe(const struct ht_args *args) {
    const struct ht_system *system = NULL;
    if (args->count > 0) {
        system = ht_system_find(args->operand[0]);
        if (system == NULL) return fail_unknown(args->operand[0]);
    }
    return print(system, args->json);
}
