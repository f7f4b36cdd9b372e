UNIT_SRC_engine := $(wildcard core/*.c providers/engine/*.c)
UNIT_DEP_engine := $(wildcard core/*.h providers/engine/*.h) include/vipl/engine.h
UNIT_CFLAGS_engine := -Iproviders/engine
UNIT_LIBS_engine := -lpthread
