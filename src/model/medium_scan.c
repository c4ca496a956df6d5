/* One scan of the nodes of both grids before the run: the signal speeds that set the time step,
 * every check of values, and the number of nodes that are too rough for a polynomial. Along axes on
 * which the medium does not depend one node is scanned. Ranks scan the planes that they own and
 * combine their results, largest and smallest values and sums of integers, so that the result is
 * bit for bit that of one rank. A sampled medium is scanned at nodes spread evenly over each axis.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "medium_private.h"

/* Up to so many nodes the scan computes whole polynomials; beyond, only values, and fills count the
 * flattened nodes. A sampled medium is scanned at about so many. */
static const double FULL_SCAN_NODES = 2e6;

/* Odd powers below this fraction of the value count as no gradient. */
static const double FLAT = 1e-10;

/* Nodes per axis tested on each wall; nodes of a chunk, worth a thread. */
enum { WALL_POINTS = 5, LEAST_NODES = 512 };

static void node_position(const struct ht_grid *grid, enum ht_subgrid subgrid,
                          const int64_t index[3], double x[3]) {
    for (int k = 0; k < 3; k++) x[k] = ht_grid_x(grid, subgrid, k, index[k]);
}

/* What a chunk of the scan has found: as the members of struct ht_medium. */
struct found {
    double speed[3], speed_min, slowest;
    int64_t flattened;
    bool vanishes;
};

/* used: what the scheme has at a node; there: of the parameters at the node. Where the density
 * jumps inside a cell the mean of K over it and that of 1/rho belong to different places, and their
 * speed is less than any in the medium. A zero speed along an axis (an advected field that does not
 * move there) is irrelevant for wavelengths: speed_min is the smallest other one. */
static void note_speed(const struct ht_medium *medium, const double *used, const double *there,
                       struct found *found) {
    for (int k = 0; k < medium->grid->dims; k++) {
        const double fast = ht_equations_speed(medium->eq, used, k);
        const double slow = ht_equations_speed(medium->eq, there, k);
        found->speed[k] = fmax(found->speed[k], fast);
        const double slowest = ht_equations_slowest(medium->eq, there, k);
        if (slow > 0 && (found->speed_min == 0 || slow < found->speed_min)) found->speed_min = slow;
        if (slowest > 0 && (found->slowest == 0 || slowest < found->slowest))
            found->slowest = slowest;
    }
}

static void add_found(const struct found *found, struct ht_medium *medium) {
    for (int k = 0; k < 3; k++) medium->speed[k] = fmax(medium->speed[k], found->speed[k]);
    if (found->speed_min > 0 && (medium->speed_min == 0 || found->speed_min < medium->speed_min))
        medium->speed_min = found->speed_min;
    if (found->slowest > 0 && (medium->slowest == 0 || found->slowest < medium->slowest))
        medium->slowest = found->slowest;
    medium->flattened += found->flattened;
    medium->vanishes = medium->vanishes || found->vanishes;
}

static enum ht_err scan_node(const struct ht_medium *medium, const struct ht_medium_work *work,
                             const double x[3], int64_t same, struct found *found) {
    double material[HT_MAX_MATERIALS] = {0}, there[HT_MAX_MATERIALS];
    TRY(ht_medium_point(medium, x, there));
    if (medium->source->counted) {
        bool flattened = false;
        TRY(ht_medium_node(medium, work, x, &flattened));
        if (flattened) found->flattened += same;
        for (int m = 0; m < medium->eq->nmaterials; m++) material[m] = work->material[m][0];
    } else {
        TRY(ht_medium_estimate(medium, work, x, there, material));
    }
    for (int m = 0; m < medium->eq->nmaterials; m++)
        if (medium->eq->system->material[m].zero && there[m] == 0) found->vanishes = true;
    note_speed(medium, material, there, found);
    return HT_OK;
}

/* Nodes to scan per axis, of the whole grid: the given fraction of those along which the medium
 * changes, and both ends; *same: nodes that each represents.
 */
static void visits(const struct ht_medium *medium, enum ht_subgrid subgrid, double part,
                   int64_t count[3], int64_t *same) {
    *same = 1;
    for (int k = 0; k < 3; k++) {
        int64_t nodes = ht_grid_nodes(medium->grid, subgrid, k);
        int64_t some = (int64_t)ceil((double)nodes * part);
        if (some < 2 && nodes > 1) some = 2;
        count[k] = medium->source->depends[k] ? some : 1;
        if (!medium->source->depends[k]) *same *= nodes;
    }
}

static double visits_in_all(const struct ht_medium *medium, double part) {
    double total = 0;
    for (int subgrid = HT_PRIMARY; subgrid <= HT_DUAL; subgrid++) {
        int64_t count[3], same;
        visits(medium, (enum ht_subgrid)subgrid, part, count, &same);
        total += (double)count[0] * (double)count[1] * (double)count[2];
    }
    return total;
}

/* Node p of `points` spread evenly over an axis, from end to end. */
static int64_t spread(int64_t p, int64_t points, int64_t nodes) {
    return points > 1 ? p * (nodes - 1) / (points - 1) : 0;
}

/* Lines of nodes that this rank visits, those of its planes one after the other. */
struct scan {
    const struct ht_medium *medium;
    enum ht_subgrid subgrid;
    int64_t points[3], nodes[3], same;
    int64_t plane; /* the first point along x3 whose plane is its own */
    int64_t lines, chunks;
    struct found *found;  /* of each chunk */
    _Atomic int64_t done; /* lines */
    struct ht_progress progress;
};

static enum ht_err scan_line(const struct scan *scan, const struct ht_medium_work *work,
                             int64_t line, struct found *found) {
    const struct ht_medium *medium = scan->medium;
    const int64_t p2 = line % scan->points[1];
    const int64_t p3 = scan->plane + line / scan->points[1];
    int64_t i[3] = {0, spread(p2, scan->points[1], scan->nodes[1]),
                    spread(p3, scan->points[2], scan->nodes[2])};
    double x[3];
    for (int64_t p1 = 0; p1 < scan->points[0]; p1++) {
        i[0] = spread(p1, scan->points[0], scan->nodes[0]);
        node_position(medium->grid, scan->subgrid, i, x);
        TRY(scan_node(medium, work, x, scan->same, found));
    }
    return HT_OK;
}

static enum ht_err scan_chunk(void *data, int64_t chunk, int worker) {
    struct scan *scan = data;
    const int64_t end = ht_threads_first(scan->lines, scan->chunks, chunk + 1);
    struct ht_medium_work work;
    enum ht_err err = HT_OK;
    TRY(ht_medium_work_create(scan->medium, &work));
    for (int64_t i = ht_threads_first(scan->lines, scan->chunks, chunk); err == HT_OK && i < end;
         i++) {
        err = scan_line(scan, &work, i, &scan->found[chunk]);
        const int64_t done = atomic_fetch_add(&scan->done, 1) + 1;
        if (worker == 0) ht_progress_update(&scan->progress, (double)done);
    }
    ht_medium_work_destroy(&work);
    return err;
}

/* The points along x3 on own planes. */
static void find_planes(struct scan *scan) {
    int64_t first = 0, end = 1, planes = 0;
    if (scan->medium->source->depends[2])
        ht_grid_own(scan->medium->grid, scan->subgrid, &first, &end);
    for (int64_t p = scan->points[2] - 1; p >= 0; p--) {
        const int64_t at = spread(p, scan->points[2], scan->nodes[2]);
        if (at < first || at >= end) continue;
        scan->plane = p;
        planes++;
    }
    scan->lines = planes * scan->points[1];
}

static enum ht_err scan_subgrid(struct ht_medium *medium, enum ht_subgrid subgrid, double part) {
    struct scan scan = {.medium = medium, .subgrid = subgrid};
    visits(medium, subgrid, part, scan.points, &scan.same);
    for (int k = 0; k < 3; k++) scan.nodes[k] = ht_grid_nodes(medium->grid, subgrid, k);
    find_planes(&scan);
    scan.chunks = ht_threads_chunks(scan.lines, LEAST_NODES / scan.points[0]);
    TRY(HT_ALLOC(scan.found, scan.chunks));
    ht_progress_start(&scan.progress, "scanning the medium", (double)scan.lines, "nodes",
                      (double)scan.points[0]);
    enum ht_err err = ht_threads_run(scan.chunks, scan_chunk, &scan);
    ht_progress_end(&scan.progress);
    for (int64_t c = 0; err == HT_OK && c < scan.chunks; c++) add_found(&scan.found[c], medium);
    free(scan.found);
    return err;
}

/* Whether the polynomials of a wall node change across the wall. */
static enum ht_err wall_node(struct ht_medium *medium, const struct ht_medium_work *work, int axis,
                             const int64_t index[3]) {
    const struct ht_jets *jets = medium->source->jets;
    double x[3];
    bool flattened = false;
    node_position(medium->grid, HT_PRIMARY, index, x);
    TRY(ht_medium_node(medium, work, x, &flattened));
    for (int m = 0; m < medium->eq->nmaterials; m++)
        for (int a = 0; a < jets->count; a++)
            if (jets->index[a][axis] % 2 != 0 &&
                fabs(work->material[m][a]) > FLAT * fabs(work->material[m][0]))
                medium->wall_gradient = true;
    return HT_OK;
}

/* Whether the polynomials of some nodes on own planes, spread evenly over the wall at one end of an
 * axis, change across it. */
static enum ht_err wall_side(struct ht_medium *medium, const struct ht_medium_work *work, int axis,
                             int side) {
    int64_t nodes[3], points[3], p[3], index[3], first, end;
    ht_grid_own(medium->grid, HT_PRIMARY, &first, &end);
    for (int k = 0; k < 3; k++) {
        nodes[k] = ht_grid_nodes(medium->grid, HT_PRIMARY, k);
        points[k] = nodes[k] < WALL_POINTS ? nodes[k] : WALL_POINTS;
    }
    points[axis] = 1;
    for (p[2] = 0; p[2] < points[2]; p[2]++) {
        for (p[1] = 0; p[1] < points[1]; p[1]++) {
            for (p[0] = 0; p[0] < points[0]; p[0]++) {
                for (int k = 0; k < 3; k++) index[k] = spread(p[k], points[k], nodes[k]);
                index[axis] = side == 0 ? 0 : nodes[axis] - 1;
                if (index[2] < first || index[2] >= end) continue;
                TRY(wall_node(medium, work, axis, index));
            }
        }
    }
    return HT_OK;
}

static enum ht_err scan_walls(struct ht_medium *medium, const struct ht_medium_work *work) {
    for (int k = 0; k < medium->grid->dims; k++) {
        if (ht_grid_periodic(medium->grid, k)) continue;
        for (int side = 0; side < 2; side++) TRY(wall_side(medium, work, k, side));
    }
    return HT_OK;
}

static enum ht_err scan_varying(struct ht_medium *medium, const struct ht_medium_work *work) {
    struct ht_medium_source *source = medium->source;
    double total = visits_in_all(medium, 1), part = 1;
    int axes = source->depends[0] + source->depends[1] + source->depends[2];
    if (source->sampled && total > FULL_SCAN_NODES) part = pow(FULL_SCAN_NODES / total, 1.0 / axes);
    source->counted = medium->degree == 0 || total <= FULL_SCAN_NODES;
    medium->visited = visits_in_all(medium, part) / total;
    TRY(scan_subgrid(medium, HT_PRIMARY, part));
    TRY(scan_subgrid(medium, HT_DUAL, part));
    return medium->degree > 0 ? scan_walls(medium, work) : HT_OK;
}

/* Combines the results of the ranks. Where nothing depends on x3 each rank has counted the
 * flattened nodes of all planes. */
static enum ht_err combine(struct ht_medium *medium) {
    struct ht_comm *comm = medium->grid->slab.comm;
    double flattened = (double)medium->flattened;
    double least = medium->speed_min > 0 ? medium->speed_min : INFINITY;
    double slowest = medium->slowest > 0 ? medium->slowest : INFINITY;
    double most[7] = {medium->speed[0],      medium->speed[1], medium->speed[2], -least,
                      medium->wall_gradient, medium->vanishes, -slowest};
    TRY(ht_comm_max(comm, 7, most));
    if (medium->source->depends[2]) TRY(ht_comm_sum(comm, 1, &flattened));
    for (int k = 0; k < 3; k++) medium->speed[k] = most[k];
    medium->speed_min = isfinite(most[3]) ? -most[3] : 0;
    medium->slowest = isfinite(most[6]) ? -most[6] : 0;
    medium->wall_gradient = most[4] > 0;
    medium->vanishes = most[5] > 0;
    medium->flattened = (int64_t)flattened;
    return HT_OK;
}

enum ht_err ht_medium_visit(struct ht_medium *medium) {
    struct ht_medium_work work;
    medium->visited = 1;
    if (medium->uniform) {
        TRY(ht_medium_point(medium, medium->grid->lower, medium->constant));
        struct found found = {.flattened = 0};
        note_speed(medium, medium->constant, medium->constant, &found);
        add_found(&found, medium);
        medium->source->counted = true;
        return HT_OK;
    }
    TRY(ht_medium_work_create(medium, &work));
    enum ht_err err = scan_varying(medium, &work);
    ht_medium_work_destroy(&work);
    if (err == HT_OK && ht_grid_cut(medium->grid)) err = combine(medium);
    if (medium->flattened > 0) medium->rough = true;
    return err;
}
