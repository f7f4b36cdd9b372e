// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "inside.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>

static struct {
	int (*session)(const char *device, const char *disc, int begun);
	const char *device, *disc;
} peer;

static void *serve(void *arg)
{
	(void)arg;
	peer.session(peer.device, peer.disc, -1);
	return NULL;
}

const char *inside_start(const char *object, const char *device,
			 const char *disc)
{
	void *copy = dlopen(object, RTLD_NOW | RTLD_LOCAL);
	pthread_t thread;
	void *f;

	if (!copy)
		return dlerror();
	f = dlsym(copy, "peer_session");
	if (!f)
		return dlerror();
	*(void **)&peer.session = f;
	peer.device = device;
	peer.disc = disc;
	if (pthread_create(&thread, NULL, serve, NULL))
		return "no thread";
	pthread_detach(thread);
	return NULL;
}
