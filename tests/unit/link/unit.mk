# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_link := $(wildcard providers/link/*.c)
UNIT_DEP_link := $(wildcard providers/link/*.h) include/vipl/engine.h
UNIT_CFLAGS_link := -Iproviders/link
UNIT_LIBS_link := -lpthread
