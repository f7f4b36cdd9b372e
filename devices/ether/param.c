// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parameters of the class, and what they come to. */

#include <linux/module.h>
#include "param.h"
#include "vi.h"

ushort via_ether_type = VIA_WIRE_ETHERTYPE;
module_param_named(ethertype, via_ether_type, ushort, 0444);
MODULE_PARM_DESC(ethertype, "EtherType of our frames (default 0x88b5)");

bool via_ether_checksum;
module_param_named(checksum, via_ether_checksum, bool, 0644);
MODULE_PARM_DESC(checksum, "new connections carry a CRC32C in each frame");

/*
 * Commonly a NIC has a receive ring of 256 frames or more, and a gigabit a
 * second and 3 ms are 256 frames of 1,500 bytes.
 */
uint via_ether_window = 256;
module_param_named(window, via_ether_window, uint, 0644);
MODULE_PARM_DESC(window, "frames unacknowledged per VI, 1..2048 (default 256)");

uint via_ether_ooo_max = 4096;
module_param_named(ooo_frames, via_ether_ooo_max, uint, 0644);
MODULE_PARM_DESC(ooo_frames, "frames held beyond holes, per NIC");

uint via_ether_retries = 12;
module_param_named(max_retries, via_ether_retries, uint, 0644);
MODULE_PARM_DESC(max_retries, "timeouts in a row, at least, until a connection breaks");

uint via_ether_ack_every = VIA_ETHER_ACK_EVERY;
module_param_named(ack_every, via_ether_ack_every, uint, 0644);
MODULE_PARM_DESC(ack_every, "frames taken until an acknowledgement is sent");

static uint rto_min_us = 200;
module_param(rto_min_us, uint, 0644);
MODULE_PARM_DESC(rto_min_us, "shortest retransmission timeout");

static uint rto_max_ms = 1000;
module_param(rto_max_ms, uint, 0644);
MODULE_PARM_DESC(rto_max_ms, "longest retransmission timeout");

static uint heartbeat_ms = 1000;
module_param(heartbeat_ms, uint, 0644);
MODULE_PARM_DESC(heartbeat_ms, "silence after which the peer is asked");

static uint dead_ms = 8000;
module_param(dead_ms, uint, 0644);
MODULE_PARM_DESC(dead_ms, "silence after which a connection breaks");

static uint dma_min = VIA_ETHER_DMA_MIN;
module_param(dma_min, uint, 0644);
MODULE_PARM_DESC(dma_min,
		 "bytes of a frame's payload from which on a NIC that can fetches them itself; new connections");

static uint time_scale = IS_ENABLED(CONFIG_KASAN) ? 4 : 1;
module_param(time_scale, uint, 0644);
MODULE_PARM_DESC(time_scale, "multiplies all times (slow kernels)");

#define ACK_DELAY_US	100u

/* Root may write anything into a parameter: keep the arithmetic sound. */
static u32 scale_time(uint value, u32 most)
{
	return min_t(u64, (u64)value * max(READ_ONCE(time_scale), 1u), most);
}

u32 via_ether_rto_min(void)
{
	return scale_time(READ_ONCE(rto_min_us), 60 * USEC_PER_SEC);
}

/*
 * How long an acknowledgement may wait, at least: the peer counts on it, so it
 * is no parameter.
 */
u32 via_ether_ack_delay(void)
{
	return scale_time(ACK_DELAY_US, USEC_PER_SEC);
}

u32 via_ether_rto_max(void)
{
	return max(scale_time(READ_ONCE(rto_max_ms), 60 * MSEC_PER_SEC) *
		   (u32)USEC_PER_MSEC, via_ether_rto_min());
}

unsigned long via_ether_scaled(uint ms)
{
	return msecs_to_jiffies(scale_time(ms, 3600 * MSEC_PER_SEC)) + 1;
}

unsigned long via_ether_heartbeat(void)
{
	return via_ether_scaled(READ_ONCE(heartbeat_ms));
}

unsigned long via_ether_dead(void)
{
	return via_ether_scaled(READ_ONCE(dead_ms));
}

/*
 * From how many bytes on a frame goes by DMA.  An unreliable send completes
 * when its frame is with the NIC, and then the bytes are the program's again:
 * they are copied.  A reliable one completes when the peer has acknowledged
 * them, so the frame has left the ring; one that is sent again is copied.
 */
u32 via_ether_dma_from(const struct via_ether_vi *ev)
{
	/* What has a seal must not change under it: it is copied, too. */
	if (!ev->conn.reliable || ev->conn.seal || !ev->nic->ops->tx_put_frags)
		return U32_MAX;
	return max(READ_ONCE(dma_min), 1u);
}

__be16 via_ether_proto(void)
{
	return cpu_to_be16(via_ether_type);
}
EXPORT_SYMBOL_GPL(via_ether_proto);
