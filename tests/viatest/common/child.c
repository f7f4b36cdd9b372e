// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "child.h"
#include "common/msg.h"
#include "common/proc.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t child_start(int (*f)(void *arg), void *arg)
{
	pid_t pid = proc_fork();

	if (pid)
		return pid;
	_exit(f(arg));
}

int child_wait(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) < 0)
		die("waitpid: %s", strerror(errno));
	return status;
}

int child_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	return child_wait(pid);
}
