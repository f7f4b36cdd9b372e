# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_crypto := tests/sim/kernel/siphash.c tests/sim/kernel/blake2s.c
UNIT_DEP_crypto := tests/sim/kernel/siphash.h tests/sim/kernel/blake2s.h
UNIT_CFLAGS_crypto := -Itests/sim/kernel
