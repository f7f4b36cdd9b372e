UNIT_SRC_core := $(wildcard core/*.c)
UNIT_DEP_core := $(wildcard core/*.h) include/uapi/via.h
UNIT_CFLAGS_core := -Icore
