/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * viadsm.hpp - viadsm.h for C++11 and later
 *
 * #include <viadsm.hpp>, link with -lviadsm -lvipl -lpthread. Nothing here
 * blocks longer, or fails otherwise, than the call of viadsm.h that it makes;
 * memory that there is not throws std::bad_alloc.
 */
#ifndef _VIADSM_HPP
#define _VIADSM_HPP

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <type_traits>
#include <viadsm.h>

namespace dsm {

/* This process is a node as long as it lives: one, in main(). Where an exception
 * ends it, dsm_exit() is not called: the others would wait in it, or meet it in
 * another barrier. The process is to end then, and the others end with it.
 */
class node {
public:
	node() : thrown_(thrown()) { dsm_init(); }
	~node()
	{
		if (thrown() == thrown_)
			dsm_exit();
	}
	node(const node &) = delete;
	node &operator=(const node &) = delete;

private:
	static int thrown()
	{
#if __cplusplus >= 201703L
		return std::uncaught_exceptions();
#else
		return std::uncaught_exception();
#endif
	}

	int thrown_;
};

inline unsigned int rank() { return dsm_rank(); }
inline unsigned int size() { return dsm_size(); }
inline void barrier() { dsm_barrier(); }

/* One of the DSM_LOCKS locks, for std::lock_guard and std::unique_lock. */
class mutex {
public:
	explicit mutex(unsigned int number) : number_(number) {}
	mutex(const mutex &) = delete;
	mutex &operator=(const mutex &) = delete;
	void lock() { dsm_acquire(number_); }
	void unlock() { dsm_release(number_); }

private:
	unsigned int number_;
};

/* Elements in shared memory, zeroed. All nodes make it in the same order; each
 * has an object of its own, of the same elements. They stay until the node ends.
 */
template <typename T> class array {
	static_assert(std::is_trivially_copyable<T>::value,
		      "elements are copied by bytes");

public:
	/* At home in equal blocks. */
	explicit array(std::size_t count)
		: first_(checked(dsm_malloc(bytes(count)))), count_(count) {}
	/* At home at one node. */
	array(std::size_t count, unsigned int home)
		: first_(checked(dsm_malloc_at(bytes(count), home))),
		  count_(count) {}

	T &operator[](std::size_t i) const { return first_[i]; }
	T *data() const { return first_; }
	std::size_t size() const { return count_; }
	T *begin() const { return first_; }
	T *end() const { return first_ + count_; }

	/* This node's share, as a range. */
	struct range {
		T *from, *to;
		T *begin() const { return from; }
		T *end() const { return to; }
	};
	range share() const
	{
		std::size_t from, to;

		dsm_share(count_, &from, &to);
		return { first_ + from, first_ + to };
	}

private:
	static std::size_t bytes(std::size_t count)
	{
		if (count > SIZE_MAX / sizeof(T))
			throw std::bad_alloc();
		return count * sizeof(T);
	}
	static T *checked(void *p)
	{
		if (!p)
			throw std::bad_alloc();
		return static_cast<T *>(p);
	}

	T *first_;
	std::size_t count_;
};

} /* namespace dsm */

#endif /* _VIADSM_HPP */
