# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_vipl := tests/unit/vipl/fake.c $(wildcard vipl/*.c providers/ka/*.c)
UNIT_DEP_vipl := $(wildcard vipl/*.h providers/ka/*.h)
UNIT_CFLAGS_vipl := -D_FILE_OFFSET_BITS=64 \
	-Wl,--wrap=open64,--wrap=mmap64,--wrap=ioctl,--wrap=fopen64 \
	-Wl,--wrap=getifaddrs,--wrap=freeifaddrs
