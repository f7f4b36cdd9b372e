# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
#   make demo       two virtual machines, one wire: VIA beside UDP and TCP
#   make demo-local VIA between programs of this machine, beside sockets: no
#                   virtual machine, no root, ten seconds
#   make test       what needs no virtual machine and no root: two minutes
#   make check      every test
#
#   make test T=window          those tests whose name has "window" in it
#   make check K='conformance via_lo'   one step and what it needs
#
#   make            modules, library, tools, tests
#   make modules [KDIR=...]     kernel modules for one kernel
#   make install [DESTDIR= PREFIX=/usr/local]
#   make bench      figures, with the bars they are held to (BENCH_ARGS=--help)
#   make lab        a shell on two nodes
#   make check-full every test on every NIC, level and kernel
#   make soak       hours under fire, can be interrupted (SOAK_ARGS=--help)
#   make mutation   do the tests notice planted defects?
#   make mutation-sim           which of them do simulator and units find?
#   make lint       checkpatch, sparse, W=1, gcc and clang
#
#   DEMO_ARGS, CHECK_ARGS, SOAK_ARGS and BENCH_ARGS are options of what is
#   behind these: make check CHECK_ARGS=--help

B      ?= build
PREFIX ?= /usr/local
CC     ?= gcc
SAN    ?=

# gcc says that ThreadSanitizer does not see fences; they stay nonetheless.
NOTSAN  := $(if $(findstring clang,$(CC)),,-Wno-tsan)

CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Werror
override CFLAGS += -std=gnu11 $(WARN) -Iinclude -Iinclude/uapi \
		   $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer) \
		   $(if $(filter thread,$(SAN)),$(NOTSAN))
override LDFLAGS += $(if $(SAN),-fsanitize=$(SAN))

# The running kernel's headers, else the newest that are installed.
KDIR ?= $(firstword $(wildcard /lib/modules/$(shell uname -r)/build) \
	  $(shell ls -d /usr/src/linux-headers-*-amd64 2>/dev/null | \
		  sort -V | tail -n 1))
KREL  = $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' \
	  $(KDIR)/include/generated/utsrelease.h 2>/dev/null)

LIB_TARGETS  :=
PLUGINS      :=
TOOL_TARGETS :=
TEST_TARGETS :=
INSTALL_HOOKS :=

.PHONY: all
all: modules user

-include vipl/Makefile.inc
-include $(sort $(wildcard providers/*/Makefile.inc))
-include tools/Makefile.inc
-include tools/lab/Makefile.inc
-include tests/unit/Makefile.inc
-include tests/fuzz/Makefile.inc
-include tests/conformance/Makefile.inc
-include tests/samples/Makefile.inc
-include tests/viatest/Makefile.inc
-include tests/sim/Makefile.inc
-include tests/shm/Makefile.inc
-include tests/bench/Makefile.inc
-include tests/ofi/Makefile.inc

.PHONY: lib tools tests user
lib: $(LIB_TARGETS) $(PLUGINS)
tools: $(TOOL_TARGETS)
tests: $(TEST_TARGETS)
user: lib tools tests

# What needs neither kernel headers nor packages of the tests.
.PHONY: local
local: lib tools samples $(B)/tests/bench/sock_lat $(B)/tests/bench/bench_path

# kbuild writes beside the sources, so each kernel gets a copy of them.
KSRC := $(shell find kernel devices include/uapi -name '*.[ch]' 2>/dev/null) \
	Kbuild

.PHONY: modules
modules:
	@test -n "$(KREL)" || { echo "no kernel headers found: apt-get install linux-headers-amd64, or give KDIR=" >&2; exit 1; }
	@echo "modules: for $(KREL), headers in $(KDIR)"
	@mkdir -p $(B)/kbuild/$(KREL) $(B)/modules/$(KREL)
	@cp -u --parents $(KSRC) $(B)/kbuild/$(KREL)/
	@find $(B)/kbuild/$(KREL) -name '*.[ch]' ! -name '*.mod.c' | while read f; do \
		test -e "$${f#$(B)/kbuild/$(KREL)/}" || rm -f "$$f"; done
	$(MAKE) -C $(KDIR) M=$(abspath $(B)/kbuild/$(KREL)) $(KFLAGS) modules
	@cp -u $(B)/kbuild/$(KREL)/*.ko $(B)/modules/$(KREL)/

.PHONY: install install-modules install-udev install-plugins
install: all install-modules install-udev install-plugins $(INSTALL_HOOKS)

install-plugins: $(PLUGINS)
	install -d $(DESTDIR)$(PLUGINDIR)
	$(if $(PLUGINS),install -m 755 $(PLUGINS) $(DESTDIR)$(PLUGINDIR)/)

install-modules:
	install -d $(DESTDIR)/lib/modules/$(KREL)/extra/via
	install -m 644 $(B)/modules/$(KREL)/*.ko \
		$(DESTDIR)/lib/modules/$(KREL)/extra/via/
	depmod -b "$(DESTDIR)/" $(KREL)

install-udev:
	install -d $(DESTDIR)/usr/lib/udev/rules.d $(DESTDIR)/usr/lib/sysusers.d
	install -m 644 tools/udev/60-via.rules $(DESTDIR)/usr/lib/udev/rules.d/
	install -m 644 tools/udev/via.conf $(DESTDIR)/usr/lib/sysusers.d/
	test -n "$(DESTDIR)" || getent group via >/dev/null || groupadd -r via

.PHONY: setup demo demo-local test check check-full soak bench mutation mutation-sim lab lint
setup:
	tools/lab/setup.sh

# T and K reach the shell through the environment, quotes and all.
test:
	@tests/test/test.py $(if $(T),-- "$$T")

demo: setup
	tools/demo/demo.py $(DEMO_ARGS)

demo-local:
	@tools/demo/demo_local.py $(DEMO_ARGS)

# What only tells something needs no packages.
TELLS := $(filter --list --help -h,$(CHECK_ARGS))

check: $(if $(TELLS),,setup)
	tests/check/check.py $(CHECK_ARGS) $(if $(K),--only "$$K")

check-full: $(if $(TELLS),,setup)
	tests/check/check.py --full $(CHECK_ARGS) $(if $(K),--only "$$K")

soak: setup
	tests/soak/soak.py $(SOAK_ARGS)

# Builds what it measures, for the kernel of its guests.
bench: setup
	tests/bench/bench.py $(BENCH_ARGS)

mutation: setup user
	tests/mutation/mutation.py $(MUTANTS)

mutation-sim:
	tests/mutation/sim.py $(MUTANTS)

lab: setup
	tools/lab/lab shell

lint: setup
	tools/lint.sh

.PHONY: clean
clean:
	rm -rf $(B)
