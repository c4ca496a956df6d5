/* htwave describe: the table of systems as text. */
#include "app.h"

/* "odd in x1" of parity bits. */
static const char *parity_words(unsigned parity, char buffer[40]) {
    ht_text_format(buffer, 40, parity != 0 ? "odd in" : "even");
    for (int k = 0; k < 3; k++)
        if (parity >> k & 1u) ht_text_append(buffer, 40, " x%d", k + 1);
    return buffer;
}

static void add_energy(const struct ht_equations *eq, struct ht_text *text) {
    if (!eq->measured) return;
    ht_text_add(text, "energy      1/2 integral of ");
    HT_EACH_AT(t, const struct ht_energy_term, term, eq->energy, eq->nenergy) {
        int m = term->material;
        const char *name = m >= 0 ? eq->system->material[m].name : "";
        ht_text_add(text, term->gradient ? "%s|grad %s|^2" : "%s%s^2", t ? " + " : "",
                    eq->field[term->field].name);
        if (m >= 0) ht_text_add(text, strchr(name, '/') ? "/(%s)" : "/%s", name);
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

static void add_medium(const struct ht_system *system, struct ht_facts *f) {
    ht_fact(f, HT_OPEN("parameters", '['));
    HT_EACH_AT(p, const struct ht_parameter, row, system->parameter, system->nparameters) {
        char meaning[160] = "", entry[80]; /* "speed of sound, or bulk modulus" */
        for (int i = 0; ht_alternative(row->meanings, i, entry, sizeof entry); i++)
            ht_text_append(meaning, sizeof meaning, "%s%s", i ? ", or " : "", entry);
        if (row->vector) ht_text_append(meaning, sizeof meaning, " along x%d", row->axis + 1);
        ht_say(f, "%-11s medium.%-16s %s (default %g)\n", p ? "" : "medium",
               row->vector ? row->vector : row->names, meaning, row->fallback);
        ht_fact(f, HT_OPEN(NULL, '{'), HT_TEXT("name", row->names), HT_TEXT("meaning", meaning),
                HT_NUM("default", row->fallback), HT_CLOSE('}'));
    }
    ht_fact(f, HT_CLOSE(']'), HT_OPEN("materials", '['));
    HT_EACH_AT(m, const struct ht_material, row, system->material, system->nmaterials) {
        ht_say(f, "%-11s %-18s %s%s%s\n", m ? "" : "materials", row->name, row->meaning,
               row->positive ? ", positive" : "", row->varies ? ", may vary in space" : "");
        ht_fact(f, HT_OPEN(NULL, '{'), HT_TEXT("name", row->name), HT_TEXT("meaning", row->meaning),
                HT_BOOL("positive", row->positive), HT_BOOL("varies", row->varies), HT_CLOSE('}'));
    }
    ht_fact(f, HT_CLOSE(']'));
}

static void add_fields(const struct ht_equations *eq, struct ht_facts *f) {
    char words[40];
    ht_fact(f, HT_OPEN("fields", '['));
    HT_EACH_AT(i, const struct ht_field, field, eq->field, eq->nfields) {
        int least = 1; /* dimensions, in which the field exists */
        for (; least < ht_system_largest(eq->system); least++) {
            const struct ht_equations in = ht_equations_make(eq->system, least);
            if (ht_equations_field(&in, field->name) >= 0) break;
        }
        ht_say(f, "%-11s %-4s %-28s %s%s\n", i ? "" : "fields", field->name, field->meaning,
               parity_words(field->parity, words),
               least == 3   ? "; in 3-D"
               : least == 2 ? "; in 2-D and 3-D"
                            : "");
        ht_fact(f, HT_OPEN(NULL, '{'), HT_TEXT("name", field->name),
                HT_TEXT("meaning", field->meaning), HT_OPEN("odd", '['));
        for (int k = 0; k < 3; k++)
            if (field->parity >> k & 1u) ht_fact(f, HT_INT(NULL, k + 1));
        ht_fact(f, HT_CLOSE(']'), HT_INT("min_dimensions", least), HT_CLOSE('}'));
    }
    ht_fact(f, HT_CLOSE(']'));
}

static void add_system(const struct ht_system *system, struct ht_facts *f) {
    const struct ht_equations eq = ht_equations_make(system, ht_system_largest(system));
    const struct ht_wall_kind *side;
    ht_say(f, "%s: %s\nequations   %s\n", system->name, system->title, system->equations);
    ht_fact(f, HT_TEXT("name", system->name), HT_TEXT("title", system->title),
            HT_TEXT("equations", system->equations));
    add_fields(&eq, f);
    add_medium(system, f);
    ht_fact(f, HT_OPEN("boundaries", '['));
    for (int n = 0; (side = ht_wall_at(system, n)) != NULL; n++) {
        ht_say(f, "%-11s %-10s %s\n", n == 0 ? "boundaries" : "", side->name, side->meaning);
        ht_fact(f, HT_TEXT(NULL, side->name));
    }
    ht_fact(f, HT_CLOSE(']'), HT_BOOL("energy_conserved", eq.nenergy > 0));
    add_energy(&eq, &f->text);
    const char *before = "schemes     ";
    ht_fact(f, HT_OPEN("schemes", '['));
    HT_EACH_BY(s, const struct ht_scheme, scheme, ht_scheme_at(s), ht_scheme_count()) {
        struct ht_form form = {.old_sign = 0};
        if (!ht_scheme_steps(scheme, &eq)) continue;
        ht_fact(f, HT_TEXT(NULL, scheme->name));
        (void)scheme->form(&eq, &form);
        ht_say(f, "%s%s", before, scheme->name);
        before = ", ";
        if (form.old_sign == 0) continue;
        ht_say(f, " (");
        add_stored(&eq, form.stored[HT_PRIMARY], &f->text);
        ht_say(f, " at integer times, ");
        add_stored(&eq, form.stored[HT_DUAL], &f->text);
        ht_say(f, " at half-integer times)");
    }
    ht_fact(f, HT_CLOSE(']'));
    ht_say(f, "\n");
    const double k[3] = {1, 0, 0};
    double material[HT_MAX_MATERIALS], real[HT_MAX_FIELDS] = {0}, imaginary[HT_MAX_FIELDS] = {0};
    double omega;
    for (int m = 0; m < HT_MAX_MATERIALS; m++) material[m] = 1;
    ht_say(f, "solutions   plane wave %s, standing mode %s, advected data %s\n",
           ht_equations_plane(&eq, material, k, 1, real, imaginary, &omega) ? "yes" : "no",
           eq.second_order.known ? "yes" : "no", eq.translates ? "yes" : "no");
}

static HT_ERR fail_unknown(const char *word) {
    const char *names[32];
    int count = 0;
    HT_FREED_TEXT struct ht_text list = {0};
    for (int i = 0; i < ht_system_count() && count < 32; i++) {
        names[count++] = ht_system_at(i)->name;
        ht_text_add(&list, "%s%s", i ? ", " : "", ht_system_at(i)->name);
    }
    const char *near = ht_text_nearest(word, names, count);
    TRY(ht_text_status(&list));
    return ht_err_set(HT_ERR_INPUT, "%s: unknown system%s%s; there are %s", word,
                      near ? ", nearest is " : "", near ? near : "", list.data);
}

/* Of all systems the text is their names, titles and equations. */
enum ht_err ht_command_describe(const struct ht_args *args) {
    const char *name = args->count > 0 ? args->operand[0] : NULL;
    const struct ht_system *only = name != NULL ? ht_system_find(name) : NULL;
    if (name != NULL && only == NULL) return fail_unknown(name);
    struct ht_facts f = ht_facts_open();
    if (only != NULL) {
        add_system(only, &f);
        return ht_facts_print(&f, args->json);
    }
    struct ht_text list = {0};
    ht_fact(&f, HT_OPEN("systems", '['));
    HT_EACH_BY(i, const struct ht_system, system, ht_system_at(i), ht_system_count()) {
        ht_text_add(&list, "%-12s %s\n%-12s %s\n", system->name, system->title, "",
                    system->equations);
        ht_fact(&f, HT_OPEN(NULL, '{'));
        add_system(system, &f);
        ht_fact(&f, HT_CLOSE('}'));
    }
    ht_fact(&f, HT_CLOSE(']'));
    ht_text_free(&f.text);
    f.text = list;
    return ht_facts_print(&f, args->json);
}
