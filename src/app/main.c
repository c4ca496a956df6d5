/* The program: finds the command in the table, runs it, and prints an error once on standard error.
 * Of several ranks only rank 0 prints. Commands of a screen or two are here. */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "app.h"
#include "htwave/h5.h"

/* ---- htwave compare: the largest difference of two outputs, in numbers ---- */

static HT_ERR compare(const struct ht_args *args) {
    struct ht_difference d = {.values = 0};
    double eps = 0;
    TRY(ht_args_real(args, "--eps", 0, DBL_MAX, &eps));
    TRY(ht_compare(args->operand[0], args->operand[1], &d));
    struct ht_facts f = ht_facts_open();
    ht_fact(&f, HT_TEXT("dataset", d.dataset), HT_NUM("largest", d.largest),
            HT_NUM("max_abs", d.max_abs), HT_NUM("max_relative", d.max_rel),
            HT_NUM("l2_relative", d.l2_rel), HT_INT("values", d.values), HT_NUM("eps", eps),
            HT_BOOL("equal", d.max_rel <= eps));
    ht_say(&f,
           "%lld values; largest difference in %s: %.6g for values up to %.6g, relative %.6g; "
           "relative L2 of all %.6g\n",
           (long long)d.values, d.dataset, d.max_abs, d.largest, d.max_rel, d.l2_rel);
    TRY(ht_facts_print(&f, args->json));
    /* Written so that NaN is a d. */
    REQUIRE(d.max_rel <= eps, HT_ERR_DIFFERENT,
            "%s and %s differ by %.6g relative to the largest value of %s, more than %g",
            args->operand[0], args->operand[1], d.max_rel, d.dataset, eps);
    return HT_OK;
}

/* ---- htwave devices: the devices and their properties ---- */

/* limits: [double precision]; 0: not measured. */
static void add_device(const struct ht_device_info *info, const struct ht_limits limits[2],
                       struct ht_facts *f) {
    const double copied = ht_copied(limits), both = limits[1].fma_per_s;
    ht_fact(f, HT_OPEN(NULL, '{'), HT_INT("index", info->index), HT_TEXT("name", info->name),
            HT_TEXT("vendor", info->vendor), HT_TEXT("platform", info->platform),
            HT_TEXT("driver", info->driver), HT_TEXT("backend", info->backend),
            HT_TEXT("id", info->id), HT_BOOL("gpu", info->gpu), HT_BOOL("fp64", info->fp64),
            HT_INT("memory_bytes", info->memory), HT_INT("max_buffer_bytes", info->max_buffer),
            HT_INT("local_memory_bytes", info->local_memory), HT_INT("max_group", info->max_group),
            HT_INT("compute_units", info->compute_units), HT_LIMIT_FACTS(limits), HT_CLOSE('}'));
    ht_say(f,
           "%d: %s\n   %s, %s, %s, driver %s\n"
           "   memory %s, largest buffer %s, local memory %s, groups of %lld, %d compute units, "
           "%s\n",
           info->index, info->name, info->backend, info->gpu ? "GPU" : "no GPU", info->platform,
           info->driver, HT_BYTES(info->memory), HT_BYTES(info->max_buffer),
           HT_BYTES(info->local_memory), (long long)info->max_group, info->compute_units,
           info->fp64 ? "single and double" : "single only");
    if (copied > 0)
        ht_say(f, "   copies %.4g GB/s, single %.4g GFMA/s%s\n", copied * 1e-9,
               limits[0].fma_per_s * 1e-9,
               both > 0 ? HT_KEY(", double %.4g GFMA/s", both * 1e-9) : "");
}

static HT_ERR devices(const struct ht_args *args) {
    int count = 0;
    HT_FREED struct ht_device_info *infos = NULL;
    HT_FREED char *cache = NULL;
    TRY(ht_device_list(&count, &infos));
    TRY(ht_cache_directory("auto", &cache));
    HT_ENDED(ht_facts_free) struct ht_facts f = ht_facts_open();
    ht_fact(&f, HT_OPEN("devices", '['));
    for (int i = 0; i < count; i++) {
        HT_ENDED(ht_device_end) struct ht_device *device = NULL;
        struct ht_limits limits[2] = {{0}};
        if (ht_args_value(args, "--measure")) {
            TRY(ht_device_open("auto", HT_KEY("%d", infos[i].index), 0, &device));
            ht_device_cache(device, cache);
            TRY(ht_both_limits(device, true, limits));
        }
        add_device(&infos[i], limits, &f);
    }
    /* Back ends without devices, with the reason. */
    const char *name;
    bool built;
    ht_fact(&f, HT_CLOSE(']'), HT_OPEN("missing", '{'));
    for (int b = 0; (name = ht_device_backend(b, &built)) != NULL; b++) {
        const char *missing = ht_device_missing(name);
        if (missing == NULL) continue;
        ht_fact(&f, HT_TEXT(name, missing));
        ht_say(&f, "no %s: %s\n", name, missing);
    }
    ht_fact(&f, HT_CLOSE('}'));
    ht_say(&f, "device.select takes a number, a part of a name, gpu or cpu; device.backend = "
               "\"oracle\" needs none.\n");
    return ht_facts_print(&f, args->json);
}

/* ---- htwave kernel-text: what a run would hand to the device's compiler ---- */

/* With --ptx the text is that of an NVIDIA device of that architecture. */
static HT_ERR kernel_text(const struct ht_args *args) {
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    HT_ENDED(ht_simulation_end) struct ht_simulation *sim = NULL;
    HT_FREED_TEXT struct ht_text text = {0};
    struct ht_integers ptx = {0};
    TRY(ht_args_integers(args, "--ptx", 1, 999, &ptx)); /* 10 times the architecture */
    TRY(ht_params_read(args->operand[0], args->count - 1, args->operand + 1, &params));
    TRY(ht_simulation_plan(params, NULL, NULL, &sim));
    REQUIRE(sim->device != NULL, HT_ERR_DEVICE, "no device, so no kernels: %s",
            sim->no_device ? sim->no_device : "device.backend is \"oracle\"");
    if (ptx.count > 0) sim->kernels.spec[0].ptx = ptx.number[0];
    TRY(ht_kernel_text(sim->kernels.variant, &sim->kernels.spec[0], &sim->kernels.shape[0], &text));
    return ht_args_print(&text);
}

/* ---- htwave --version: the parts of this program ---- */

/* The Makefile sets it where it knows the commit. */
#ifndef HT_COMMIT
#define HT_COMMIT ""
#endif

#define OVERRIDES "key=value replaces a value of FILE; htwave --help-config lists all keys."
/* Added to the help of commands that several ranks may run. */
#define SLABS                                                               \
    "\n\nUnder mpiexec each process gets a slab of x3 planes of a grid in " \
    "three\ndimensions and one of its machine's devices, in turn. Keys: "   \
    "parallel.*"

static const struct ht_command commands[] = {
    {.name = "run",
     .arguments = "FILE [key=value ...]",
     .help = "simulate what FILE describes",
     .flag = {{"--anew", NULL, "with shots: runs those again that are finished"}},
     .json = true,
     .ranks = true,
     .more = OVERRIDES SLABS,
     .run = ht_command_run},
    {.name = "data",
     .arguments = "FILE [key=value ...]",
     .help = "the traces of each shot alone, as data for tests of gradients",
     .flag = {{"--anew", NULL, "replaces files that are there, whatever they are"}},
     .json = true,
     .ranks = true,
     .more =
         "Without a list `shots` each group of sources is a shot with all receivers. Shot N is\n"
         "written to its file `data`, by default obs/shot-N.h5 beside FILE.\n" OVERRIDES SLABS,
     .run = ht_command_data},
    {.name = "gradient",
     .arguments = "FILE [key=value ...]",
     .help = "misfit of the shots' traces to data, and its gradient by the medium",
     .flag = {{"--anew", NULL, "forgets the shots of a call that did not end"}},
     .json = true,
     .ranks = true,
     .more = "Shots and their files `data` as for `htwave data`; keys of gradient say by what and\n"
             "how. Writes gradient.h5 in output.directory.\n" OVERRIDES SLABS,
     .run = ht_command_gradient},
    {.name = "continue",
     .arguments = "DIR [key=value ...]",
     .help = "go on from the last checkpoint of the run in DIR",
     .json = true,
     .ranks = true,
     .more = "Runs write checkpoints where output.checkpoint.seconds (or .every) asks for them.\n"
             "DIR/input.cfg is the input. time.end and keys of output, device and parallel may\n"
             "change, and the number of ranks; device.precision may not.\n" OVERRIDES SLABS,
     .run = ht_command_continue},
    {.name = "check",
     .arguments = "FILE [key=value ...]",
     .help = "read and plan a run: memory, steps, expected time; run nothing",
     .flag = {{"--model", "DIR",
               "write model.h5 and pictures of the model with sources and receivers"},
              {"--error", "E", "which scheme, order and grid err by at most E, and their cost"},
              {"--wavelengths", "W", "for --error (default: time.end times the frequency)"},
              {"--machine", "FILE", "gone: bench/scaling.py --model FILE predicts scaling"}},
     .json = true,
     .ranks = true,
     .more = OVERRIDES "\n\n--error needs a frequency: that of the sources, of the initial wave, "
                       "or\ninitial.frequency. It plans and times some runs of FILE." SLABS,
     .run = ht_command_check},
    {.name = "converge",
     .arguments = "FILE [key=value ...]",
     .help = "errors and observed orders over a list of grids",
     .flag = {{"--cells", "LIST", "cells along x1, as 4,6,8; other axes in proportion"},
              {"--order", "LIST", "orders N, as 1,2,3 (default: the file's)"},
              {"--min-order", "X",
               "exit with 4 when the last order observed is below X, or none is"}},
     .json = true,
     .ranks = true,
     .more = "The initial data must have a known solution at the end time.\n"
             "Nothing is written to output.directory.\n" OVERRIDES SLABS,
     .run = ht_command_converge},
    {.name = "devices",
     .arguments = "",
     .help = "devices that can be used, and their properties",
     .flag = {{"--measure", NULL, "also copy bandwidth and arithmetic"}},
     .json = true,
     .run = devices},
    {.name = "describe",
     .arguments = "[SYSTEM]",
     .help = "equations, fields, medium and boundaries of a system",
     .json = true,
     .run = ht_command_describe},
    {.name = "compare",
     .arguments = "A B",
     .help = "largest difference of two output files or directories",
     .flag = {{"--eps", "X", "exit with 4 above this relative difference (default 0)"}},
     .json = true,
     .more = "A directory stands for its last snapshot, or the traces of all its shots.\n"
             "The largest difference of each dataset is divided by its largest value\n"
             "in either file; --eps judges the worst dataset. Relative L2 is over all\n"
             "datasets.",
     .run = compare},
    {.name = "bench",
     .arguments = "[rates]",
     .help = "rates of the kernels beside the device's limits",
     .flag = {HT_SWEEP_FLAGS,
              {"--cells", "N", "along each axis (default: what fits and ends soon)"},
              {"--gib", "G", "largest state of both grids (default 6)"},
              {"--seconds", "X", "in all (default 600, 60 on a CPU)"},
              {"--stages", "Q", "of the Taylor series (default: all)"},
              {"--each", NULL, "kernels of variants of two one by one, too"},
              {"--group", "N", "cells along x1 per group (default: chosen)"},
              {"--rows", "N", "along x2 per group"},
              {"--planes", "N", "along x3 per group"},
              {"--out", "DIR", "of the results (default bench-out)"},
              {"--csv", NULL, "rows as CSV on standard output"}},
     .any = true,
     .json = true,
     .more =
         "Writes bench.csv and bench.json; tools/plot.py draws the CSV. --device all measures one "
         "device\nafter the other, but simulators, and shows them side by side. Every program is "
         "compared with the\nreference before it is timed.\n\n"
         "--orders are N of Hermite methods and orders in space of fd. Wavelengths, "
         "media,\nabsorbing layers and scaling: bench/*.py.\nFigures of the paper: "
         "bench/figures.py.",
     .run = ht_command_bench},
    {.name = "tune",
     .arguments = "[FILE [key=value ...]]",
     .help = "find the fastest kernels by timing and store the result",
     .flag = {{"--seconds", "X", "for each class of problems (default 60)"}, HT_SWEEP_FLAGS},
     .json = true,
     .more = "Without FILE: for uniform media, and the systems, dimensions, orders\n"
             "and precisions that the flags select. With FILE only --seconds has an "
             "effect.\nResults are stored in the cache directory; runs with device.variant "
             "or\ndevice.layout \"auto\" use them.\n" OVERRIDES,
     .run = ht_command_tune},
    {.name = "selftest",
     .arguments = "[key=value ...]",
     .help = "compare all kernels with the reference on every device",
     .flag = {{"--device", "NAME", "number, gpu, cpu or a part of its name (default all)"},
              {"--quick", NULL, "some of the problems"},
              {"--only", "TEXT", "rows with this in \"problem, variant, precision\""},
              {"--out", "FILE", "the JSON object, to a file, too"}},
     .json = true,
     .more = "Worst is the largest difference over what rounding explains: up to 1 a row passes.\n"
             "Rates are of small grids. A simulator is tested where --device names it.\n"
             "Keys are those of device, as device.limits.local_memory=16384, which makes devices\n"
             "smaller, but backend, select, precision, variant, layout, selfcheck and tune.",
     .run = ht_command_selftest},
    {.name = "selftest-rows",
     .arguments = "DEVICE FIRST QUICK ONLY [key=value ...]",
     .help = "what selftest runs",
     .hidden = true,
     .run = ht_command_selftest_rows},
    {.name = "kernel-text",
     .arguments = "FILE [key=value ...]",
     .help = "the program text of a run",
     .flag = {{"--ptx", "ARCH", "as for NVIDIA devices, as 90 for 9.0"}},
     .hidden = true,
     .more = OVERRIDES,
     .run = kernel_text},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static HT_ERR fail_unknown(const char *word) {
    const char *names[COMMANDS + 4] = {"help", "--help", "--help-config", "--version"};
    int count = 4;
    for (int i = 0; i < COMMANDS; i++)
        if (!commands[i].hidden) names[count++] = commands[i].name;
    const char *near = ht_text_nearest(word, names, count);
    REQUIRE(strcmp(word, "plot") != 0, HT_ERR_INPUT,
            "plot: unknown command: htwave-plot draws (in the sources tools/plot.py)");
    FAIL(HT_ERR_INPUT, "%s: unknown %s%s%s; htwave --help lists them", HT_SHOWN(word),
         *word == '-' ? "flag" : "command", near ? ", nearest is " : "", near ? near : "");
}

static HT_ERR run_command(struct ht_comm *comm, const struct ht_command *command, int argc,
                          char **argv) {
    struct ht_args args;
    REQUIRE(command->ranks || ht_comm_size(comm) == 1, HT_ERR_INPUT,
            "%s runs in one process, not on %d ranks: run it without mpiexec", command->name,
            ht_comm_size(comm));
    enum ht_err err = ht_args_read(command, argc, argv, &args);
    args.comm = comm;
    if (ht_comm_rank(comm) > 0) ht_log_level_set(HT_LOG_SILENT);
    if (err == HT_OK) err = ht_ranks_check_flags(&args);
    TRY(err);
    if (!args.help) return command->run(&args);
    ht_args_help(command, stdout);
    return HT_OK;
}

static const struct ht_command *find_command(const char *word) {
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(word, commands[i].name) == 0) return &commands[i];
    return NULL;
}

/* htwave help [COMMAND | config] */
static HT_ERR help(int argc, char **argv) {
    const struct ht_command *command = argc > 0 ? find_command(*argv) : NULL;
    if (argc == 0) {
        fputs("htwave: linear waves by Hermite methods and finite differences\n\n", stdout);
        for (int i = 0; i < COMMANDS; i++) {
            if (commands[i].hidden) continue;
            const char *head = HT_KEY("htwave %s %s", commands[i].name, commands[i].arguments);
            fprintf(stdout, "  %-36s %s\n", head, commands[i].help);
        }
        fputs("\n  htwave FILE.cfg [key=value ...]      the same as htwave run\n"
              "  htwave COMMAND --help                flags of a command\n"
              "  htwave --help-config [--markdown]    all keys of an input file\n"
              "  htwave --version [--json]            and what it was built with\n\n"
              "Exit codes: 0 done, 1 failed, 2 wrong input, 3 solution not finite,\n4 compare or "
              "converge found a difference.\n",
              stdout);
    } else if (command)
        ht_args_help(command, stdout);
    else if (strcmp(*argv, "config") == 0)
        ht_params_help(stdout, false);
    else
        return fail_unknown(*argv);
    return HT_OK;
}

/* Refuses arguments from number `first` on, except the flag. */
static HT_ERR check_rest(int argc, char **argv, int first, const char *flag) {
    int rest = first + (flag && argc > first && strcmp(argv[first], flag) == 0);
    REQUIRE(argc <= rest, HT_ERR_INPUT, "%s: \"%s\" is not an argument%s%s", argv[1],
            HT_SHOWN(argv[rest]), flag ? "; it takes " : "", flag ? flag : "");
    return HT_OK;
}

static HT_ERR dispatch(struct ht_comm *comm, int argc, char **argv) {
    /* Ranks print as a single process does, on rank 0 only. */
    if (ht_comm_rank(comm) != 0) {
        ht_log_level_set(HT_LOG_SILENT);
        REQUIRE(freopen("/dev/null", "w", stdout) != NULL, HT_ERR_IO, "cannot open /dev/null: %s",
                strerror(errno));
    }
    TRY(ht_ranks_check_program(comm, argc > 1 ? argv[1] : ""));
    if (argc < 2) return help(0, NULL);
    const char *word = argv[1];
    if (ht_text_find("--help|-h", '|', word) >= 0) return help(0, NULL);
    if (strcmp(word, "help") == 0) {
        TRY(check_rest(argc, argv, 3, NULL));
        return help(argc - 2, argv + 2);
    }
    if (ht_text_find("--version|-V", '|', word) >= 0) {
        TRY(check_rest(argc, argv, 2, "--json"));
        const char *commit = *HT_COMMIT ? HT_COMMIT : NULL, *cairo = ht_picture_cairo(), *name;
        const bool gemm = ht_clblast_missing() == NULL;
        bool built;
        char hdf5[32], mpi[128];
        struct ht_facts f = ht_facts_open();
        ht_h5_version(hdf5, sizeof hdf5);
        ht_comm_library(mpi, sizeof mpi);
        ht_say(&f, "htwave %s\n  commit     %s\n  back ends  ", HT_VERSION,
               commit ? commit : "unknown");
        ht_fact(&f, HT_TEXT("version", HT_VERSION), HT_TEXT("commit", commit),
                HT_OPEN("backends", '['));
        for (int i = 0; (name = ht_device_backend(i, &built)) != NULL; i++) {
            ht_say(&f, "%s%s, ", name, built ? "" : " (not built)");
            if (built) ht_fact(&f, HT_TEXT(NULL, name));
        }
        ht_fact(&f, HT_TEXT(NULL, "oracle"), HT_CLOSE(']'), HT_BOOL("clblast", gemm),
                HT_TEXT("hdf5", hdf5), HT_TEXT("mpi", mpi), HT_TEXT("cairo", cairo));
        ht_say(&f, "oracle; CLBlast%s\n  HDF5       %s\n  MPI        %s\n  pictures   %s%s\n",
               gemm ? "" : " (not built)", hdf5, mpi, cairo ? "cairo " : "none",
               cairo ? cairo : ", built without cairo");
        return ht_facts_print(&f, argc > 2);
    }
    if (strcmp(word, "--help-config") == 0) {
        TRY(check_rest(argc, argv, 2, "--markdown"));
        ht_params_help(stdout, argc > 2);
        return HT_OK;
    }
    const struct ht_command *command = find_command(word);
    if (command) return run_command(comm, command, argc - 2, argv + 2);
    if (ht_file_ends(word, "cfg"))
        return run_command(comm, find_command("run"), argc - 1, argv + 1);
    return fail_unknown(word);
}

int main(int argc, char **argv) {
    struct ht_comm *comm = NULL;
    /* Files get the lowest free descriptors: where the caller has closed a standard stream what is
     * meant for it would go into a file of results. Opened the wrong way around, so that using the
     * stream fails as if it were closed. */
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            _exit(1);
    /* Without the signals a write beyond a limit on file sizes, or to a reader that has gone
     * (head), returns an error. */
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    ht_h5_name_crashes();
    enum ht_err err = ht_comm_start(&comm);
    ht_stop_end(ht_comm_rank(comm) == 0);
    if (err == HT_OK) err = dispatch(comm, argc, argv);
    if (err == HT_OK) err = ht_args_print(&(struct ht_text){.data = NULL});
    err = ht_comm_agree(comm, err);
    int code = ht_err_exit_code(err);
    if (err != HT_OK && ht_comm_rank(comm) == 0) fprintf(stderr, "htwave: %s\n", ht_err_message());
    ht_comm_end(comm, err != HT_OK, code);
    return code;
}
