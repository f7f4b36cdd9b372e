# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_srom := devices/tulip_srom.c
UNIT_DEP_srom := devices/tulip_srom.h core/portable.h
UNIT_CFLAGS_srom := -Idevices
