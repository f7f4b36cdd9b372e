// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Processes and their system calls. */
#include <sys/mman.h>
#include "host.h"
#include "kernel/model.h"

#define FILES_MAX	64

struct sim_proc {
	const char *name;
	struct mm_struct *mm;
	struct nsproxy ns;
	struct cred cred;
	struct list_head tasks;		/* of struct thread */
	struct file *files[FILES_MAX];
	u32 threads;
	bool killed;
	bool ended;
	struct list_head waiters;	/* for the end */
	void (*at_exit)(void *arg);
	void *at_exit_arg;
};

struct thread {
	struct task_struct task;	/* first: current */
	struct list_head link;
	void (*fn)(void *arg);
	void *arg;
};

const struct file_operations *sim_cdev_ops(void);
static int next_pid;

/* Processes */

struct sim_proc *sim_proc_new(const char *name, u32 uid)
{
	struct sim_proc *p = calloc(1, sizeof(*p));
	u32 fail = sim_config.fail_alloc;

	if (!p)
		abort();
	/* Failures are the agent's to meet. */
	sim_config.fail_alloc = 0;
	p->mm = sim_mm_new();
	sim_config.fail_alloc = fail;
	p->name = name;
	p->ns.net_ns = &init_net;
	p->cred.uid.val = uid;
	p->cred.capable = !uid;
	p->cred.ns = &init_user_ns;
	INIT_LIST_HEAD(&p->tasks);
	INIT_LIST_HEAD(&p->waiters);
	return p;
}

void sim_proc_in(struct sim_proc *p, struct user_namespace *ns)
{
	p->cred.ns = ns;
	p->cred.capable = false;
}

/* In one step: zero pages to be read, or none. */
static void cut(unsigned long from, unsigned long to, bool zeroes)
{
	if (!zeroes)
		munmap((void *)from, to - from);
	else if (mmap((void *)from, to - from, PROT_READ,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		 MAP_FAILED)
		sim_fail("no memory for a program");
}

static void unmap(struct vm_area_struct *v, bool zeroes)
{
	u32 i;

	list_del(&v->link);
	/* Memory that comes late may still be pinned: sim_hosts_end(). */
	if (v->vm_file && !v->arrived && !v->inherited)
		cut(v->vm_start, v->vm_end, zeroes || v->fixed);
	if (v->vm_ops && v->vm_ops->close)
		v->vm_ops->close(v);
	for (i = 0; i < v->npages; i++)
		if (v->pages[i])
			put_page(v->pages[i]);
	free(v->pages);
	if (v->vm_file)
		atomic_dec(&v->vm_file->count);
	free(v);
}

static void file_put(struct file *f)
{
	struct inode *i = f->f_inode;

	if (atomic_dec_return(&f->count))
		return;
	f->f_op->release(i, f);
	free(i);
	free(f);
}

/* As the last thread: address space first, then files. */
static void proc_exit(struct sim_proc *p)
{
	struct vm_area_struct *v;
	struct file *f;
	int i;

	if (p->at_exit)
		p->at_exit(p->at_exit_arg);
	while (!list_empty(&p->mm->vmas)) {
		v = list_first_entry(&p->mm->vmas, struct vm_area_struct, link);
		f = v->vm_file;
		if (f)
			atomic_inc(&f->count);
		unmap(v, false);
		if (f)
			file_put(f);
	}
	p->mm->dead = true;
	for (i = 0; i < FILES_MAX; i++)
		if (p->files[i])
			file_put(p->files[i]);
	mmdrop(p->mm);
	p->mm = NULL;
	p->ended = true;
	sim_wake_list(&p->waiters);
}

static void thread_exit(struct thread *t)
{
	struct sim_proc *p = t->task.proc;

	sim_drain();
	sim_self->in_user = false;
	list_del(&t->link);
	if (!--p->threads)
		proc_exit(p);
	sim_self->task = NULL;
	free(t);
	sim_exit();
}

void sim_die_if_killed(void);
void sim_die_if_killed(void)
{
	struct thread *t = sim_self->task;

	if (t && t->task.killed)
		thread_exit(t);
}

static void thread_main(void *arg)
{
	struct thread *t = arg;

	sim_self->in_user = true;
	sim_self->kept = 0;
	sim_die_if_killed();
	t->fn(t->arg);
	thread_exit(t);
}

static void kthread_main(void *arg)
{
	struct thread *t = arg;

	t->fn(t->arg);
	sim_self->task = NULL;
	free(t);
}

struct sim_ctx *sim_kthread(const char *name, void (*fn)(void *arg), void *arg)
{
	struct thread *t = calloc(1, sizeof(*t));

	if (!t)
		abort();
	t->fn = fn;
	t->arg = arg;
	t->task.timer_slack_ns = 50000;
	t->task.ctx = sim_spawn(name, kthread_main, t);
	t->task.ctx->task = t;
	return t->task.ctx;
}

struct sim_ctx *sim_thread(struct sim_proc *p, const char *name,
			   void (*fn)(void *arg), void *arg)
{
	struct thread *t = calloc(1, sizeof(*t));

	if (!t)
		abort();
	t->fn = fn;
	t->arg = arg;
	t->task.mm = p->mm;
	t->task.nsproxy = &p->ns;
	t->task.cred = &p->cred;
	t->task.proc = p;
	t->task.killed = t->task.pending = p->killed;
	t->task.timer_slack_ns = 50000;
	t->task.pid = ++next_pid;
	t->task.ctx = sim_spawn(name, thread_main, t);
	t->task.ctx->task = t;
	list_add_tail(&t->link, &p->tasks);
	p->threads++;
	return t->task.ctx;
}

void sim_threads_wait(u64 ns)
{
	while (current->proc->threads > 1)
		sim_sleep(ns);
}

int sim_dofork(void *p)
{
	struct vm_area_struct *v = find_vma(current->mm, (unsigned long)p);

	if (v->vm_flags & VM_IO)
		return -EINVAL;
	v->vm_flags &= ~VM_DONTCOPY;
	return 0;
}

static void inherit(struct sim_proc *child, const struct vm_area_struct *from)
{
	struct vm_area_struct *v = malloc(sizeof(*v));
	u32 i;

	if (!v)
		abort();
	*v = *from;
	v->vm_mm = child->mm;
	v->inherited = true;
	INIT_LIST_HEAD(&v->faulting);
	v->pages = calloc(v->npages + 1, sizeof(*v->pages));
	for (i = 0; i < v->npages; i++) {
		if (from->pages[i])
			get_page(from->pages[i]);
		v->pages[i] = from->pages[i];
	}
	if (v->vm_file)
		atomic_inc(&v->vm_file->count);
	list_add_tail(&v->link, &child->mm->vmas);
	if (v->vm_ops && v->vm_ops->open)
		v->vm_ops->open(v);
}

struct sim_proc *sim_fork(const char *name, void (*fn)(void *arg), void *arg)
{
	struct sim_proc *p = current->proc, *c;
	struct vm_area_struct *v;
	int i;

	sim_enter();
	c = sim_proc_new(name, 0);
	c->cred = p->cred;
	down_write(&p->mm->mmap_lock);
	list_for_each_entry(v, &p->mm->vmas, link)
		if (!(v->vm_flags & VM_DONTCOPY))
			inherit(c, v);
	up_write(&p->mm->mmap_lock);
	for (i = 0; i < FILES_MAX; i++) {
		c->files[i] = p->files[i];
		if (c->files[i])
			atomic_inc(&c->files[i]->count);
	}
	sim_thread(c, name, fn, arg);
	sim_leave();
	return c;
}

static void wake_fault(struct mm_struct *mm)
{
	struct vm_area_struct *v;

	list_for_each_entry(v, &mm->vmas, link)
		sim_wake_list(&v->faulting);
}

void sim_kill(struct sim_proc *p)
{
	struct thread *t;

	p->killed = true;
	list_for_each_entry(t, &p->tasks, link) {
		t->task.killed = t->task.pending = true;
		sim_wake_task(&t->task, TASK_INTERRUPTIBLE | TASK_WAKEKILL);
		/* Waiting for a lock that can be left, or in user mode. */
		if (!list_empty(&t->task.ctx->wait) || t->task.ctx->in_user)
			sim_wake(t->task.ctx);
	}
	if (!p->ended && !p->mm->dead)
		wake_fault(p->mm);
	sim_yield();
}

void sim_signal(struct sim_proc *p)
{
	struct thread *t;

	list_for_each_entry(t, &p->tasks, link) {
		t->task.pending = true;
		sim_wake_task(&t->task, TASK_INTERRUPTIBLE);
	}
	sim_yield();
}

bool sim_proc_ended(const struct sim_proc *p)
{
	return p->ended;
}

void sim_proc_at_exit(struct sim_proc *p, void (*fn)(void *arg), void *arg)
{
	p->at_exit = fn;
	p->at_exit_arg = arg;
}

void sim_proc_wait(struct sim_proc *p)
{
	while (!p->ended)
		sim_block(&p->waiters);
	free(p);
}

/* System calls.  The file stays, whatever another thread closes. */

static void enter(void)
{
	sim_self->in_user = false;
}

static void leave(void)
{
	struct thread *t = sim_self->task;

	sim_drain();
	if (sim_self->pinned || sim_self->bh_off || sim_self->rcu ||
	    sim_self->nheld)
		sim_fail("%s returns from a system call with preemption off %d, BH off %d, RCU %d, locks %d",
			 sim_self->name, sim_self->pinned, sim_self->bh_off,
			 sim_self->rcu, sim_self->nheld);
	if (!t)
		return;
	if (current->__state != TASK_RUNNING)
		sim_fail("%s returns from a system call in a sleeping state",
			 sim_self->name);
	t->task.pending = t->task.killed;
	sim_die_if_killed();
	sim_self->in_user = true;
	sim_self->kept = 0;
}

/* As fdget(): a file that another thread closes stays for this call. */
static bool hold(struct file *f)
{
	struct sim_proc *p = current->proc;
	int i;

	enter();
	for (i = 0; i < FILES_MAX; i++)
		if (f && p->files[i] == f) {
			atomic_inc(&f->count);
			return true;
		}
	leave();
	return false;
}

void sim_enter(void)
{
	enter();
}

void sim_leave(void)
{
	leave();
}

static void *at_once(long err)
{
	leave();
	return ERR_PTR(err);
}

struct file *sim_open(const char *node)
{
	const struct file_operations *ops = sim_cdev_ops();
	struct sim_proc *p = current->proc;
	int minor, i, ret;
	struct file *f;

	enter();
	minor = sim_minor_of(node);
	if (minor < 0 || !ops)
		return at_once(-ENOENT);
	f = calloc(1, sizeof(*f));
	f->f_inode = calloc(1, sizeof(*f->f_inode));
	f->f_inode->minor = minor;
	f->f_op = ops;
	atomic_set(&f->count, 1);
	ret = ops->open(f->f_inode, f);
	if (ret) {
		free(f->f_inode);
		free(f);
		return at_once(ret);
	}
	/* Only now: other threads of the process open files, too. */
	for (i = 0; i < FILES_MAX && p->files[i]; i++)
		;
	if (i == FILES_MAX)
		sim_fail("%s has too many files open", p->name);
	p->files[i] = f;
	leave();
	return f;
}

int sim_close(struct file *f)
{
	struct sim_proc *p = current->proc;
	int i;

	enter();
	for (i = 0; i < FILES_MAX && p->files[i] != f; i++)
		;
	if (i < FILES_MAX) {
		p->files[i] = NULL;
		file_put(f);
	}
	leave();
	return i < FILES_MAX ? 0 : -EBADF;
}

void sim_pass_file(struct sim_proc *to, struct file *f)
{
	int i;

	for (i = 0; i < FILES_MAX && to->files[i]; i++)
		;
	if (i == FILES_MAX)
		sim_fail("%s has too many files open", to->name);
	atomic_inc(&f->count);
	to->files[i] = f;
}

/* A touch of pages that have come: at once, in every mapping. */
static void touch(void)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *v;

	down_read(&mm->mmap_lock);
	list_for_each_entry(v, &mm->vmas, link)
		sim_fault_in(v);
	up_read(&mm->mmap_lock);
}

long sim_ioctl(struct file *f, unsigned int cmd, void *arg)
{
	long ret;

	if (!hold(f))
		return -EBADF;
	ret = f->f_op->unlocked_ioctl(f, cmd, (unsigned long)arg);
	if (cmd == VIA_IOC_VI_GROW)
		touch();
	file_put(f);
	leave();
	return ret;
}

long sim_trap(struct file *f, u32 op, u32 id)
{
	long ret;

	if (!hold(f))
		return -EBADF;
	ret = f->f_op->llseek(f, via_trap_arg(op, id), VIA_TRAP_WHENCE);
	file_put(f);
	leave();
	return ret;
}

ssize_t sim_read(struct file *f, void *buf, size_t n)
{
	loff_t pos = 0;
	ssize_t ret;

	if (!hold(f))
		return -EBADF;
	ret = f->f_op->read(f, buf, n, &pos);
	file_put(f);
	leave();
	return ret;
}

u32 sim_poll(struct file *f)
{
	poll_table pt = { NULL };
	u32 ret;

	if (!hold(f))
		return 0;
	ret = f->f_op->poll(f, &pt);
	file_put(f);
	leave();
	return ret;
}

void *sim_mmap(struct file *f, void *at, u64 offset, size_t size, bool write)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *v;
	bool own = !at;
	int ret;

	/* Kept for as long as it is mapped. */
	if (!hold(f))
		return ERR_PTR(-EBADF);
	v = calloc(1, sizeof(*v));
	size = PAGE_ALIGN(size);
	if (own)
		at = mmap(NULL, size, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	v->vm_mm = mm;
	v->fixed = !own;
	v->vm_start = (unsigned long)at;
	v->vm_end = v->vm_start + size;
	v->vm_pgoff = offset >> PAGE_SHIFT;
	v->vm_flags = VM_READ | VM_SHARED | VM_MAYSHARE |
		      (write ? VM_WRITE : 0) | VM_MAYWRITE;
	v->vm_file = f;
	INIT_LIST_HEAD(&v->faulting);
	down_write(&mm->mmap_lock);
	ret = f->f_op->mmap(f, v);
	if (!ret) {
		list_add_tail(&v->link, &mm->vmas);
		sim_fault_in(v);
	}
	up_write(&mm->mmap_lock);
	if (ret) {
		if (own)
			munmap(at, size);
		file_put(f);
		free(v);
		return at_once(ret);
	}
	leave();
	return at;
}

static int unmap_at(void *p, bool zeroes)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *v;
	int ret = -EINVAL;
	struct file *f = NULL;

	enter();
	down_write(&mm->mmap_lock);
	list_for_each_entry(v, &mm->vmas, link)
		if (v->vm_file && v->vm_start == (unsigned long)p) {
			f = v->vm_file;
			atomic_inc(&f->count);
			unmap(v, zeroes);
			ret = 0;
			break;
		}
	up_write(&mm->mmap_lock);
	if (f)
		file_put(f);
	leave();
	return ret;
}

int sim_munmap(void *p)
{
	return unmap_at(p, false);
}

void sim_fault_until(const bool *answered)
{
	struct mm_struct *mm = current->mm;

	enter();
	down_read(&mm->mmap_lock);
	while (!READ_ONCE(*answered))
		sim_pause(10000);
	up_read(&mm->mmap_lock);
	leave();
}

/* The rest of @v goes from there on. */
static void shorten(struct vm_area_struct *v, unsigned long from, bool zeroes)
{
	u32 n = (from - v->vm_start) / PAGE_SIZE;

	enter();
	down_write(&v->vm_mm->mmap_lock);
	cut(from, v->vm_end, zeroes);
	while (v->npages > n)
		if (v->pages[--v->npages])
			put_page(v->pages[v->npages]);
	v->vm_end = from;
	up_write(&v->vm_mm->mmap_lock);
	leave();
}

int sim_munmap_range(void *p, size_t bytes, bool zeroes)
{
	unsigned long from = (unsigned long)p, to = from + PAGE_ALIGN(bytes);
	struct vm_area_struct *v;

	list_for_each_entry(v, &current->mm->vmas, link) {
		if (!v->vm_file || v->vm_end <= from || v->vm_start >= to)
			continue;
		if (to < v->vm_end)
			sim_fail("the middle of a mapping is unmapped");
		if (from <= v->vm_start)
			return unmap_at((void *)v->vm_start, zeroes);
		shorten(v, from, zeroes);
		return 0;
	}
	return -EINVAL;
}

void sim_no_memory(void *p, size_t bytes)
{
	struct vm_area_struct *v = calloc(1, sizeof(*v));

	v->vm_mm = current->mm;
	v->vm_start = (unsigned long)p;
	v->vm_end = v->vm_start + PAGE_ALIGN(bytes);
	INIT_LIST_HEAD(&v->faulting);
	enter();
	down_write(&v->vm_mm->mmap_lock);
	list_add(&v->link, &v->vm_mm->vmas);
	up_write(&v->vm_mm->mmap_lock);
	leave();
}

void sim_sleep(u64 ns)
{
	ktime_t t = ns;

	enter();
	current->__state = TASK_INTERRUPTIBLE;
	schedule_hrtimeout_range(&t, 0, HRTIMER_MODE_REL);
	leave();
}

void sim_pause(u64 ns)
{
	ktime_t t = ns;

	current->__state = TASK_UNINTERRUPTIBLE;
	schedule_hrtimeout_range(&t, 0, HRTIMER_MODE_REL);
}

void sim_rest(u64 ns)
{
	if (current->mm)
		sim_sleep(ns);
	else
		sim_pause(ns);
}

/* Programs' memory: pages stay where they are as long as they may be pinned. */

static struct memory {
	void *p;
	size_t bytes;
	struct memory *next;
} *memories;

void sim_memory_of_run(void *p, size_t bytes)
{
	struct memory *m = calloc(1, sizeof(*m));

	if (!m)
		abort();
	m->p = p;
	m->bytes = bytes;
	m->next = memories;
	memories = m;
}

void *sim_memory(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		sim_fail("no memory for a program");
	sim_memory_of_run(p, bytes);
	return p;
}

/* A private mapping of a file whose server takes its time. */
void *sim_memory_late(size_t bytes, bool (*arrived)(void *arg), void *arg)
{
	static struct super_block sb;
	static struct inode inode = { .i_sb = &sb };
	static struct file file = { .f_inode = &inode, .count = { 1 << 30 } };
	struct vm_area_struct *v = calloc(1, sizeof(*v));
	struct mm_struct *mm = current->mm;
	void *p = sim_memory(bytes);

	if (!v)
		abort();
	v->vm_mm = mm;
	v->vm_start = (unsigned long)p;
	v->vm_end = v->vm_start + PAGE_ALIGN(bytes);
	v->vm_flags = VM_READ | VM_WRITE | VM_MAYWRITE;
	v->vm_file = &file;
	v->arrived = arrived;
	v->arrived_arg = arg;
	INIT_LIST_HEAD(&v->faulting);
	atomic_inc(&file.count);
	enter();
	down_write(&mm->mmap_lock);
	list_add_tail(&v->link, &mm->vmas);
	up_write(&mm->mmap_lock);
	leave();
	return p;
}

void sim_memory_arrived(struct sim_proc *p)
{
	if (!p->ended && !p->mm->dead)
		wake_fault(p->mm);
}

void sim_hosts_end(void)
{
	struct memory *m;

	next_pid = 0;
	while ((m = memories)) {
		memories = m->next;
		munmap(m->p, m->bytes);
		free(m);
	}
}
