# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_strangers := devices/ether/proto/token.c devices/ether/proto/ratelimit.c \
	tests/sim/kernel/siphash.c
UNIT_DEP_strangers := devices/ether/proto/token.h devices/ether/proto/ratelimit.h \
	core/portable.h tests/sim/kernel/siphash.h \
	$(wildcard tests/unit/kernel/*/*.h)
UNIT_CFLAGS_strangers := -Itests/unit/kernel -Idevices/ether/proto
