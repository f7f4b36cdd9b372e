// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * via driver: gives a card to its native driver, or back.  via-bind does it,
 * through the kernel's own interface for that (driver_override in sysfs).
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/msg.h"
#include "messages.h"
#include "via.h"

/* The script beside this program or in sbin beside that, or in the path. */
static void run_bind(const char *dev, const char *how)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);
	char *slash;

	if (n > 0) {
		path[n] = '\0';
		slash = strrchr(path, '/');
		strcpy(slash ? slash + 1 : path, "via-bind");
		execl(path, "via-bind", dev, how, NULL);
		strcpy(slash ? slash + 1 : path, "../sbin/via-bind");
		execl(path, "via-bind", dev, how, NULL);
	}
	execlp("via-bind", "via-bind", dev, how, NULL);
	warn_msg(MSG_VIA_BIND, strerror(errno));
	_exit(REFUSED);
}

/* Its status; what it says goes to @to, if that is not -1. */
static int bind_status(const char *dev, const char *how, int to)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die(MSG_VIA_BIND, strerror(errno));
	if (!pid) {
		if (to >= 0)
			dup2(to, STDOUT_FILENO);
		run_bind(dev, how);
	}
	if (to >= 0)
		close(to);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : REFUSED;
}

int driver_bind(const char *ifname, const char *how)
{
	return bind_status(ifname, how, STDERR_FILENO) ? -EIO : 0;
}

/* "0000:00:03.0 8086:100e: interface eth0, driver e1000, native driver ..." */
static int show_json(const char *dev)
{
	char line[512] = "", pci[64], id[64], iface[64], now[64], native[64];
	int fd[2], ret;
	ssize_t n;

	if (pipe(fd))
		die(MSG_VIA_PIPE, strerror(errno));
	ret = bind_status(dev, NULL, fd[1]);
	n = read(fd[0], line, sizeof(line) - 1);
	close(fd[0]);
	if (ret)
		return ret;
	if (n <= 0 || sscanf(line, "%63s %63[^ ] interface %63[^,], driver %63[^,], native driver %63s",
			     pci, id, iface, now, native) != 5)
		die(MSG_VIA_BIND_SAYS, line);
	id[strlen(id) - 1] = '\0';
	json_begin(&out);
	json_object(&out);
	json_str(&out, "pci", pci);
	json_str(&out, "id", id);
	if (strcmp(iface, "none"))
		json_str(&out, "ifname", iface);
	if (strcmp(now, "none"))
		json_str(&out, "driver", now);
	if (strcmp(native, "none"))
		json_str(&out, "native", native);
	json_object_end(&out);
	json_end(&out);
	return DONE;
}

static int act(struct words *w, const char *how)
{
	const char *dev = need_word(w, "the card, by interface or PCI address");

	no_more_words(w);
	if (*dev == '-')
		usage_error(MSG_USAGE_NO_CARD, dev);
	if (!how && out.file)
		return show_json(dev);
	return bind_status(dev, how, -1);
}

static int show(struct words *w)
{
	return act(w, NULL);
}

static int native(struct words *w)
{
	return act(w, "native");
}

static int stock(struct words *w)
{
	return act(w, "stock");
}

int do_driver(struct words *w)
{
	static const struct command list[] = {
		{ "show", show },
		{ "native", native },
		{ "stock", stock },
		{ 0 }
	};

	return run_command(list, "command of driver", w);
}
