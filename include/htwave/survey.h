/* Surveys: one simulation, planned and compiled once, that runs shots: some of the sources and
 * receivers each, by the list `shots`, or each group of sources with all receivers. */
#pragma once

#include "htwave/simulation.h"

/* A run of a shot alone has these parameters. They share what they point to with those of all,
 * but for the groups of sources and receivers. */
struct ht_survey_shot {
    struct ht_params params; /* output.directory: directory/shot-NNN */
    int group;               /* of the list `shots`, from 1; 0: there is no list */
    bool moved;              /* to a place of the group's file */
    char *data;              /* file of its traces */
};
struct ht_survey {
    const struct ht_params *params; /* of all */
    struct ht_comm *comm;           /* all ranks */
    int count;
    int64_t room; /* of the list: */
    struct ht_survey_shot *shot;
    /* Of this rank's group of ranks, which takes shots group, group + groups, .. Its run is that
     * of the shot that was aimed at, as are plan->params, ->shots and ->receivers. */
    struct ht_simulation *sim;
    struct ht_comm *part; /* that group; NULL: a single rank */
    int group, groups;
    bool narrows;        /* there will be larger groups where a shot does not fit */
    int at;              /* that shot; -1: none yet */
    struct ht_pool pool; /* of the shots */
};

/* Divides the ranks, plans a simulation (ht_simulation_plan) with all sources and receivers, and
 * refuses, with key, value and shot, what cannot run: memory is that of the largest shot. each:
 * without a list `shots` each group of sources is one; else there is one shot of all. Then tune and
 * compile survey->sim. params and comm must outlive the survey. Collective. */
HT_ERR ht_survey_plan(const struct ht_params *params, struct ht_comm *comm, bool each,
                      struct ht_survey **out);
void ht_survey_destroy(struct ht_survey *survey); /* NULL allowed */
HT_ENDS(ht_survey)
/* survey->sim->run is that of a shot, from 0, at rest before its first step: nothing is planned,
 * compiled, fitted or uploaded again but its sources. What was made of the last shot's plan or
 * stepper, such as a sampler, must be gone. Collective in the group of ranks. */
HT_ERR ht_survey_aim(struct ht_survey *survey, int shot);
/* The plan alone becomes that of a shot, -1: of all; before there is a stepper. Collective. */
HT_ERR ht_survey_aim_plan(const struct ht_survey *survey, int shot);
/* The first shot of this rank's group from a number on: count: there is none. */
int ht_survey_next(const struct ht_survey *survey, int from);
/* The error with the shot's number before its message. */
enum ht_err ht_survey_blame(const struct ht_survey *survey, int shot, enum ht_err err);
