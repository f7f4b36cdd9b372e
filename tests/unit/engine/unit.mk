UNIT_SRC_engine := $(wildcard providers/engine/*.c)
UNIT_CFLAGS_engine := -Iproviders/engine
UNIT_LIBS_engine := -lpthread
