# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_auth := devices/ether/proto/auth.c tests/sim/kernel/blake2s.c
UNIT_DEP_auth := devices/ether/proto/auth.h core/portable.h \
	tests/sim/kernel/blake2s.h $(wildcard tests/unit/kernel/*/*.h)
UNIT_CFLAGS_auth := -Itests/unit/kernel -Idevices/ether/proto
