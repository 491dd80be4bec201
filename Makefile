# SPDX-License-Identifier: GPL-2.0-only
#
# Builds drainctl and drainstress.ko and starts the tests.  It only says what
# depends on what; the work that is more than a compiler call is in tests/.
# Everything made goes below build/.

ifneq ($(words $(CURDIR)),1)
$(error the path of this clone, '$(CURDIR)', holds a space, which make cannot work with)
endif

# ---- variables for the command line; "make help" shows these lines ----

#V CC=gcc             compiler for drainctl and the unit tests
CC		= gcc
#V CFLAGS=            replaces -O2 -g
CFLAGS		= -O2 -g
#V LDFLAGS=-static    drainctl runs in guests without libraries; empty: shared
LDFLAGS		= -static -Wl,--no-warnings
#V KDIR=DIR           (kmod) kernel headers or a built tree: the running kernel's
KDIR		= /lib/modules/$(shell uname -r)/build
#V KERNELS=LIST       (soak, kernels) "debian-6.1 debian-6.12"
KERNELS		?= debian-6.1 debian-6.12
#V K=NAME             (kernel) a kernel of tests/vm/kernels/kernels.txt
K		?=
#V M=                 (mutants) some of tests/mutants/mutants.txt: "M02 M05"
M		?=
#V A=6.1-unfixed B=6.1-fixed  (compare) two kernels, names or built trees; also
#V                    BOOTS=3 FS="ext4 xfs" SLOW_B=20us REPEAT=1: tests/vm/compare --help
#V THREADS=64         (soak) drainctl --threads
THREADS		?= 64
#V DURATION=60        (soak) drainctl --duration: 90, 90s, 5m, 1h
DURATION	?= 60
#V CPUS=4             (soak) CPUs of the guest
CPUS		?= 4
#V MEM=2G             (soak) memory of the guest
MEM		?= 2G
#V SEED=              (soak) drainctl --seed: repeats a run
SEED		?=
#V ARGS=              (soak) more words for drainctl
ARGS		?=

B		:= build
PKGS		:= libnl-genl-3.0 libnl-3.0 liburing jansson gsl

.PHONY: all bench bench-race compare docs kmod kernel kernels soak soak-matrix mutants mutants-peers check check-full lint unit \
	clean distclean help FORCE
.DELETE_ON_ERROR:

all: $(B)/drainctl			## drainctl, in build/ (the default)

# ---- drainctl ----

# The linker warns that parts of libnl, which drainctl does not use, would want
# shared libraries; hence --no-warnings above.

DS_CFLAGS	:= -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -pthread \
		   -Iinclude/uapi -Ictl -Istress -I$(B)/gen \
		   $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
DS_LIBS		:= -lnl-genl-3 -lnl-3 -luring -ljansson -lgsl -lgslcblas -lpthread -lm

CTL_SRC		:= $(sort $(wildcard ctl/*.c stress/*.c))
CTL_OBJ		:= $(CTL_SRC:%.c=$(B)/obj/%.o)

$(B)/drainctl: $(CTL_OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(DS_LIBS)

$(B)/obj/%.o: %.c Makefile | $(B)/gen/kmsg_patterns.h $(B)/gen/version.h
	@mkdir -p $(@D)
	$(CC) $(DS_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# The patterns for kernel log lines are data files that the VM runner reads
# too; drainctl, which may run alone on a test host, carries them along.
$(B)/gen/kmsg_patterns.h: ctl/kmsg-bad.txt ctl/kmsg-ok.txt Makefile
	@mkdir -p $(@D)
	{ echo '/* Made from ctl/kmsg-bad.txt and ctl/kmsg-ok.txt */'; \
	  for list in bad ok; do \
		echo "static const char *const ds_kmsg_$$list[] = {"; \
		sed -e '/^#/d' -e '/^[[:space:]]*$$/d' -e 's/[\\"]/\\&/g' \
		    -e 's/.*/	"&",/' ctl/kmsg-$$list.txt; \
		printf '\tNULL\n};\n'; \
	  done; } >$@

# Only written when it changes.
$(B)/gen/version.h: FORCE
	@mkdir -p $(@D)
	@v=$$(git describe --always --dirty 2>/dev/null || echo unknown); \
	echo "#define DS_VERSION \"$$v\"" | cmp -s - $@ || \
	echo "#define DS_VERSION \"$$v\"" >$@

docs: $(B)/drainctl			## docs/invariants.md, from the table of invariants
	$(B)/drainctl explain --format markdown >docs/invariants.md

# ---- drainstress.ko ----

# The kernel's build writes next to the sources, so it gets a folder of links.
# Type information (BTF) is left out: nothing reads it, and making it wants
# pahole and a vmlinux.
# (Debian's include/config/kernel.release may hold the upstream version only.)
KRELEASE	= $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
			$(KDIR)/include/generated/utsrelease.h 2>/dev/null)
KMOD_OUT	= $(B)/kmod/$(KRELEASE)
KMOD_SRC	:= $(sort $(wildcard kmod/*.c kmod/*.h kmod/Kbuild))
UAPI_SRC	:= $(sort $(wildcard include/uapi/linux/*.h))

ifneq ($(filter kmod,$(MAKECMDGOALS)),)
ifeq ($(KRELEASE),)
$(error no kernel to build for in KDIR=$(KDIR): takes kernel headers or a built tree)
endif
kmod: $(KMOD_OUT)/drainstress.ko

$(KMOD_OUT)/drainstress.ko: $(KMOD_SRC) $(UAPI_SRC) Makefile \
		$(wildcard $(addprefix $(KDIR)/,Module.symvers .config vmlinux))
	@mkdir -p $(KMOD_OUT)
	@if [ "$$(cat $(KMOD_OUT)/kdir 2>/dev/null)" != "$(realpath $(KDIR))" ]; \
	then \
		find $(KMOD_OUT) -mindepth 1 -delete; \
		echo "$(realpath $(KDIR))" >$(KMOD_OUT)/kdir; \
	fi
	@find $(KMOD_OUT) -maxdepth 1 -type l -delete
	@ln -s $(abspath $(KMOD_SRC)) $(KMOD_OUT)/
	$(MAKE) -C $(KDIR) M=$(abspath $(KMOD_OUT)) DS_TOP=$(CURDIR) \
		CONFIG_DEBUG_INFO_BTF_MODULES= modules
	@test -e $@ && touch $@
else
kmod:					## drainstress.ko for KDIR, in build/kmod/RELEASE/
endif

# ---- tests ----

kernels:				## fetch KERNELS into build/kernels/
	tests/vm/fetch-kernel $(KERNELS)

kernel:					## build kernel K from Debian's source, in build/kernels/K/
	@tests/vm/build-kernel $(K)

soak: export KERNELS := $(KERNELS)
soak: export THREADS := $(THREADS)
soak: export DURATION := $(DURATION)
soak: export CPUS := $(CPUS)
soak: export MEM := $(MEM)
soak: export SEED := $(SEED)
soak: export ARGS := $(ARGS)
soak:					## torture each of KERNELS in a VM, and judge it
	@tests/vm/soak

soak-matrix:				## no false alarms: healthy kernels in many set-ups
	@tests/vm/matrix

# A and B of the command line are in the environment already.
compare:				## is B slower than A at removing cached files?  Boots both in turn
	@tests/vm/compare

mutants:				## seeded bugs: kernels broken on purpose, or M of them
	@tests/vm/mutants $(M)

mutants-peers:				## the same under stress-ng and a plain loop, for comparison
	@tests/vm/mutants --peers $(M)

check:					## all tests: lint, unit tests, pages, VM tests
	@tests/run-checks

check-full: export DS_FULL := 1
check-full:				## the same in full length, and a long run: hours
	@tests/run-checks
	@tests/vm/long

bench:					## what drainctl does beside stress-ng, fio and a plain loop
	@tests/bench/compare

bench-race:				## the core's speed, as ratios within one boot
	@tests/bench/race

lint:					## style and static checks
	@tests/lint

# Unit tests: tests/unit/test_*.c, each a program of its own, linked with all of
# drainctl but its main(), under the address and undefined-behaviour sanitizers.
UNIT_FLAGS	:= -O1 -g -fsanitize=address,undefined \
		   -fno-sanitize-recover=undefined -fno-omit-frame-pointer
UNIT_SRC	:= $(sort $(wildcard tests/unit/test_*.c))
UNIT_BIN	:= $(UNIT_SRC:tests/unit/%.c=$(B)/unit/%)
UNIT_OBJ	:= $(patsubst %.c,$(B)/unit/obj/%.o,$(filter-out ctl/main.c,$(CTL_SRC)))
.SECONDARY: $(UNIT_OBJ)

unit: $(UNIT_BIN)			## build and run the unit tests
	@tests/run-unit $(UNIT_BIN)

$(B)/unit/obj/%.o: %.c Makefile | $(B)/gen/kmsg_patterns.h $(B)/gen/version.h
	@mkdir -p $(@D)
	$(CC) $(DS_CFLAGS) $(UNIT_FLAGS) -MMD -MP -c -o $@ $<

$(B)/unit/%: tests/unit/%.c $(UNIT_OBJ) Makefile
	@mkdir -p $(@D)
	$(CC) $(DS_CFLAGS) $(UNIT_FLAGS) -MMD -MP -o $@ $< $(UNIT_OBJ) \
		$(DS_LIBS) -lcmocka

# What drainctl does not ask the module for, for tests/vm/t/check.test.
$(B)/tests/ask: tests/vm/ask.c $(filter-out %/main.o,$(CTL_OBJ)) Makefile
	@mkdir -p $(@D)
	$(CC) $(DS_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.c %.o,$^) $(DS_LIBS)

# What makes folios busy, for tests/vm/t/innocent.test.
$(B)/tests/busy: tests/vm/busy.c Makefile
	@mkdir -p $(@D)
	$(CC) $(DS_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< -luring

# What tests/bench/compare needs in the guest; the plain loop takes the sizes that
# the flood takes.
$(B)/bench/plain: tests/bench/plain.c $(B)/obj/stress/flood.o $(B)/obj/stress/methods.o Makefile
	@mkdir -p $(@D)
	$(CC) $(DS_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.c %.o,$^) -luring

$(B)/bench/profile: tests/bench/profile.c Makefile
	@mkdir -p $(@D)
	$(CC) $(DS_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $<

# ---- the rest ----

clean:					## remove what was built; keep kernels and results
	rm -rf $(B)/obj $(B)/gen $(B)/drainctl $(B)/kmod $(B)/unit $(B)/vm $(B)/lint \
		$(B)/bench/plain $(B)/bench/profile

distclean:				## remove build/
	rm -rf $(B)

help:					## this text
	@echo 'Targets:'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1	\2/p' Makefile | expand -t 16
	@echo 'Variables:'
	@sed -n 's/^#V /  /p' Makefile

-include $(CTL_OBJ:.o=.d) $(UNIT_OBJ:.o=.d) $(UNIT_BIN:=.d)
