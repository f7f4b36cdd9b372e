/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Modules and parameters, character devices, attributes, credentials, networks. */
#ifndef SIM_KERNEL_DEV_H
#define SIM_KERNEL_DEV_H

#include "mm.h"

/* Modules: all are linked into one program, which calls init and exit. */

struct module {
	const char *name;
	atomic_t users;
};

struct sim_module {
	struct module *module;
	const char *name;
	int (*init)(void);
	void (*exit)(void);
};

#ifndef SIM_MODULE
#define SIM_MODULE		sim_no_module
#endif
extern struct module SIM_MODULE;
#define THIS_MODULE		(&SIM_MODULE)
#define try_module_get(m)	(atomic_inc(&(m)->users), true)
#define __module_get(m)		atomic_inc(&(m)->users)
#define module_put(m)							\
do {									\
	if (atomic_dec_return(&(m)->users) < 0)				\
		sim_fail("module %s is put more often than got", (m)->name); \
} while (0)
#define SIM_PASTE2(a, b)	a##_##b
#define SIM_PASTE(a, b)		SIM_PASTE2(a, b)
#define module_init(f) \
	int SIM_PASTE(sim_init, SIM_MODULE)(void); \
	int SIM_PASTE(sim_init, SIM_MODULE)(void) { return f(); }
#define module_exit(f) \
	void SIM_PASTE(sim_exit, SIM_MODULE)(void); \
	void SIM_PASTE(sim_exit, SIM_MODULE)(void) { f(); }
#define MODULE_DESCRIPTION(s)	struct sim_unused
#define MODULE_LICENSE(s)	struct sim_unused
#define MODULE_VERSION(s)	struct sim_unused
#define MODULE_AUTHOR(s)	struct sim_unused
#define EXPORT_SYMBOL_GPL(s)	struct sim_unused
#define EXPORT_SYMBOL(s)	struct sim_unused

/* Parameters are found by name, and by the size of their type. */
struct sim_param {
	const char *name;
	void *value;
	size_t size;
	struct sim_param *next;
	u64 initial;
};

void sim_param_add(struct sim_param *p);
bool sim_param_set(const char *name, u64 value);
void sim_params_reset(void);
#define module_param_named(n, v, type, perm)				\
	static struct sim_param sim_param_##n = { #n, &v, sizeof(v), NULL, 0 }; \
	__attribute__((__constructor__))				\
	static void sim_param_init_##n(void) { sim_param_add(&sim_param_##n); }\
	struct sim_unused
#define module_param(n, type, perm)	module_param_named(n, n, type, perm)
#define MODULE_PARM_DESC(n, s)	struct sim_unused
struct sim_unused;
struct kernel_param;
struct kernel_param_ops {
	int (*set)(const char *val, const struct kernel_param *kp);
	int (*get)(char *buf, const struct kernel_param *kp);
};
#define module_param_cb(n, ops, arg, perm)				\
	static const struct kernel_param_ops *sim_cb_##n __maybe_unused = \
		(ops);							\
	struct sim_unused
#define kernel_param_lock(m)	((void)0)
#define kernel_param_unlock(m)	((void)0)

/* Files and character devices */

typedef u32 sim_dev_t;
#define dev_t			sim_dev_t
#define MINORBITS		20
#define MKDEV(a, b)		((a) << MINORBITS | (b))
#define iminor(i)		((i)->minor)

struct super_block {
	unsigned long s_magic;
};

struct inode {
	unsigned int minor;
	struct super_block *i_sb;
};

struct file {
	void *private_data;
	unsigned int f_flags;
	struct inode *f_inode;
	const struct file_operations *f_op;
	atomic_t count;
};

#define file_inode(f)		((f)->f_inode)
#ifndef O_NONBLOCK
#define O_NONBLOCK		04000
#endif
typedef struct poll_table_struct {
	wait_queue_head_t *wait;
} poll_table;
#define poll_wait(f, w, t)	do { if (t) (t)->wait = (w); } while (0)
#define EPOLLIN			0x1u
#define EPOLLHUP		0x10u
#define EPOLLRDNORM		0x40u

struct file_operations {
	struct module *owner;
	int (*open)(struct inode *inode, struct file *f);
	int (*release)(struct inode *inode, struct file *f);
	loff_t (*llseek)(struct file *f, loff_t off, int whence);
	ssize_t (*read)(struct file *f, char *buf, size_t n, loff_t *pos);
	__poll_t (*poll)(struct file *f, poll_table *pt);
	int (*mmap)(struct file *f, struct vm_area_struct *vma);
	long (*unlocked_ioctl)(struct file *f, unsigned int cmd,
			       unsigned long arg);
	long (*compat_ioctl)(struct file *f, unsigned int cmd,
			     unsigned long arg);
};

#define compat_ptr_ioctl	NULL
#define in_compat_syscall()	false

struct cdev {
	struct module *owner;
	const struct file_operations *ops;
};

int alloc_chrdev_region(dev_t *dev, unsigned int first, unsigned int n,
			const char *name);
void unregister_chrdev_region(dev_t dev, unsigned int n);
void cdev_init(struct cdev *c, const struct file_operations *ops);
int cdev_add(struct cdev *c, dev_t dev, unsigned int n);
void cdev_del(struct cdev *c);

struct device {
	dev_t devt;
	void *data;
	char name[64];
	struct list_head link;
	const struct attribute_group **groups;
	struct device *parent;
};

struct class {
	const char *name;
	char *(*devnode)(const struct device *dev, umode_t *mode);
};

struct attribute {
	const char *name;
	umode_t mode;
};

#define sysfs_attr_init(attr)	do {} while (0)

struct device_attribute {
	struct attribute attr;
	ssize_t (*show)(struct device *dev, struct device_attribute *attr,
			char *buf);
	ssize_t (*store)(struct device *dev, struct device_attribute *attr,
			 const char *buf, size_t n);
};

struct attribute_group {
	const char *name;
	struct attribute **attrs;
};

#define DEVICE_ATTR_RO(n) \
	struct device_attribute dev_attr_##n = \
		{ .attr = { #n }, .show = n##_show }
#define DEVICE_ATTR_RW(n) \
	struct device_attribute dev_attr_##n = \
		{ .attr = { #n }, .show = n##_show, .store = n##_store }
#define DEVICE_ATTR_ADMIN_RW(n)	DEVICE_ATTR_RW(n)
int sim_emit(char *buf, int at, const char *fmt, ...);
#define sysfs_emit(b, ...)	sim_emit(b, 0, __VA_ARGS__)
#define sysfs_emit_at(b, at, ...) sim_emit(b, at, __VA_ARGS__)
struct class *class_create(const char *name);
void class_destroy(struct class *c);
struct device *device_create_with_groups(struct class *c,
					 struct device *parent, dev_t devt,
					 void *data,
					 const struct attribute_group **groups,
					 const char *fmt, ...);
void device_destroy(struct class *c, dev_t devt);
#define dev_get_drvdata(d)	((d)->data)
ssize_t sim_attr_show(const char *dev, const char *attr, char *buf);
const char *sim_device_name(int i);
int sim_minor_of(const char *name);

/* Users */

typedef struct { u32 val; } kuid_t;
#define GLOBAL_ROOT_UID	((kuid_t){ 0 })
#define __kuid_val(u)		((u).val)
#define uid_eq(a, b)		((a).val == (b).val)
#define uid_valid(a)		((a).val != -1u)

struct user_namespace {
	int level;
	struct user_namespace *parent;
	kuid_t owner;
};

struct cred {
	kuid_t uid;
	bool capable;
	struct user_namespace *ns;
};

extern struct user_namespace init_user_ns;
/* Processes have no numbers. */
struct pid;
#define task_tgid(t)		((void)(t), (struct pid *)NULL)
#define get_pid(p)		(p)
#define put_pid(p)		((void)(p))
#define current_uid()		(current->cred->uid)
#define current_user_ns()	(current->cred->ns)
/* An audited question may sleep, and tells of each refusal. */
bool sim_capable(void);
#define capable(c)		((void)(c), sim_capable())
#define ns_capable_noaudit(n, c) ((void)(c), current->cred->capable)
#define from_kuid_munged(ns, u)	((u).val)
#define CAP_SYS_RESOURCE	24
#define CAP_IPC_LOCK		14
#define CAP_NET_ADMIN		12

/* Networks and names */

struct net {
	int id;
};

struct nsproxy {
	struct net *net_ns;
};

struct new_utsname {
	char nodename[__NEW_UTS_LEN + 1];
};

extern struct net init_net;
extern struct net sim_other_net;
extern struct new_utsname sim_utsname;
#define net_eq(a, b)		((a) == (b))
#define init_utsname()		(&sim_utsname)

/* Interfaces: that they go for good, and that a namespace ends. */

#define NETDEV_UNREGISTER	6
#define NOTIFY_DONE		0
#define __net_exit

enum { NETREG_REGISTERED = 1, NETREG_UNREGISTERING };

struct net_device {
	int reg_state;
};

struct notifier_block {
	int (*notifier_call)(struct notifier_block *nb, unsigned long event,
			     void *ptr);
	int priority;
};

struct pernet_operations {
	void (*exit)(struct net *net);
};

#define netdev_notifier_info_to_dev(p) ((struct net_device *)(p))
int register_netdevice_notifier(struct notifier_block *nb);
void unregister_netdevice_notifier(struct notifier_block *nb);
int register_pernet_subsys(struct pernet_operations *ops);
void unregister_pernet_subsys(struct pernet_operations *ops);
void sim_netdev_gone(struct net_device *dev);
void sim_net_gone(struct net *net);

#define ETH_ALEN		6
#define ETH_HLEN		14
#define ETH_ZLEN		60
#define ETH_P_802_3_MIN		0x600
#define VLAN_HLEN		4

struct ethhdr {
	u8 h_dest[ETH_ALEN];
	u8 h_source[ETH_ALEN];
	__be16 h_proto;
} __packed;

#define ether_addr_copy(d, s)	memcpy(d, s, ETH_ALEN)
#define ether_addr_equal(a, b)	(!memcmp(a, b, ETH_ALEN))
#define ether_addr_equal_unaligned(a, b) ether_addr_equal(a, b)
#define eth_broadcast_addr(a)	memset(a, 0xff, ETH_ALEN)
static inline bool is_multicast_ether_addr(const u8 *a)
{
	return a[0] & 1;
}

static inline bool is_zero_ether_addr(const u8 *a)
{
	static const u8 zero[ETH_ALEN];

	return ether_addr_equal(a, zero);
}

#define is_valid_ether_addr(a) \
	(!is_multicast_ether_addr(a) && !is_zero_ether_addr(a))
#define is_broadcast_ether_addr(a) \
	(((a)[0] & (a)[1] & (a)[2] & (a)[3] & (a)[4] & (a)[5]) == 0xff)

#endif
