// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Bodies under gravitation, by Barnes and Hut: a far group of bodies counts as
 * one. The first worker builds the tree of groups in shared memory, all compute
 * the forces on their share of the bodies and move them.
 *
 *	viadsm -n 4 barnes [BODIES [STEPS]]
 */
#include <math.h>

#include "crew.h"

#define THETA	0.6
#define SMOOTH	0.01	/* no force is without bound */
#define STEP	0.01
#define DEEP	40	/* two bodies nearer than this many halvings are one */

struct body {
	double at[3], speed[3], mass;
};

/* A child is a cell, a body (negative, -1 - its number), or 0. The root is cell
 * 1.
 */
struct cell {
	double middle[3], at[3], mass, side;
	int child[8];
};

struct space {
	struct body *body;
	struct cell *cell;
	int bodies, cells, room;
};

static int new_cell(struct space *s, const double *middle, double side)
{
	struct cell *c;

	if (s->cells == s->room)
		return 0;
	c = &s->cell[s->cells];
	memset(c, 0, sizeof(*c));
	memcpy(c->middle, middle, sizeof(c->middle));
	c->side = side;
	return s->cells++;
}

static int octant(const struct cell *c, const double *at)
{
	return (at[0] > c->middle[0]) | (at[1] > c->middle[1]) << 1 |
	       (at[2] > c->middle[2]) << 2;
}

static int split(struct space *s, int cell, int way)
{
	const struct cell *c = &s->cell[cell];
	double middle[3];

	for (int d = 0; d < 3; d++)
		middle[d] = c->middle[d] + (way >> d & 1 ? 1 : -1) * c->side / 4;
	return new_cell(s, middle, c->side / 2);
}

static void insert(struct space *s, int cell, int body, int depth)
{
	int way = octant(&s->cell[cell], s->body[body].at);
	int child = s->cell[cell].child[way], sub;

	if (!child || depth == DEEP) {
		s->cell[cell].child[way] = -1 - body;
		return;
	}
	if (child < 0) {
		sub = split(s, cell, way);
		if (!sub)
			return;
		s->cell[cell].child[way] = sub;
		insert(s, sub, -1 - child, depth + 1);
		child = sub;
	}
	insert(s, child, body, depth + 1);
}

/* Masses and their centres, from the leaves. */
static void sum_up(struct space *s, int cell)
{
	struct cell *c = &s->cell[cell];
	const double *at;
	double mass;

	for (int i = 0; i < 8; i++) {
		if (!c->child[i])
			continue;
		if (c->child[i] > 0)
			sum_up(s, c->child[i]);
		at = c->child[i] > 0 ? s->cell[c->child[i]].at :
				       s->body[-1 - c->child[i]].at;
		mass = c->child[i] > 0 ? s->cell[c->child[i]].mass :
					 s->body[-1 - c->child[i]].mass;
		for (int d = 0; d < 3; d++)
			c->at[d] += mass * at[d];
		c->mass += mass;
	}
	for (int d = 0; d < 3; d++)
		c->at[d] /= c->mass;
}

static void build(struct space *s)
{
	static const double middle[3];
	double side = 2;

	for (int i = 0; i < s->bodies; i++)
		for (int d = 0; d < 3; d++)
			while (fabs(s->body[i].at[d]) > side / 2)
				side *= 2;
	s->cells = 1;
	new_cell(s, middle, side);
	for (int i = 0; i < s->bodies; i++)
		insert(s, 1, i, 0);
	sum_up(s, 1);
}

static void pull(double *force, const double *to, const double *at, double mass)
{
	double way[3], square = SMOOTH;

	for (int d = 0; d < 3; d++) {
		way[d] = at[d] - to[d];
		square += way[d] * way[d];
	}
	for (int d = 0; d < 3; d++)
		force[d] += mass * way[d] / (square * sqrt(square));
}

static void pull_cell(const struct space *s, double *force, const double *to,
		      int cell)
{
	const struct cell *c = &s->cell[cell];
	double square = 0;

	for (int d = 0; d < 3; d++)
		square += (c->at[d] - to[d]) * (c->at[d] - to[d]);
	if (c->side * c->side < THETA * THETA * square) {
		pull(force, to, c->at, c->mass);
		return;
	}
	for (int i = 0; i < 8; i++) {
		if (c->child[i] > 0)
			pull_cell(s, force, to, c->child[i]);
		else if (c->child[i])
			pull(force, to, s->body[-1 - c->child[i]].at,
			     s->body[-1 - c->child[i]].mass);
	}
}

static void speed_up(struct space *s, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		double force[3] = { 0 };

		pull_cell(s, force, s->body[i].at, 1);
		for (int d = 0; d < 3; d++)
			s->body[i].speed[d] += STEP * force[d];
	}
}

static void move(struct space *s, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++)
		for (int d = 0; d < 3; d++)
			s->body[i].at[d] += STEP * s->body[i].speed[d];
}

static void fill(struct space *s, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++)
		for (int d = 0; d < 3; d++) {
			s->body[i].at[d] = (i * 7919 * (d + 1) + d * 31) % 10007 /
					   5003.5 - 1;
			s->body[i].speed[d] = 0;
			s->body[i].mass = 1.0 / s->bodies;
		}
}

static int check(const struct space *shared, int steps, double seconds)
{
	struct space own = *shared;
	size_t bytes = own.bodies * sizeof(*own.body);
	double start;
	int right;

	own.body = malloc(bytes);
	own.cell = malloc(own.room * sizeof(*own.cell));
	if (!own.body || !own.cell)
		return 2;
	fill(&own, 0, own.bodies);
	start = crew_seconds();
	for (int i = 0; i < steps; i++) {
		build(&own);
		speed_up(&own, 0, own.bodies);
		move(&own, 0, own.bodies);
	}
	start = crew_seconds() - start;
	right = !memcmp(own.body, shared->body, bytes);
	free(own.body);
	free(own.cell);
	return crew_report("barnes", seconds, start, right);
}

static int work(int argc, char **argv)
{
	struct space s = { .bodies = crew_argument(argc, argv, 1, 1000) };
	int steps = crew_argument(argc, argv, 2, 3);
	size_t first, end;
	double start;

	s.room = 8 * s.bodies + 64;
	s.body = crew_malloc(s.bodies * sizeof(*s.body));
	s.cell = crew_malloc_at(s.room * sizeof(*s.cell), 0);
	if (!s.body || !s.cell) {
		fprintf(stderr, "barnes: no memory for the bodies\n");
		return 1;
	}
	crew_share(s.bodies, &first, &end);
	fill(&s, first, end);
	crew_barrier();
	start = crew_seconds();
	for (int i = 0; i < steps; i++) {
		if (!crew_rank())
			build(&s);
		crew_barrier();
		speed_up(&s, first, end);
		crew_barrier();
		move(&s, first, end);
		crew_barrier();
	}
	start = crew_seconds() - start;
	return crew_rank() ? 0 : check(&s, steps, start);
}

int main(int argc, char **argv)
{
	return crew_main(argc, argv, work);
}
