# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_ofi := $(addprefix providers/ofi/,addr.c packet.c pull.c)
UNIT_DEP_ofi := $(wildcard providers/ofi/*.h)
ifneq ($(OFI_HEADERS),yes)
UNIT_NAMES := $(filter-out ofi,$(UNIT_NAMES))
endif
