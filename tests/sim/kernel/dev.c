// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Devices, parameters, namespaces; beginning and end of the model. */
#include <stdio.h>
#include "dev.h"
#include "../engine.h"
#include "model.h"
#include "../host.h"

struct module sim_no_module = { .name = "none" };
struct user_namespace init_user_ns;
struct net init_net = { 1 };
struct net sim_other_net = { 2 };
struct new_utsname sim_utsname = { "host" };

static struct sim_param *params;
static LIST_HEAD(devices);
static struct cdev *cdev;

void sim_param_add(struct sim_param *p)
{
	memcpy(&p->initial, p->value, p->size);
	p->next = params;
	params = p;
}

/* What the last run has set is not this one's. */
void sim_params_reset(void)
{
	struct sim_param *p;

	for (p = params; p; p = p->next)
		memcpy(p->value, &p->initial, p->size);
}

bool sim_capable(void)
{
	if (sim_self->rcu)
		sim_fail("capable() is asked in an RCU read side");
	return current->cred->capable;
}

bool sim_param_set(const char *name, u64 value)
{
	struct sim_param *p;

	for (p = params; p; p = p->next) {
		if (strcmp(p->name, name))
			continue;
		memcpy(p->value, &value, p->size);
		return true;
	}
	return false;
}

static struct notifier_block *notifier;
static struct pernet_operations *pernet;

int register_netdevice_notifier(struct notifier_block *nb)
{
	if (sim_alloc_fails())
		return -ENOMEM;
	notifier = nb;
	return 0;
}

void unregister_netdevice_notifier(struct notifier_block *nb)
{
	notifier = NULL;
}

int register_pernet_subsys(struct pernet_operations *ops)
{
	if (sim_alloc_fails())
		return -ENOMEM;
	pernet = ops;
	return 0;
}

void unregister_pernet_subsys(struct pernet_operations *ops)
{
	pernet = NULL;
}

void sim_netdev_gone(struct net_device *dev)
{
	dev->reg_state = NETREG_UNREGISTERING;
	notifier->notifier_call(notifier, NETDEV_UNREGISTER, dev);
}

void sim_net_gone(struct net *net)
{
	pernet->exit(net);
}

int alloc_chrdev_region(dev_t *dev, unsigned int first, unsigned int n,
			const char *name)
{
	*dev = MKDEV(240, 0);
	return sim_alloc_fails() ? -ENOMEM : 0;
}

void unregister_chrdev_region(dev_t dev, unsigned int n)
{
}

void cdev_init(struct cdev *c, const struct file_operations *ops)
{
	c->ops = ops;
}

int cdev_add(struct cdev *c, dev_t dev, unsigned int n)
{
	if (sim_alloc_fails())
		return -ENOMEM;
	cdev = c;
	return 0;
}

void cdev_del(struct cdev *c)
{
	cdev = NULL;
}

const struct file_operations *sim_cdev_ops(void)
{
	return cdev ? cdev->ops : NULL;
}

struct class *class_create(const char *name)
{
	struct class *c = sim_kmalloc(sizeof(*c), GFP_KERNEL | __GFP_ZERO);

	return c ? c : ERR_PTR(-ENOMEM);
}

void class_destroy(struct class *c)
{
	kfree(c);
}

struct device *device_create_with_groups(struct class *c,
					 struct device *parent, dev_t devt,
					 void *data,
					 const struct attribute_group **groups,
					 const char *fmt, ...)
{
	struct device *d = sim_kmalloc(sizeof(*d), GFP_KERNEL | __GFP_ZERO);
	struct device *other;
	va_list ap;

	if (!d)
		return ERR_PTR(-ENOMEM);
	va_start(ap, fmt);
	vsnprintf(d->name, sizeof(d->name), fmt, ap);
	va_end(ap);
	/* As sysfs, where a number has one device, and a name has one. */
	list_for_each_entry(other, &devices, link)
		if (other->devt == devt || !strcmp(other->name, d->name)) {
			kfree(d);
			return ERR_PTR(-EEXIST);
		}
	d->devt = devt;
	d->data = data;
	d->groups = groups;
	list_add_tail(&d->link, &devices);
	return d;
}

void device_destroy(struct class *c, dev_t devt)
{
	struct device *d;

	might_sleep();
	list_for_each_entry(d, &devices, link)
		if (d->devt == devt) {
			list_del(&d->link);
			kfree(d);
			return;
		}
}

int sim_minor_of(const char *name)
{
	struct device *d;

	list_for_each_entry(d, &devices, link)
		if (!strcmp(d->name, name))
			return d->devt & ((1 << MINORBITS) - 1);
	return -ENOENT;
}

/* The i-th of them all; NULL: no more. */
const char *sim_device_name(int i)
{
	struct device *d;

	list_for_each_entry(d, &devices, link)
		if (!i--)
			return d->name;
	return NULL;
}

static struct device_attribute *find_attr(const char *dev, const char *attr,
					  struct device **out)
{
	struct device_attribute *a;
	struct device *d;
	int g, i;

	list_for_each_entry(d, &devices, link) {
		if (strcmp(d->name, dev))
			continue;
		for (g = 0; d->groups[g]; g++)
			for (i = 0; d->groups[g]->attrs[i]; i++) {
				a = container_of(d->groups[g]->attrs[i],
						 struct device_attribute, attr);
				if (strcmp(a->attr.name, attr))
					continue;
				*out = d;
				return a;
			}
	}
	return NULL;
}

/* @buf has room for a page. */
ssize_t sim_attr_show(const char *dev, const char *attr, char *buf)
{
	struct device *d;
	struct device_attribute *a = find_attr(dev, attr, &d);

	return a && a->show ? a->show(d, a, buf) : -ENOENT;
}

void sim_model_begin(void)
{
	sim_params_reset();
	sim_mm_reset();
	sim_locks_reset();
	sim_time_reset();
	sim_rcu_reset();
	sim_work_reset();
	sim_time_begin();
	sim_work_begin();
}

void sim_model_end(void)
{
	sim_time_end();
	sim_work_end();
}
