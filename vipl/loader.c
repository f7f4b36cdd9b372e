// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Providers of this process: the built-in one, and those that were loaded.
 * A provider stays once it is there, since slots of objects are its own.
 */
#include <pthread.h>
#include <string.h>

#include "loader.h"
#include "lock.h"
#include "msg.h"

vipl_provider_entry vipl_ka_init;

static const struct {
	const char *name;
	vipl_provider_entry *entry;
} builtin[] = {
	{ "ka", vipl_ka_init },
};

#define BUILTINS	(sizeof(builtin) / sizeof(builtin[0]))

static struct vipl_driver drivers[VIPL_DRIVERS];
/* Drivers below it are complete and constant; written under the lock. */
static _Atomic uint32_t known;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Not held while anything of a plug-in runs. */
static pthread_mutex_t forks = PTHREAD_MUTEX_INITIALIZER;
static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;

/* In a thread that runs code of a plug-in which is being opened. */
static _Thread_local int opening;

static int is_builtin(const char *name)
{
	size_t i;

	for (i = 0; i < BUILTINS; i++)
		if (!strcmp(name, builtin[i].name))
			return 1;
	return 0;
}

static const struct vipl_driver *find_driver(const char *name)
{
	uint32_t i, n = atomic_load_explicit(&known, memory_order_acquire);

	for (i = 0; i < n; i++)
		if (!strcmp(drivers[i].ops.name, name))
			return &drivers[i];
	return NULL;
}

/* The threads that held the locks may not be here any more. */
static void in_child(void)
{
	uint32_t i, n = atomic_load_explicit(&known, memory_order_acquire);

	memcpy(&lock, &unlocked, sizeof(lock));
	memcpy(&forks, &unlocked, sizeof(forks));
	for (i = 0; i < n; i++)
		if (drivers[i].plugin && drivers[i].ops.fork_child)
			drivers[i].ops.fork_child();
}

static int provider_is_usable(const struct vipl_provider *p, const char *name)
{
	const size_t least = offsetof(struct vipl_provider, open) +
			     sizeof(p->open);

	if (p->abi != VIPL_PROVIDER_ABI) {
		vipl_msg(MSG_PLUGIN_VERSION, name, p->abi, VIPL_PROVIDER_ABI);
		return 0;
	}
	if (p->size < least || !p->name || !p->open) {
		vipl_msg(MSG_PLUGIN_INCOMPLETE, name, p->size);
		return 0;
	}
	if (p->flags) {
		vipl_msg(MSG_PLUGIN_FLAGS, name, p->version ? p->version : "unknown", p->flags);
		return 0;
	}
	if (strcmp(p->name, name)) {
		vipl_msg(MSG_PLUGIN_NAME, name, p->name);
		return 0;
	}
	return 1;
}

/* The lock is held. */
static const struct vipl_driver *add_driver(const char *name,
					    vipl_provider_entry *entry,
					    int plugin)
{
	uint32_t n = atomic_load_explicit(&known, memory_order_relaxed);
	const struct vipl_provider *p;
	struct vipl_driver *d = &drivers[n];
	const char *why = NULL;
	size_t size;

	if (n == VIPL_DRIVERS) {
		vipl_msg(MSG_PLUGIN_MANY, name, VIPL_DRIVERS);
		return NULL;
	}
	/* A provider that refuses may keep it: the next one's is the same. */
	d->host = vipl_services;
	d->index = n;
	p = entry(VIPL_PROVIDER_ABI, &d->host, &why);
	if (!p) {
		vipl_msg(MSG_PLUGIN_REFUSES, name, VIPL_PROVIDER_ABI,
			 why ? ": " : "", why ? why : "");
		return NULL;
	}
	if (!provider_is_usable(p, name))
		return NULL;
	memset(&d->ops, 0, sizeof(d->ops));
	/* Half an operation is none. */
	size = p->size - p->size % sizeof(p->open);
	memcpy(&d->ops, p, size < sizeof(d->ops) ? size : sizeof(d->ops));
	d->plugin = plugin;
	vipl_complete(d);
	atomic_store_explicit(&known, n + 1, memory_order_release);
	return d;
}

static void add_builtin(void)
{
	size_t i;

	for (i = 0; i < BUILTINS; i++)
		add_driver(builtin[i].name, builtin[i].entry, 0);
}

/*
 * The dynamic linker has a lock of its own and holds it over constructors, of
 * which one may open a NIC: ours is not held while it loads. It loads a file
 * once, whatever the number of threads.
 */
static const struct vipl_driver *load_plugin(const char *name)
{
	vipl_provider_entry *entry = vipl_plugin(name);
	const struct vipl_driver *d;

	if (!entry)
		return NULL;
	pthread_mutex_lock(&lock);
	d = find_driver(name);
	if (!d)
		d = add_driver(name, entry, 1);
	pthread_mutex_unlock(&lock);
	return d;
}

const struct vipl_driver *vipl_load(const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const struct vipl_driver *d;

	pthread_once(&once, add_builtin);
	d = find_driver(name);
	return d ? d : load_plugin(name);
}

/* Before anything of a plug-in runs. */
static void watch_forks(void)
{
	static int done;

	pthread_mutex_lock(&forks);
	if (!done && !pthread_atfork(NULL, NULL, in_child))
		done = 1;
	pthread_mutex_unlock(&forks);
}

int vipl_enter(const char *name)
{
	if (is_builtin(name))
		return 0;
	if (opening) {
		vipl_msg(MSG_PLUGIN_NESTED, name);
		return -1;
	}
	watch_forks();
	opening = 1;
	return 0;
}

void vipl_leave(const char *name)
{
	if (!is_builtin(name))
		opening = 0;
}
