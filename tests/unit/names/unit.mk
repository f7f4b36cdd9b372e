# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_names := vipl/device.c vipl/hosts.c vipl/conf.c vipl/msg.c \
	providers/ka/ka_node.c providers/ka/ka_mac.c
UNIT_DEP_names := $(wildcard vipl/*.h providers/ka/*.h)
UNIT_CFLAGS_names := -D_FILE_OFFSET_BITS=64 \
	-Wl,--wrap=fopen64,--wrap=syscall,--wrap=opendir,--wrap=scandir64
