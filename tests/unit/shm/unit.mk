# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# fast.c is in the engine as much as in the transport: tests/shm runs it.
UNIT_SRC_shm := $(filter-out providers/shm/main.c providers/shm/fast.c,\
	$(wildcard providers/shm/*.c)) \
	$(wildcard providers/link/*.c)
UNIT_DEP_shm := $(wildcard providers/shm/*.h providers/link/*.h)
UNIT_CFLAGS_shm := -Iproviders/link -Iproviders/shm
UNIT_LIBS_shm := -lpthread
UNIT_SRC_shm += tests/unit/shm/engine.c
