UNIT_SRC_state := kernel/state.c
UNIT_DEP_state := kernel/state.h include/uapi/via.h
UNIT_CFLAGS_state := -Ikernel
