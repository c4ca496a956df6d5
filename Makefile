# Builds, tries and tests htwave; `make help` lists the targets.
#
# Everything built lies under $(B): build/htwave is the program, the rest of
# src/ is in build/libhtwave.a, against which every program in test/ links.
# Other flavours are the same rules with another B, through a make within.
# Flags of the libraries are looked up at first use, not while this file is
# read: at that time they may still have to be installed.

B = build
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
PKG_CONFIG ?= pkg-config
# Command that installs what is missing; DEPS=: trusts that all is there.
DEPS ?= tools/install-deps
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# V=1 shows the commands, WERROR=1 makes warnings errors.
Q = $(if $(V),,@)

VERSION := $(shell cat VERSION 2>/dev/null || \
    git describe --always --dirty 2>/dev/null || echo unknown)

# The commit, where this folder is a checkout and not a release: known to
# version.c only, so that no other file depends on it.
COMMIT := $(if $(wildcard .git),$(shell git describe --always --dirty \
    --abbrev=12 --exclude='*' 2>/dev/null))

# ---- files ----

# The CUDA back end is built where the toolkit's headers (11.2 or later) are
# found: the folder that holds them, or "found" when the compiler knows it. No
# library is linked. CUDA=0 leaves it out, CUDA=1 builds it in any case.
CUDA_ROOTS = $(CUDA_HOME) $(patsubst %/bin/nvcc,%, \
    $(shell command -v nvcc 2>/dev/null)) /usr/local/cuda
CUDA_HEADERS := $(if $(filter 0,$(CUDA)),,$(or $(firstword \
    $(foreach r,$(CUDA_ROOTS),$(patsubst %/nvrtc.h,%, \
    $(and $(wildcard $(r)/include/cuda.h),$(wildcard $(r)/include/nvrtc.h))))), \
    $(shell printf '\043include <cuda.h>\n\043include <nvrtc.h>\n' | \
    $(CC) -E -x c - >/dev/null 2>&1 && echo found)))

# A part that can be left out is a pair x.c | x_none.c, where x may have further
# files x_*.c: WITHOUT="x y".
LEFT_OUT := $(WITHOUT) $(if $(CUDA_HEADERS)$(filter 1,$(CUDA)),,cuda)
PAIRS := $(patsubst %_none.c,%,$(wildcard src/*/*_none.c test/*/*_none.c))
UNUSED := $(foreach p,$(PAIRS),$(if $(filter $(notdir $(p)),$(LEFT_OUT)), \
    $(p).c $(filter-out $(p)_none.c,$(wildcard $(p)_*.c)),$(p)_none.c))
SOURCES := $(filter-out $(UNUSED),$(wildcard src/*/*.c))
KERNELS := $(sort $(wildcard cl/*.cl cl/*.h))
TEST_SOURCES := $(filter-out $(UNUSED),$(wildcard test/*/*.c))
TOOL_SOURCES := $(filter-out tools/embed.c,$(wildcard tools/*.c))
HEADERS := $(wildcard include/htwave/*.h src/*/*.h test/*.h test/*/*.h)
TEST_SCRIPTS := $(shell find test -maxdepth 2 -name '*.sh' -perm -u+x)

MAIN := src/app/main.c
OBJECTS = $(SOURCES:%.c=$(B)/obj/%.o) $(B)/obj/gen/kernels.o
LIBRARY_OBJECTS = $(filter-out $(MAIN:%.c=$(B)/obj/%.o),$(OBJECTS))
OTHER_OBJECTS = $(patsubst %.c,$(B)/obj/%.o,$(TEST_SOURCES) $(TOOL_SOURCES))

# What tools/check runs: long ones first, so that no core idles at the end.
# Programs of test/mpi are for the scripts there, which start several ranks.
PROGRAMS := $(sort $(TEST_SOURCES:test/%.c=%))
ITEMS := $(sort $(filter-out mpi/%,$(PROGRAMS)) $(TEST_SCRIPTS:test/%=%))
MPI_ITEMS := $(filter mpi/%,$(ITEMS))
LONGEST := oclgrind.sh mpi/slabs.sh kernel/nvrtc kernel/variants_flat \
    $(filter kernel/variants_cube_%,$(PROGRAMS)) convergence/leapfrog
LONG_ITEMS := $(filter $(LONGEST),$(ITEMS)) \
    $(filter-out $(LONGEST),$(filter convergence/% kernel/% mpi/%,$(ITEMS)))
ALL_ITEMS := $(LONG_ITEMS) $(filter-out $(LONG_ITEMS),$(ITEMS))
HOST_ITEMS := $(filter config/% io/% unit/%,$(ITEMS))
# Long sums of numbers, which address checks make five times as long, and scripts
# in Python: what they call is called by commands and by other tests of the host,
# too. With address checks at night only.
NUMBERS := config/bench.sh config/check.sh \
    config/examples.sh config/experiments.sh config/laboratory.sh config/library.sh \
    config/long.sh config/directory.sh config/pictures.sh config/places.sh config/plot.sh config/receivers.sh \
    config/shots.sh config/stop.sh \
    config/traces.sh config/tune.sh io/traces unit/absorbing unit/amplification unit/differences \
    unit/energy_watch unit/fd_layers unit/fd_shell unit/fit unit/fit_transpose unit/frame \
    unit/layers unit/medium unit/observers unit/pair_bound unit/plan unit/stability unit/threads
# With address checks: what judges each file's contents and each rank's memory.
ASAN_ITEMS := $(filter-out $(if $(filter all,$(HTWAVE_COVER)),,$(NUMBERS)), \
    $(HOST_ITEMS)) \
    $(filter mpi/comm.sh mpi/output.sh,$(ITEMS))
# Those with fewer cases then: these run without address checks, too.
BOTH := io/continue.sh unit/base
ONCE := $(filter-out $(BOTH),$(ASAN_ITEMS))
# Of make check without address checks; one more at a time than cores, as some sleep.
PLAIN_ALL := $(filter-out kernel/small $(ONCE),$(ALL_ITEMS))
PLAIN_LONG := $(filter $(LONG_ITEMS),$(PLAIN_ALL))
PLAIN := $(filter-out $(LONG_ITEMS),$(PLAIN_ALL))
# Of make check alone: kernels in a simulator, and the cases for it.
SIMULATED := oclgrind.sh kernel/small
# With many jobs on a GPU's host, what judges times runs after the others.
TIMED := config/stop.sh kernel/shell_rate mpi/failure.sh
programs = $(patsubst %,$(B)/test/%,$(filter-out %.sh,$(1)))

# ---- flags ----

# $(call library,--cflags or --libs,names of the module,flags without .pc)
library = $(shell for m in $(2); do \
    $(PKG_CONFIG) --exists $$m 2>/dev/null && exec $(PKG_CONFIG) $(1) $$m; \
    done; test $(1) = --cflags || echo $(3))
libraries = $(call library,$(1),OpenCL,-lOpenCL) \
    $(if $(filter clblast,$(LEFT_OUT)),,$(call library,$(1),clblast,-lclblast)) \
    $(call library,$(1),libconfig,-lconfig) \
    $(call library,$(1),hdf5-mpich hdf5,-lhdf5) \
    $(call library,$(1),mpich mpi,-lmpich) \
    $(if $(filter cairo,$(LEFT_OUT)),,$(call library,$(1),cairo,-lcairo))
# Other people's headers are not held to our warnings.
LIBRARY_CFLAGS = $(eval LIBRARY_CFLAGS := \
    $(patsubst -I%,-isystem %,$(call libraries,--cflags)) \
    $(patsubst %,-isystem %,$(filter-out found,$(CUDA_HEADERS))))$(LIBRARY_CFLAGS)
# MPICH's module names what libmpich.so is linked with itself.
LIBRARY_LIBS = $(eval LIBRARY_LIBS := $(filter-out -lhwloc -lpmix -lucp -lucs, \
    $(call libraries,--libs)))$(LIBRARY_LIBS)

WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion \
    $(if $(WERROR),-Werror)
STANDARD = -std=c11 -D_POSIX_C_SOURCE=200809L -DHT_VERSION='"$(VERSION)"'
ifdef SANITIZE
SANITIZERS = -fsanitize=address,undefined -fno-sanitize-recover=undefined \
    -fno-omit-frame-pointer
# These have 256,000 addresses, which the loader need not write where their place is fixed.
PLACE = -no-pie
endif
# Objects of the program are those of the shared library, which shows HT_API alone.
FLAGS = $(STANDARD) -pthread -fPIC -fvisibility=hidden -Iinclude -Icl -I. -Itest $(LIBRARY_CFLAGS) $(WARNINGS) \
    $(CPPFLAGS) $(CFLAGS) $(SANITIZERS)

# A make within, parallel unless the one outside already is.
SUBMAKE = $(MAKE) --no-print-directory \
    $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))
# Tests are many programs: a linker that takes a third of the time, where it is.
LINKER := $(firstword $(foreach l,lld gold,$(if $(shell command -v ld.$(l)),-fuse-ld=$(l))))
# Lines without variables are what a report names. -Og compiles in half of the
# time of -O1, and what it makes runs as fast.
ASAN = B=build/asan SANITIZE=1 CFLAGS="-Og -g1"

# ---- targets ----

.PHONY: all demo library check check-faults check-gpu check-all check-mpi lint lint-all format \
    FORCE install uninstall clean help program tests plain-tests host-tests tool-programs tidy
.SECONDARY:
.DELETE_ON_ERROR:

all: program ## build the program (default)

demo: ## install missing packages, build, run params/demo.cfg
	@$(DEPS)
	+@$(SUBMAKE) program
	@$(B)/htwave run params/demo.cfg

# What judges the same with address checks is not run without them.
check: ## all tests that need no GPU: kernels by pairs of their options, the host with address checks
	@$(DEPS) --check
	+@$(SUBMAKE) program plain-tests
	+@$(SUBMAKE) $(ASAN) program host-tests
	@HTWAVE_NUMBERS=$(B)/htwave tools/check -j $$(($(JOBS) + 1)) $(PLAIN_LONG:%=$(B):%) $(ASAN_ITEMS:%=build/asan:%) $(PLAIN:%=$(B):%)

check-all: ## with every case of the kernels, without address checks, hours: for the night
	@$(DEPS) --check
	+@$(SUBMAKE) program tests
	@HTWAVE_COVER=all HTWAVE_LIMIT=14400 tools/check -j $(JOBS) \
	    $(patsubst %,$(B):%,$(filter-out $(SIMULATED),$(ALL_ITEMS)))

check-faults: ## each call fails once, 100 kills, a million inputs: two hours
	@$(DEPS) --check
	+@$(SUBMAKE) program tests
	@HTWAVE_COVER=all HTWAVE_LIMIT=14400 tools/check -j $(JOBS) $(patsubst %,$(B):%, \
	    unit/fuzz config/faults.sh io/continue.sh mpi/continue.sh io/archive)

check-gpu: ## the tests on a GPU, with every case of the kernels
	@$(DEPS) --check
	+@$(SUBMAKE) program tests
	@HTWAVE_DEVICE=gpu tools/check -j $(JOBS) \
	    $(patsubst %,$(B):%,$(filter-out oclgrind.sh $(TIMED),$(ALL_ITEMS))) \
	    --alone $(TIMED:%=$(B):%)

check-mpi: ## tests that run several ranks by mpiexec
	@$(DEPS) --check
	+@$(SUBMAKE) program tests
	@tools/check -j $(JOBS) $(MPI_ITEMS:%=$(B):%)

lint: ## format, static checks, layers, two compilers, kernels
	@$(DEPS) --lint
	+@MAKE='$(SUBMAKE)' JOBS=$(JOBS) tools/lint

lint-all: ## the same, longer: for the night
	@$(DEPS) --lint
	+@MAKE='$(SUBMAKE)' JOBS=$(JOBS) tools/lint --all

format: ## clang-format on every C, header and kernel file
	clang-format -i $(SOURCES) $(UNUSED) $(TEST_SOURCES) $(TOOL_SOURCES) \
	    $(wildcard examples/*.c) tools/embed.c $(HEADERS) $(KERNELS)

INSTALL = DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' \
    tools/install $(B) $(SONAME) $(VERSION)
install: program ## to $(DESTDIR)$(PREFIX): program, library, manual, documents, scripts, examples
	@$(INSTALL)

uninstall: ## removes there what install put there
	@$(INSTALL) --remove

clean: ## remove everything built
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile | expand -t 16
	@echo
	@echo "Variables: CC CFLAGS PREFIX LIBDIR DESTDIR JOBS V=1 WERROR=1 DEPS=:"
	@echo "CUDA=0 CUDA=1 CUDA_HOME WITHOUT"

program: $(B)/htwave library ; @:
library: $(B)/libhtwave.so ; @:
tests: $(call programs,$(PROGRAMS)) $(B)/test/pauses.so $(B)/test/htwave-faults ; @:
plain-tests: $(call programs,$(filter-out $(ONCE),$(PROGRAMS))) $(B)/test/pauses.so ; @:
host-tests: $(call programs,$(ASAN_ITEMS)) $(B)/test/pauses.so $(B)/test/htwave-faults ; @:
tool-programs: $(TOOL_SOURCES:%.c=$(B)/%) ; @:
tidy: $(patsubst %.c,$(B)/tidy/%.ok, \
    $(SOURCES) $(TEST_SOURCES) $(TOOL_SOURCES) tools/embed.c) ; @:

# ---- rules ----

$(B)/htwave: $(MAIN:%.c=$(B)/obj/%.o) $(B)/libhtwave.a
	@echo "  LINK  $@"
	$(Q)$(CC) $(CFLAGS) $(SANITIZERS) $(PLACE) $(LINKER) $(LDFLAGS) -o $@ $^ $(LIBRARY_LIBS) -lm -ldl -pthread

# What programs link: the functions of include/htwave/api.h alone. The number is that of what they
# must be compiled anew for.
SONAME = libhtwave.so.0
$(B)/$(SONAME): $(filter-out $(B)/obj/src/app/%,$(LIBRARY_OBJECTS))
	@echo "  LINK  $@"
	$(Q)$(CC) -shared -Wl,-soname,$(SONAME) $(if $(SANITIZE),,-Wl,-z,defs) $(CFLAGS) $(SANITIZERS) $(LINKER) $(LDFLAGS) -o $@ \
	    $^ $(LIBRARY_LIBS) -lm -ldl -pthread

$(B)/libhtwave.so: $(B)/$(SONAME)
	$(Q)ln -sf $(SONAME) $@

# A program of its own per source: build/test/unit/jet, build/tools/layered_model.
$(B)/%: $(B)/obj/%.o $(B)/libhtwave.a
	@echo "  LINK  $@"
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANITIZERS) $(PLACE) $(LINKER) $(LDFLAGS) -o $@ $^ $(LIBRARY_LIBS) -lm -ldl -pthread

# Beside MPI, not part of a program: without the sanitizers.
$(B)/test/pauses.so: test/pauses.c Makefile
	@echo "  LINK  $@"
	@mkdir -p $(@D)
	$(Q)$(CC) $(STANDARD) $(WARNINGS) $(CFLAGS) $(LDFLAGS) -shared -fPIC -o $@ $< -ldl

# The program with calls that fail (test/faults.c, for x86-64).
$(B)/test/htwave-faults: $(B)/obj/test/faults.o $(MAIN:%.c=$(B)/obj/%.o) $(B)/libhtwave.a
	@echo "  LINK  $@"
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANITIZERS) $(PLACE) $(LINKER) $(LDFLAGS) -o $@ $^ $(LIBRARY_LIBS) -lm -ldl \
	    -pthread $$(sed -n 's/^FAULT(\([^,]*\),.*/-Wl,--wrap=\1/p' test/faults.c)

# Made anew each time: an old archive may hold sources removed since.
$(B)/libhtwave.a: $(LIBRARY_OBJECTS)
	@echo "  AR    $@"
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(B)/obj/%.o: %.c Makefile $(wildcard VERSION)
	@echo "  CC    $<"
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) -MMD -MP -c -o $@ $<

# Tests are compiled in a third of the time: what takes long in them is the library's, but for these.
$(patsubst %.c,$(B)/obj/%.o,$(filter-out $(patsubst %,test/unit/%.c,absorbing fd_layers fit stability), \
    $(TEST_SOURCES))): FLAGS += -Og -g1

$(B)/obj/src/app/main.o: FLAGS += -DHT_COMMIT='"$(COMMIT)"'
$(B)/obj/src/app/main.o: $(B)/gen/commit

$(B)/gen/commit: FORCE
	@mkdir -p $(@D)
	@echo '$(COMMIT)' | cmp -s - $@ || echo '$(COMMIT)' >$@

FORCE:

# What steps fields without a device takes the most of the time of address checks.
ifdef SANITIZE
$(patsubst %,$(B)/obj/src/%.o,hermite/oracle num/hermite num/closure fd/fd_plain fd/fd_bound \
    fd/pair fd/pair_faces fd/pair_losses): FLAGS += -O2
endif

$(B)/obj/gen/kernels.o: $(B)/gen/kernels.c
	@echo "  CC    $<"
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) -MMD -MP -c -o $@ $<

# The folder cl changes when a file is added or removed.
$(B)/gen/kernels.c: $(KERNELS) cl $(B)/gen/embed
	@echo "  EMBED $@"
	$(Q)$(B)/gen/embed $@ $(KERNELS)

$(B)/gen/embed: tools/embed.c
	@echo "  CC    $<"
	@mkdir -p $(@D)
	$(Q)$(CC) $(STANDARD) $(WARNINGS) $(CFLAGS) $(LDFLAGS) -o $@ $<

# A file is looked at again when it or a header of it has changed. The analyzer
# follows the paths of a function up to this number of states: up to the 225000
# of its own choice (make lint-all) it takes many times as long.
TIDY_STATES = 8000
# Paths through tests are followed at night only: by day tests are run, with address
# checks, too.
TIDY_TESTS = --checks=-clang-analyzer-*
$(B)/tidy/%.ok: %.c .clang-tidy
	@echo "  TIDY  $<"
	@mkdir -p $(@D)
	$(Q)clang-tidy --quiet $(if $(filter test/%,$<),$(TIDY_TESTS)) $< -- \
	    $(FLAGS) -Xclang -analyzer-config \
	    -Xclang max-nodes=$(TIDY_STATES) 2>$@.err || \
	    { cat $@.err; exit 1; }
	$(Q)clang $(FLAGS) -MM -MP -MT $@ -MF $(@:.ok=.d) $<
	@touch $@

-include $(OBJECTS:.o=.d) $(OTHER_OBJECTS:.o=.d)
-include $(wildcard $(B)/tidy/*/*.d $(B)/tidy/*/*/*.d)
