// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The classes of viadsm.hpp, each used once by several nodes. With an argument,
// an exception ends node 0.
#include <cstdio>
#include <mutex>
#include <viadsm.hpp>

static bool too_many(std::size_t count)
{
	try {
		dsm::array<long> much(count);
	} catch (const std::bad_alloc &) {
		return true;
	}
	std::printf("no std::bad_alloc\n");
	return false;
}

static int end_of_one()
{
	try {
		dsm::node node;

		if (!dsm::rank())
			throw 3;
		for (;;)
			dsm::barrier();
	} catch (int status) {
		return status;
	}
}

int main(int argc, char **)
{
	if (argc > 1)
		return end_of_one();

	dsm::node node;
	dsm::array<long> squares(5000);
	dsm::array<long> sum(1, dsm::size() - 1);
	dsm::mutex lock(5);
	long mine = 0, all = 0;

	for (long &s : squares.share()) {
		long i = &s - squares.data();

		s = i * i;
		mine += s;
	}
	{
		std::lock_guard<dsm::mutex> hold(lock);

		sum[0] += mine;
	}
	dsm::barrier();
	for (long s : squares)
		all += s;
	if (all != 41654167500 || sum[0] != all) {
		std::printf("node %u: %ld, %ld\n", dsm::rank(), all, sum[0]);
		return 1;
	}
	return !too_many(std::size_t(1) << 50) ||
	       !too_many(SIZE_MAX / sizeof(long) + 2);
}
