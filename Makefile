# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
#   make demo       two virtual machines, one wire: VIA beside UDP and TCP
#   make demo-local VIA between programs of this machine, beside sockets: no
#                   virtual machine, no root, ten seconds
#   make demo-mpi   two virtual machines, MPI between them over VIA
#   make demo-rdma  two virtual machines, one uses the other's disk over VIA
#   make test       what needs no virtual machine and no root: two minutes
#   make check      every test
#
#   make test T=window          those tests whose name has "window" in it
#   make check K='conformance via_lo'   one step and what it needs
#
#   make            modules, library, tools, tests
#   make modules [KDIR=...]     kernel modules for one kernel
#   make install [DESTDIR= PREFIX=/usr/local]     modules and the rest
#   make install-user           library, plug-ins, tools: no kernel headers
#   make uninstall              what install put there, with its variables
#   make deb                    Debian packages into build/deb
#   make dist                   a tarball of HEAD, checksums, the tag's command
#   make bench      figures, with the bars they are held to (BENCH_ARGS=--help)
#   make plots      those of docs/plots, from tests/bench/plotted
#   make html       documents and man pages as a site, in build/html
#   make lab        a shell on two nodes
#   make check-full every test on every NIC, level and kernel
#   make soak       hours under fire, can be interrupted (SOAK_ARGS=--help)
#   make mutation   do the tests notice planted defects?
#   make mutation-sim           which of them do simulator and units find?
#   make lint       checkpatch, sparse, W=1, gcc, clang, shellcheck, flake8
#
#   CC, CPPFLAGS, CFLAGS and LDFLAGS come after the tree's own flags, so that they
#   win. WERROR=1 makes warnings errors, as lint, test and check do.
#
#   DEMO_ARGS, CHECK_ARGS, SOAK_ARGS and BENCH_ARGS are options of what is
#   behind these: make check CHECK_ARGS=--help

VERSION := $(shell cat VERSION)
# What a "#" within a call of make is depends on the version of make.
HASH := \#

B      ?= build
PREFIX ?= /usr/local
ifeq ($(origin CC),default)
CC     := $(or $(shell command -v gcc >/dev/null 2>&1 && echo gcc),cc)
endif
SAN    ?=
WERROR ?=

# Of the compiler's target, whatever that is.
cc-tool  = $(shell $(CC) -print-prog-name=$(1) 2>/dev/null)
AR      := $(if $(filter default,$(origin AR)),$(call cc-tool,ar),$(AR))
OBJCOPY ?= $(call cc-tool,objcopy)

# gcc says that ThreadSanitizer does not see fences; they stay nonetheless.
NOTSAN  := $(if $(findstring clang,$(CC)),,-Wno-tsan)

CPPFLAGS ?=
CFLAGS   ?= -O2 -g
LDFLAGS  ?=
WARN     := -Wall -Wextra $(if $(filter 1,$(WERROR)),-Werror)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer) \
	    $(if $(filter thread,$(SAN)),$(NOTSAN))
override CFLAGS := -std=gnu11 $(WARN) -Iinclude -Iinclude/uapi $(SANFLAGS) \
		   $(CPPFLAGS) $(CFLAGS)
# Of programs that only test: they wait for what they try, and are compiled for
# one run. Those with bars of their own are of CFLAGS.
TEST_CFLAGS = $(CFLAGS:-O2=-O1)
override LDFLAGS := $(if $(SAN),-fsanitize=$(SAN)) $(LDFLAGS)

# The running kernel's headers, else the newest that are installed.
KDIR ?= $(firstword $(wildcard /lib/modules/$(shell uname -r)/build) \
	  $(shell ls -d /usr/src/linux-headers-*-amd64 2>/dev/null | \
		  sort -V | tail -n 1))
KREL := $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' \
	  $(KDIR)/include/generated/utsrelease.h 2>/dev/null)

# The oldest and the newest that are supported.
KERNELS := 6.1 7.3

# What a goal lacks is told before anything is built; make -n builds nothing.
GOALS := $(or $(MAKECMDGOALS),all)
LACKS := $(if $(findstring n,$(firstword -$(MAKEFLAGS))),,$(shell CC='$(CC)' \
	CPPFLAGS='$(CPPFLAGS)' LIBMNL='$(LIBMNL)' KREL='$(KREL)' \
	MPICC='$(MPICC)' tools/needs.sh $(GOALS)))
$(if $(LACKS),$(error $(LACKS)))

# Where `make install' puts things; DESTDIR comes before all of them.
LIBDIR     ?= $(PREFIX)/lib
BINDIR     ?= $(PREFIX)/bin
SBINDIR    ?= $(PREFIX)/sbin
INCLUDEDIR ?= $(PREFIX)/include
MANDIR     ?= $(PREFIX)/share/man
DOCDIR     ?= $(PREFIX)/share/doc/mvia
EXAMPLEDIR ?= $(DOCDIR)/examples
PLUGINDIR  ?= $(LIBDIR)/vipl
MODDIR     ?= /lib/modules/$(KREL)/extra/via
# Udev and systemd look in /usr/lib; what has a prefix of its own stays there.
SYSPREFIX  := $(if $(filter-out /usr /usr/local,$(PREFIX)),$(PREFIX),/usr)
UDEVDIR    ?= $(SYSPREFIX)/lib/udev/rules.d
SYSUSERSDIR ?= $(SYSPREFIX)/lib/sysusers.d
UNITDIR    ?= $(SYSPREFIX)/lib/systemd/system
BASHCOMPDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHCOMPDIR ?= $(PREFIX)/share/zsh/site-functions
# Where Wireshark looks for everyone's plug-ins, if it is here.
WIRESHARKDIR ?= $(or $(strip $(if $(filter /usr,$(SYSPREFIX)),\
	$(shell tshark -G folders 2>/dev/null | \
	sed -n 's/^Global Lua Plugins:[[:space:]]*//p'))),$(LIBDIR)/wireshark/plugins)
# Scripts for bpftrace.
BPFDIR     ?= $(PREFIX)/share/mvia/bpf
LDCONFIG   ?= $(shell command -v ldconfig || echo /sbin/ldconfig)
# Two at a time, by make -j, rename the same new cache, and one of them fails.
LDCONFIG_ALONE = flock $(LIBDIR) $(LDCONFIG)
DEPMOD     ?= $(shell command -v depmod || echo /sbin/depmod)
# Not empty: an ordinary user installs, into own folders.
ONESELF := $(if $(DESTDIR),,$(filter-out 0,$(shell id -u)))
# Only a root that installs into its own system tells the loader and modprobe.
HERE_AS_ROOT = test -n "$(DESTDIR)" || test "$$(id -u)" != 0 ||
TELL_MODPROBE = $(HERE_AS_ROOT) if command -v $(DEPMOD) >/dev/null; \
	then $(DEPMOD) $(KREL); else \
	echo "modules: no depmod here; as root: apt-get install kmod, depmod $(KREL)"; fi

LIB_TARGETS  :=
PLUGINS      :=
TOOL_TARGETS :=
TEST_TARGETS :=
INSTALL_HOOKS :=
UNINSTALL_HOOKS :=

.PHONY: all
all: modules user

-include vipl/Makefile.inc
-include $(sort $(wildcard providers/*/Makefile.inc))
-include fabric/Makefile.inc
-include dsm/Makefile.inc
-include bindings/python/Makefile.inc
-include tools/Makefile.inc
-include tools/lab/Makefile.inc
-include packaging/Makefile.inc
-include tests/unit/Makefile.inc
-include tests/via/Makefile.inc
-include tests/fuzz/Makefile.inc
-include tests/conformance/Makefile.inc
-include tests/samples/Makefile.inc
-include tests/viatest/Makefile.inc
-include tests/sim/Makefile.inc
-include tests/shm/Makefile.inc
-include tests/dsm/Makefile.inc
-include tests/verbs/Makefile.inc
-include tests/older/Makefile.inc
-include tests/bench/Makefile.inc
-include tests/ofi/Makefile.inc
-include tests/fabric/Makefile.inc
-include tests/wireshark/Makefile.inc

.PHONY: lib tools tests user
lib: $(LIB_TARGETS) $(PLUGINS)
tools: $(TOOL_TARGETS)
tests: $(TEST_TARGETS)
user: lib tools tests

# What needs neither kernel headers nor packages of the tests.
.PHONY: local
local: lib $(TOOL_BINS) $(B)/tools/viaplot samples $(B)/tests/bench/sock_lat $(B)/tests/bench/bench_path

# The release, in providers: a new one compiles them again. Their sources are
# what comes first among the prerequisites.
RELEASE_OBJ := $(patsubst %,$(B)/obj/providers/%.o,ka/ka shm/main ofi/ofi)
$(RELEASE_OBJ): VERSION
$(RELEASE_OBJ): override CFLAGS += -DVIPL_RELEASE='"$(VERSION)"'

# kbuild writes beside the sources, so each kernel gets a copy of them.
KSRC := $(shell find core kernel devices verbs include/uapi -name '*.[ch]' 2>/dev/null) \
	Kbuild VERSION

MODULES := $(shell sed -n 's/^obj-m += \(.*\)\.o$$/\1/p' Kbuild)

.PHONY: modules
modules:
	@test -n "$(KREL)" || { echo "no kernel headers found: apt-get install linux-headers-amd64, or give KDIR=; make install-user needs none" >&2; exit 1; }
	@echo "modules: for $(KREL), headers in $(KDIR)"
	@mkdir -p $(B)/kbuild/$(KREL) $(B)/modules/$(KREL)
	@cp -u --parents $(KSRC) $(B)/kbuild/$(KREL)/
	@find $(B)/kbuild/$(KREL) -name '*.[ch]' ! -name '*.mod.c' | while read f; do \
		test -e "$${f#$(B)/kbuild/$(KREL)/}" || rm -f "$$f"; done
	@rm -rf $(B)/kbuild/$(KREL)/.pch
	sh tools/lacks.sh $(KREL) $(KERNELS) $(B)/kbuild/$(KREL)/log \
		$(MAKE) -C $(KDIR) M=$(abspath $(B)/kbuild/$(KREL)) $(KFLAGS) modules
	@rm -rf $(B)/kbuild/$(KREL)/.pch
	@cp -u $(B)/kbuild/$(KREL)/*.ko $(B)/modules/$(KREL)/

.PHONY: install install-user install-modules install-udev install-plugins
install: install-user install-modules install-udev

install-user: install-plugins $(INSTALL_HOOKS)

install-plugins: $(PLUGINS)
	install -d $(DESTDIR)$(PLUGINDIR)
	$(if $(PLUGINS),install -m 755 $(PLUGINS) $(DESTDIR)$(PLUGINDIR)/)

install-modules: modules
	install -d $(DESTDIR)$(MODDIR)
	install -m 644 $(B)/modules/$(KREL)/*.ko $(DESTDIR)$(MODDIR)/
	@$(TELL_MODPROBE)

install-udev:
	install -d $(DESTDIR)$(UDEVDIR) $(DESTDIR)$(SYSUSERSDIR)
	install -m 644 tools/udev/60-via.rules $(DESTDIR)$(UDEVDIR)/
	install -m 644 tools/udev/via.conf $(DESTDIR)$(SYSUSERSDIR)/
	$(HERE_AS_ROOT) getent group via >/dev/null || groupadd -r via

# Files by name and folders of ours that are empty then; group via stays, files
# may belong to it.
.PHONY: uninstall
uninstall: $(UNINSTALL_HOOKS)
	rm -f $(addprefix $(DESTDIR)$(PLUGINDIR)/,$(notdir $(PLUGINS)))
	rm -f $(DESTDIR)$(UDEVDIR)/60-via.rules \
		$(DESTDIR)$(SYSUSERSDIR)/via.conf
	rmdir $(DESTDIR)$(PLUGINDIR) 2>/dev/null || :
	test -n "$(ONESELF)" || test -z "$(KREL)" || test ! -d $(DESTDIR)$(MODDIR) || { \
		rm -f $(addprefix $(DESTDIR)$(MODDIR)/,$(MODULES:=.ko)); \
		rmdir $(DESTDIR)$(MODDIR); \
		$(TELL_MODPROBE); }
	$(HERE_AS_ROOT) $(LDCONFIG)

.PHONY: setup setup-check setup-package demo demo-mpi demo-rdma demo-local test check check-full soak bench mutation mutation-sim lab lint
test demo demo-mpi demo-rdma demo-local check check-full soak bench mutation mutation-sim lint: \
	export WERROR := $(or $(WERROR),1)
setup:
	tools/lab/setup.sh

# What steps of make check need beside; without it they are skipped.
setup-check:
	tools/lab/setup.sh base container mpi plots rdma system trace wireshark

setup-package:
	tools/lab/setup.sh package

.PHONY: html
html:
	tools/site/site.py $(B)/html

# T and K reach the shell through the environment, quotes and all.
test:
	@tests/test/test.py $(if $(T),-- "$$T")

demo: setup
	tools/demo/demo.py $(DEMO_ARGS)

demo-mpi: setup
	tools/lab/setup.sh mpi
	tools/demo/demo_mpi.py $(DEMO_ARGS)

demo-rdma: setup
	tools/lab/setup.sh rdma
	tools/demo/demo_rdma.py $(DEMO_ARGS)

demo-local:
	@tools/demo/demo_local.py $(DEMO_ARGS)

# What only tells something needs no packages.
TELLS := $(filter --list --help -h,$(CHECK_ARGS))

check: $(if $(TELLS),,setup-check)
	tests/check/check.py $(CHECK_ARGS) $(if $(K),--only "$$K")

check-full: $(if $(TELLS),,setup-check)
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

lint:
	tools/lab/setup.sh base lint
	tools/lint.sh

.PHONY: clean
clean:
	rm -rf $(B)
