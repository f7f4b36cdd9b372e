// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The classes of viadsm.hpp, each used once by several nodes.
#include <cstdio>
#include <mutex>
#include <viadsm.hpp>

int main()
{
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
	try {
		dsm::array<char> much(std::size_t(1) << 50);
	} catch (const std::bad_alloc &) {
		return 0;
	}
	std::printf("no std::bad_alloc\n");
	return 1;
}
