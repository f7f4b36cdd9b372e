// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Queues of tasks behind locks: an image of some balls is traced tile by tile.
 * Each worker has a queue of tiles; one whose queue is empty takes from the
 * others.
 *
 *	viadsm -n 4 tasks [SIDE]
 */
#include <math.h>

#include "crew.h"

#define TILE	16
#define BALLS	24
#define DEPTH	4

struct queue {
	int next, end;
	char line[4096 - 2 * sizeof(int)];	/* a page of its own */
};

struct vec {
	double x, y, z;
};

static struct vec add(struct vec a, struct vec b, double times)
{
	return (struct vec){ a.x + b.x * times, a.y + b.y * times,
			     a.z + b.z * times };
}

static double dot(struct vec a, struct vec b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

static struct vec unit(struct vec a)
{
	return add((struct vec){ 0, 0, 0 }, a, 1 / sqrt(dot(a, a)));
}

static struct vec ball(int i)
{
	return (struct vec){ i * 37 % 19 - 9.0, i * 53 % 17 - 8.0,
			     12.0 + i * 29 % 13 };
}

/* The distance to the next ball, whose number is *hit, or 0. */
static double next_ball(struct vec from, struct vec way, int *hit)
{
	double best = 0;

	for (int i = 0; i < BALLS; i++) {
		struct vec to = add(ball(i), from, -1);
		double b = dot(to, way), d = b * b - dot(to, to) + 4.0;
		double at = d > 0 ? b - sqrt(d) : 0;

		if (at > 1e-6 && (!best || at < best)) {
			best = at;
			*hit = i;
		}
	}
	return best;
}

static double trace(struct vec from, struct vec way, int depth)
{
	struct vec light = unit((struct vec){ 1, 2, -2 }), at, normal;
	int hit = 0;
	double far = next_ball(from, way, &hit), shade;

	if (!far || depth == DEPTH)
		return 0.5 + 0.5 * way.y;
	at = add(from, way, far);
	normal = unit(add(at, ball(hit), -1));
	shade = dot(normal, light);
	shade = shade > 0 && !next_ball(at, light, &hit) ? shade : 0.1;
	return 0.6 * shade + 0.4 * trace(at, add(way, normal,
						 -2 * dot(way, normal)),
					 depth + 1);
}

static void trace_tile(unsigned char *image, int side, int tile)
{
	int across = side / TILE, x0 = tile % across * TILE;
	int y0 = tile / across * TILE;

	for (int y = y0; y < y0 + TILE; y++)
		for (int x = x0; x < x0 + TILE; x++) {
			struct vec way = unit((struct vec){
				(x - side / 2.0) / side, (y - side / 2.0) / side,
				1 });

			image[y * side + x] = 255 *
				trace((struct vec){ 0, 0, 0 }, way, 0);
		}
}

/* The next tile of the queue, or -1. */
static int take(struct queue *q, unsigned int lock)
{
	int tile;

	crew_acquire(lock);
	tile = q->next < q->end ? q->next++ : -1;
	crew_release(lock);
	return tile;
}

static int check(const unsigned char *image, int side, double seconds)
{
	unsigned char *own = malloc(side * side);
	double start = crew_seconds();
	int right;

	if (!own)
		return 2;
	for (int i = 0; i < side / TILE * (side / TILE); i++)
		trace_tile(own, side, i);
	start = crew_seconds() - start;
	right = !memcmp(own, image, side * side);
	free(own);
	return crew_report("tasks", seconds, start, right);
}

static int work(int argc, char **argv)
{
	int side = crew_argument(argc, argv, 1, 128) / TILE * TILE;
	unsigned int me = crew_rank(), n = crew_size();
	unsigned char *image = crew_malloc(side * side);
	struct queue *q = crew_malloc(n * sizeof(*q));
	size_t first, end;
	double start;
	int tile;

	if (!image || !q) {
		fprintf(stderr, "tasks: no memory for the image\n");
		return 1;
	}
	crew_share(side / TILE * (side / TILE), &first, &end);
	q[me].next = first;
	q[me].end = end;
	crew_barrier();
	start = crew_seconds();
	for (unsigned int i = 0; i < n; i++)
		while ((tile = take(&q[(me + i) % n], (me + i) % n)) >= 0)
			trace_tile(image, side, tile);
	crew_barrier();
	start = crew_seconds() - start;
	return me ? 0 : check(image, side, start);
}

int main(int argc, char **argv)
{
	return crew_main(argc, argv, work);
}
