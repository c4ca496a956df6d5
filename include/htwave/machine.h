/* A machine with many devices, as predictions need it (docs/scaling.md), read from a file of
 * params/machines.
 */
#ifndef HTWAVE_MACHINE_H
#define HTWAVE_MACHINE_H

#include "htwave/base.h"

/* A connection between two devices. */
struct ht_machine_link {
    double bytes_per_s; /* each direction, both at the same time */
    double latency_s;
    bool staged; /* through host memory on both sides */
};

/* In SI units: the file's GB, GB/s, TFLOP/s and us are converted. */
struct ht_machine {
    char name[128];
    struct {
        double memory;
        double copy;     /* bytes read + written per second */
        double fma[2];   /* per second, [double precision] */
        double rate;     /* cell half-steps per second; 0: from the limits */
        double fraction; /* of the limits that kernels reach */
        double launch_s;
        double boundary; /* factor on the time of a boundary plane's cells */
        int per_node;
    } device;
    struct ht_machine_link links;   /* between the devices of a node */
    struct ht_machine_link network; /* between nodes */
    int per_node;                   /* the network's rate is a node's, not a device's */
    double host_copy;               /* bytes per second between device and host */
};

/* Refuses unknown keys (naming the nearest), missing ones, wrong types and values out of range with
 * key, value, rule, file and line: HT_ERR_INPUT. */
HT_CHECKED enum ht_err ht_machine_read(const char *path, struct ht_machine *out);

#endif
