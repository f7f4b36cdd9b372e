// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "common/json.h"
#include "emit.h"

void emit(const char *bench, const char *path, const char *level,
	  const char *wait, unsigned long size, const char *unit,
	  double value)
{
	struct json j = { .file = stdout };

	json_object(&j);
	json_str(&j, "bench", bench);
	json_str(&j, "path", path);
	json_str(&j, "level", level);
	json_str(&j, "wait", wait);
	json_num(&j, "size", size);
	json_str(&j, "unit", unit);
	json_real(&j, "value", value, 3);
	json_object_end(&j);
}
