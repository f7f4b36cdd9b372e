UNIT_SRC_engine := $(wildcard providers/engine/*.c)
UNIT_DEP_engine := $(wildcard providers/engine/*.h) include/vipl/engine.h
UNIT_CFLAGS_engine := -Iproviders/engine
UNIT_LIBS_engine := -lpthread
