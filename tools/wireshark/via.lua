-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
--
-- Wireshark's dissector of the wire of mvia, version 2 (docs/reference/wire.md), behind
-- an Ethernet header or in UDP.  Lua 5.1 to 5.4: no operators of one version.
--
-- judge() has the checks of devices/ether/proto/wire.c in their order, so via.drop is
-- the cause that a receiver counts (tests/wireshark compares them).  What is
-- shown does not depend on it: a frame that is wrong is shown as far as it goes.
-- Nothing is read beyond what was captured.

local VERSION = 2
local HDR_MAX = 288			-- no header is longer, seal included

local TYPES = {
	[0x00] = "VERSION", [0x01] = "SEND", [0x02] = "WRITE",
	[0x03] = "READ", [0x04] = "READ_DATA", [0x08] = "ACK",
	[0x09] = "DISCONNECT", [0x0a] = "DISCONNECT_ACK", [0x0b] = "RESET",
	[0x10] = "REQUEST", [0x11] = "CHALLENGE", [0x12] = "WAIT",
	[0x13] = "REFUSE", [0x14] = "ACCEPT", [0x15] = "CONFIRM",
	[0x16] = "CANCEL", [0x17] = "PEER_REQUEST", [0x18] = "PEER_ACCEPT",
	[0x20] = "HEARTBEAT", [0x21] = "HEARTBEAT_ACK", [0x22] = "ACKS",
	[0x23] = "LIST", [0x30] = "NAME_QUERY", [0x31] = "NAME_REPLY",
}
local T = {}
for number, name in pairs(TYPES) do
	T[name] = number
end

local function set(...)
	local s = {}
	for _, name in ipairs({ ... }) do
		s[T[name]] = true
	end
	return s
end

local DATA = set("SEND", "WRITE", "READ", "READ_DATA")
local RDMA = set("WRITE", "READ")
local END = set("DISCONNECT", "DISCONNECT_ACK", "RESET")
local ANSWER = set("WAIT", "REFUSE", "CONFIRM", "CANCEL")
local CONN = set("REQUEST", "ACCEPT", "PEER_REQUEST", "PEER_ACCEPT")
local ASKS = set("REQUEST", "PEER_REQUEST")
local HEARTBEAT_ACK = set("HEARTBEAT", "HEARTBEAT_ACK")
local NAME = set("NAME_QUERY", "NAME_REPLY")
-- dst is the id of a VI
local HAS_DST = set("SEND", "WRITE", "READ", "READ_DATA", "ACK", "DISCONNECT",
		    "REQUEST", "CHALLENGE", "PEER_REQUEST")
-- id and cookie are of the sender of the frame
local OF_SENDER = set("REQUEST", "PEER_REQUEST", "CANCEL", "DISCONNECT_ACK",
		      "RESET")

local FLAGS = {
	{ 0x01, "push", "PUSH", "the sender's queue is empty behind it" },
	{ 0x02, "immediate", "IMMEDIATE", "immediate data" },
	{ 0x04, "ack_now", "ACK_NOW", "to be acknowledged at once" },
	{ 0x08, "sum", "SUM", "a checksum is behind the headers" },
	{ 0x10, "auth", "AUTH", "an authenticator is behind the headers" },
	{ 0x20, "probe", "PROBE", "tail probe; with PUSH: the sender keeps the ACK deadline" },
	{ 0x40, "dsack", "DSACK", "a frame came twice" },
}
local IMMEDIATE, SUM, AUTH, DSACK = 0x02, 0x08, 0x10, 0x40

local END_REASONS = {
	[0] = "closed: the program disconnected, ended, or was killed",
	[1] = "no receive was posted",
	[2] = "the posted receive was in error",
	[3] = "an RDMA Write was refused",
	[4] = "malformed frames",
	[5] = "retries exhausted, or an error of the sender's own",
	[6] = "the interface went down",
	[7] = "an RDMA Read was refused",
	[8] = "the MTU of the sender's interface was lowered",
}
local REFUSE_REASONS = {
	[0] = "none",
	[1] = "no server waits on the discriminator",
	[2] = "rejected, or the server's program ended",
	[3] = "reliability levels differ",
	[4] = "maximum transfer sizes differ",
	[5] = "qualities of service differ",
}
local LEVELS = {
	[1] = "Unreliable", [2] = "Reliable Delivery", [4] = "Reliable Reception",
}

-- Fields ---------------------------------------------------------------------

local via = Proto("via", "Virtual Interface Architecture")
local F, fields = {}, {}

local function field(name, kind, label, ...)
	F[name] = ProtoField[kind]("via." .. name, label, ...)
	fields[#fields + 1] = F[name]
end

field("version", "uint8", "Version")
field("type", "uint8", "Type", base.HEX, TYPES)
field("flags", "uint8", "Flags", base.HEX)
for _, f in ipairs(FLAGS) do
	field("flags." .. f[2], "bool", f[3], 8, nil, f[1], f[4])
end
field("marks", "uint8", "Marks", base.HEX)
field("marks.ce", "bool", "CE", 8, nil, 0x01,
      "a frame was marked Congestion Experienced")
field("dst", "uint32", "VI")
field("cookie", "uint64", "Cookie", base.HEX)
field("lowest", "uint8", "Lowest version")
field("about", "uint8", "About a frame of version")
field("quote", "bytes", "First bytes of that frame")
field("seq", "uint32", "Sequence number")
field("ack", "uint32", "Next frame expected")
field("msg_len", "uint32", "Bytes of the message")
field("offset", "uint32", "Offset in the message")
field("len", "uint16", "Payload bytes")
field("reads", "uint16", "Answers READ (low bits of its number)")
field("train.frames", "uint32", "Frames of the train")
field("train.bytes", "uint32", "Payload bytes of the train")
field("immediate", "uint32", "Immediate data", base.HEX)
field("notes", "uint16", "Notes", base.HEX)
field("notes.solicited", "bool", "Solicited", 16, nil, 1,
      "the receiver is to be woken")
field("notes.invalidate", "bool", "Invalidate", 16, nil, 2,
      "a memory handle of the receiver's comes along")
field("invalidate", "uint32", "Memory handle to invalidate", base.HEX)
field("raddr", "uint64", "Address at the target", base.HEX)
field("rhandle", "uint32", "Memory handle at the target", base.HEX)
field("dsack", "uint32", "Frame that came twice")
field("ranges", "uint8", "Ranges")
field("range", "none", "Arrived out of order")
field("range.start", "uint16", "Start")
field("range.count", "uint16", "Count")
field("delay", "uint8", "Waited for this answer (16 us)")
field("share", "uint16", "Share (sixteenths of a frame)")
field("end.reason", "uint32", "Reason", base.DEC, END_REASONS)
field("end.src", "uint32", "VI of the sender, or that of the frame it answers")
field("epoch", "uint64", "Epoch of the sender", base.HEX)
field("token", "uint64", "Address token", base.HEX)
field("frames", "uint32", "Frames taken in a row")
field("mtu", "uint32", "MTU")
field("nonce", "uint64", "Nonce of the session", base.HEX)
field("vi", "uint32", "VI")
field("to", "uint32", "VI of the receiver")
field("sender_cookie", "uint64", "Cookie of the sender", base.HEX)
field("first_seq", "uint32", "First sequence number")
field("reliability", "uint32", "Reliability", base.DEC, LEVELS)
field("max_transfer", "uint32", "Maximum transfer size")
field("rights", "uint32", "RDMA rights", base.HEX)
field("rights.write", "bool", "RDMA Write allowed", 32, nil, 1)
field("rights.read", "bool", "RDMA Read allowed", 32, nil, 2)
field("timeout", "uint32", "Time left (ms)")
field("options", "uint32", "Options", base.HEX)
field("options.sum", "bool", "Checksums", 32, nil, 1)
field("options.notes", "bool", "Notes", 32, nil, 4, "SENDs may have notes")
field("options.reply", "bool", "Reply", 32, nil, 2,
      "REQUEST: takes a reply; ACCEPT: the discriminators are one")
for _, side in ipairs({ "client", "server" }) do
	local label = side == "client" and "Client" or "Server"
	field(side, "none", label)
	field(side .. ".host_len", "uint8", "Bytes of the host's address")
	field(side .. ".disc_len", "uint8", "Bytes of the discriminator")
	field(side .. ".host", "bytes", label .. "'s host")
	field(side .. ".disc", "bytes", label .. "'s discriminator")
end
field("refuse.reason", "uint32", "Reason", base.DEC, REFUSE_REASONS)
field("reply", "bytes", "Reply")
field("heartbeat.time", "uint64", "Number of the HEARTBEAT", base.HEX)
field("heartbeat.connections", "uint32", "Connections")
field("heartbeat.digest", "uint32", "Digest of their cookies", base.HEX)
field("heartbeat.of", "framenum", "Answers the HEARTBEAT in frame", base.NONE,
      frametype.REQUEST)
field("heartbeat.rtt", "relative_time", "Time from HEARTBEAT to HEARTBEAT_ACK")
field("acks", "uint16", "Entries")
field("acks.entry", "none", "Entry")
field("list", "uint16", "Cookies")
field("list.low", "uint64", "From cookie", base.HEX)
field("list.high", "uint64", "To cookie", base.HEX)
field("list.cookie", "uint64", "Cookie", base.HEX)
field("name.nonce", "uint32", "Nonce of the query", base.HEX)
field("name.len", "uint8", "Bytes of the name")
field("name", "string", "Name")
field("checksum", "uint32", "Checksum", base.HEX)
field("checksum.status", "uint8", "Checksum status", base.DEC,
      { [0] = "Bad", [1] = "Good", [2] = "Unverified" })
field("checksum.calculated", "uint32", "Calculated checksum", base.HEX)
field("auth.counter", "uint64", "Counter")
field("auth.tag", "bytes", "Tag (not verified: no key)")
field("payload", "bytes", "Payload")
field("padding", "bytes", "Padding")
field("rest", "bytes", "Not dissected")
field("connection", "uint32", "Connection")
field("retransmission", "framenum", "Sent first in frame", base.NONE,
      frametype.RETRANS_PREV)
field("gap", "uint32", "Frames missing before this one")
field("drop", "string", "Receivers of version 2 drop it, and count it as")
via.fields = fields

local experts, E = {}, {}

local function report(name, text, group, severity)
	E[name] = ProtoExpert.new("via." .. name, text, expert.group[group],
				  expert.severity[severity])
	experts[#experts + 1] = E[name]
end

report("expert.version", "Another version of the wire", "UNDECODED", "NOTE")
report("expert.type", "Unknown type", "UNDECODED", "WARN")
report("expert.length", "Lengths disagree", "MALFORMED", "ERROR")
report("expert.field", "A value that no sender writes", "PROTOCOL", "ERROR")
report("expert.cut", "The capture has only the beginning of this frame",
       "UNDECODED", "NOTE")
report("expert.checksum", "Checksum is wrong", "CHECKSUM", "ERROR")
report("expert.retransmission", "Retransmission", "SEQUENCE", "NOTE")
report("expert.late", "Out of order: newer frames came before", "SEQUENCE",
       "NOTE")
report("expert.gap", "Frames before this one are missing", "SEQUENCE", "WARN")
report("expert.holes", "The receiver misses frames", "SEQUENCE", "NOTE")
report("expert.dsack", "A frame came twice: it was sent again for nothing",
       "SEQUENCE", "NOTE")
report("expert.probe", "Tail probe", "SEQUENCE", "CHAT")
report("expert.ce", "Congestion Experienced", "SEQUENCE", "NOTE")
report("expert.refused", "The connection is refused", "RESPONSE_CODE", "NOTE")
report("expert.reset", "There is no such connection at the sender",
       "RESPONSE_CODE", "WARN")
report("expert.closed", "End of a connection", "SEQUENCE", "CHAT")
report("expert.broken", "A connection broke", "SEQUENCE", "WARN")
report("expert.versions", "The sender does not speak this version",
       "RESPONSE_CODE", "WARN")
via.experts = experts

via.prefs.ethertype = Pref.uint("EtherType", 0x88b5,
	"Parameter ethertype of via_ether")
via.prefs.ports = Pref.range("UDP ports", "13879",
	"Ports of VI NICs in UDP/IP", 65535)
via.prefs.verify = Pref.bool("Verify checksums", true,
	"Calculate the CRC32C of frames that have one")

-- Bytes, as a string ---------------------------------------------------------

local bxor
if bit32 then
	bxor = bit32.bxor
elseif bit then
	bxor = function(a, b)
		return bit.bxor(a, b) % 0x100000000
	end
else	-- Lua 5.3 on; its operator is no word of the ones before
	bxor = load("return function(a, b) return (a // 1 | 0) ~ (b // 1 | 0) end")()
end

local function u8(s, at)
	return s:byte(at + 1)
end

local function u16(s, at)
	local a, b = s:byte(at + 1, at + 2)
	return a * 256 + b
end

local function u32(s, at)
	local a, b, c, d = s:byte(at + 1, at + 4)
	return ((a * 256 + b) * 256 + c) * 256 + d
end

local function zero(s, at, n)
	return not s:sub(at + 1, at + n):find("[^%z]")
end

-- Of 64 bits, where numbers of Lua have 53.
local function less(s, a, b)
	local x, y = u32(s, a), u32(s, b)
	return x < y or (x == y and u32(s, a + 4) < u32(s, b + 4))
end

local function hex(s, at, n)
	return (s:sub(at + 1, at + n):gsub(".", function(c)
		return string.format("%02x", c:byte())
	end))
end

local function has(flags, bits)
	return flags % (2 * bits) >= bits
end

local crc_table
local function crc32c(crc, s, from, to)
	if not crc_table then
		crc_table = {}
		for i = 0, 255 do
			local c = i
			for _ = 1, 8 do
				local half = math.floor(c / 2)
				c = c % 2 == 1 and bxor(half, 0x82f63b78) or half
			end
			crc_table[i] = c
		end
	end
	for i = from + 1, to do
		crc = bxor(crc_table[bxor(crc % 256, s:byte(i))],
			   math.floor(crc / 256))
	end
	return crc
end

-- Is a frame right? ----------------------------------------------------------
--
-- Each returns nil, or the cause and a sentence.  @s: the frame, or its first
-- HDR_MAX bytes; @len: how long it was, without the seal.

local LENGTH, FIELD = "length", "field"

local function judge_data(s, len, kind)
	local hdr = RDMA[kind] and 56 or 40
	if len < hdr then
		return LENGTH, "shorter than its headers"
	end
	local msg_len, offset, n = u32(s, 24), u32(s, 28), u16(s, 32)
	if kind == T.READ then
		if n ~= 0 then
			return LENGTH, "a READ has no payload"
		elseif offset ~= 0 or not zero(s, 34, 6) or not zero(s, 52, 4) or
		       has(u8(s, 2), IMMEDIATE) then
			return FIELD, "a READ has offset, reads, immediate or zero"
		end
		return
	end
	if n > len - hdr then
		return LENGTH, "more payload than the frame has"
	elseif offset > msg_len or n > msg_len - offset then
		return LENGTH, "payload beyond the end of the message"
	elseif n == 0 and msg_len ~= 0 then
		return LENGTH, "no payload, though the message is not empty"
	end
	if kind == T.READ_DATA then
		if not zero(s, 36, 4) or has(u8(s, 2), IMMEDIATE) then
			return FIELD, "READ_DATA has immediate data"
		end
	elseif kind == T.SEND then
		local notes = u16(s, 34)
		if notes > 3 or notes >= 2 and has(u8(s, 2), IMMEDIATE) then
			return FIELD, "notes that there are not"
		end
	elseif not zero(s, 34, 2) then
		return FIELD, "reads is not 0"
	elseif kind == T.WRITE and not zero(s, 52, 4) then
		return FIELD, "a field called zero is not"
	end
end

local function judge_ranges(s, at, n)
	local least = 0
	for i = at, at + 4 * (n - 1), 4 do
		local start, count = u16(s, i), u16(s, i + 2)
		if start < least or count == 0 or start + count > 0x10000 then
			return FIELD, "ranges that do not rise, are empty or too long"
		end
		least = start + count + 1
	end
end

local function judge_ack(s, len)
	if len < 32 then
		return LENGTH, "shorter than its headers"
	end
	local n = u8(s, 24)
	if n > 32 or 4 * n > len - 32 then
		return LENGTH, "more ranges than there may be or are"
	elseif not zero(s, 28, 4) then
		return FIELD, "a field called zero is not"
	elseif not zero(s, 20, 4) and not has(u8(s, 2), DSACK) then
		return FIELD, "dsack is not 0 without DSACK"
	end
	return judge_ranges(s, 32, n)
end

local function judge_acks(s, len)
	if len < 24 then
		return LENGTH, "shorter than its headers"
	elseif zero(s, 16, 2) or not zero(s, 18, 6) then
		return FIELD, "no entries, or a field called zero is not"
	end
	local most, at = math.min(len, 264), 24
	for _ = 1, u16(s, 16) do
		local e = at
		if 24 > most - at then
			return LENGTH, "more entries than there are"
		end
		at = at + 24
		local n = u8(s, e + 16)
		if n > 32 or 4 * n > most - at then
			return LENGTH, "more ranges than there may be or are"
		elseif zero(s, e, 4) or zero(s, e + 8, 8) then
			return FIELD, "an entry without VI or cookie"
		elseif not zero(s, e + 18, 6) then
			return FIELD, "a field called zero is not"
		end
		local cause, why = judge_ranges(s, at, n)
		if cause then
			return cause, why
		end
		at = at + 4 * n
	end
end

local function judge_end(s, len, kind)
	if len < 32 then
		return LENGTH, "shorter than its headers"
	elseif zero(s, 8, 8) then
		return FIELD, "the cookie is 0"
	elseif kind ~= T.DISCONNECT and not zero(s, 20, 8) then
		return FIELD, "ack or reason where there are none"
	end
end

local function judge_answer(s, len, kind)
	if len < 32 then
		return LENGTH, "shorter than its headers"
	end
	local reason, reply = u32(s, 20), u8(s, 24)
	if reply > len - 32 or reply > 128 then
		return LENGTH, "a longer reply than there may be or is"
	elseif reply ~= 0 and kind ~= T.REFUSE then
		return FIELD, "a reply where there is none"
	elseif zero(s, 8, 8) or zero(s, 16, 4) then
		return FIELD, "no VI or no cookie"
	elseif not zero(s, 25, 7) then
		return FIELD, "a field called zero is not"
	elseif reason > 5 or (reason == 0) == (kind == T.REFUSE) then
		return FIELD, "a reason that there is not"
	end
end

local function judge_list(s, len)
	if len < 40 then
		return LENGTH, "shorter than its headers"
	elseif u16(s, 16) > 28 or 8 * u16(s, 16) > len - 40 then
		return LENGTH, "more cookies than there may be or are"
	end
end

local function judge_fixed(s, len, hdr, cookie)
	if len < hdr then
		return LENGTH, "shorter than its headers"
	elseif cookie and zero(s, 8, 8) then
		return FIELD, "the cookie is 0"
	end
end

local function judge_body(s, len, kind)
	if DATA[kind] then
		return judge_data(s, len, kind)
	elseif kind == T.ACK then
		return judge_ack(s, len)
	elseif END[kind] then
		return judge_end(s, len, kind)
	elseif ANSWER[kind] then
		return judge_answer(s, len, kind)
	elseif kind == T.CHALLENGE then
		return judge_fixed(s, len, 48, true)
	elseif CONN[kind] then
		return judge_fixed(s, len, 264, true)
	elseif HEARTBEAT_ACK[kind] then
		return judge_fixed(s, len, 48)
	elseif kind == T.ACKS then
		return judge_acks(s, len)
	elseif kind == T.LIST then
		return judge_list(s, len)
	elseif NAME[kind] then
		if not zero(s, 8, 8) then
			return FIELD, "the cookie is not 0"
		end
		return judge_fixed(s, len, 88)
	end
	return "type", "unknown type"
end

local function judge_flags(flags, kind)
	if DATA[kind] then
		return not has(flags, DSACK)
	elseif kind == T.ACK then
		return not has(flags, 0x01) and not has(flags, IMMEDIATE)
	end
	return flags - flags % 0x20 == 0 and flags % 0x08 == 0
end

-- What receivers look at behind the seal: the bodies of these types.

local function judge_hello(s)
	if zero(s, 16, 8) or zero(s, 32, 4) or u32(s, 36) < 320 or
	   u32(s, 36) > 65535 then
		return FIELD, "no epoch, no frames, or an MTU out of bounds"
	end
end

local function judge_conn(s, kind)
	local cause, why = judge_hello(s)
	if cause then
		return cause, why
	elseif u8(s, 88) > 16 or u8(s, 89) > 64 or u8(s, 176) > 16 or
	       u8(s, 177) > 64 then
		return LENGTH, "an address is too long"
	elseif not zero(s, 90, 2) or not zero(s, 178, 2) then
		return FIELD, "a field called zero is not"
	elseif zero(s, 48, 4) or zero(s, 52, 4) ~= (ASKS[kind] or false) or
	       zero(s, 56, 8) or u32(s, 84) > 7 then
		return FIELD, "a VI, cookie or option that may not be"
	elseif ASKS[kind] and (s:sub(49, 52) ~= s:sub(5, 8) or
			       s:sub(57, 64) ~= s:sub(9, 16)) then
		return FIELD, "id and cookie are not those of the header"
	end
end

local function judge_cookies(s)
	if zero(s, 24, 8) or not zero(s, 18, 6) or less(s, 32, 24) then
		return FIELD, "a range of cookies that may not be"
	end
	for i = 0, u16(s, 16) - 1 do
		local at = 40 + 8 * i
		if less(s, 32, at) or (i == 0 and less(s, at, 24)) or
		   (i > 0 and not less(s, at - 8, at)) then
			return FIELD, "cookies that do not rise or are out of range"
		end
	end
end

local function judge_name(s)
	local n = u8(s, 20)
	if n > 64 then
		return LENGTH, "the name is too long"
	elseif not zero(s, 21, 3) then
		return FIELD, "a field called zero is not"
	elseif s:sub(25, 24 + n):find("[^\33-\126]") then
		return FIELD, "a name with blanks or control characters"
	end
end

local function judge_inside(s, kind)
	if kind == T.CHALLENGE then
		return judge_hello(s)
	elseif CONN[kind] then
		return judge_conn(s, kind)
	elseif HEARTBEAT_ACK[kind] and zero(s, 16, 8) then
		return FIELD, "the epoch is 0"
	elseif kind == T.LIST then
		return judge_cookies(s)
	elseif NAME[kind] then
		return judge_name(s)
	end
end

local function judge(s, len)
	if len < 16 then
		return LENGTH, "shorter than any frame"
	end
	local kind, flags = u8(s, 1), u8(s, 2)
	if kind == T.VERSION then
		if u8(s, 2) > u8(s, 0) then
			return FIELD, "the lowest version is above the highest"
		end
		return
	elseif u8(s, 0) ~= VERSION then
		return "version", "another version of the wire"
	elseif flags > 0x7f or u8(s, 3) > 1 then
		return FIELD, "unknown flags or marks"
	end
	local sum, auth = has(flags, SUM), has(flags, AUTH)
	if sum and auth then
		return FIELD, "both a checksum and an authenticator"
	end
	local room = sum and 4 or auth and 24 or 0
	if len < 16 + room then
		return LENGTH, "shorter than its seal"
	end
	local cause, why = judge_body(s, len - room, kind)
	if cause then
		return cause, why
	elseif zero(s, 4, 4) == (HAS_DST[kind] or false) then
		return FIELD, "a VI where there is none, or none where there is one"
	elseif not judge_flags(flags, kind) then
		return FIELD, "a flag that this type does not have"
	elseif room == 0 and kind > T.DISCONNECT then
		return FIELD, "a frame of this type has a seal"
	end
	return judge_inside(s, kind)
end

-- Connections, frames that come again ----------------------------------------
--
-- An end of a connection is a host, a VI id and a cookie; ACCEPT names both.
-- What is found at the first look at a frame is kept by the frame's number.

local ends, ways, heartbeats, known, connections

local function forget()
	ends, ways, heartbeats, known, connections = {}, {}, {}, {}, 0
end
via.init = forget
forget()

local function end_of(host, s, vi_at, cookie_at)
	return tostring(host) .. hex(s, vi_at, 4) .. hex(s, cookie_at, 8)
end

-- Where the id that goes with the header's cookie lies, if there is one.
local function id_at(kind)
	if HAS_DST[kind] then
		return 4
	elseif END[kind] then
		return 28
	elseif ANSWER[kind] then
		return 16
	elseif CONN[kind] then
		return 52
	end
end

local function connection_of(key)
	if not ends[key] then
		ends[key] = connections
		connections = connections + 1
	end
	return ends[key]
end

-- The same, later or earlier than what came of this direction before?
local function order(found, key, s, number)
	local seq = u32(s, 16)
	local way = ways[key]
	if not way then
		way = { seen = {}, next = seq }
		ways[key] = way
	end
	local ahead = (seq - way.next) % 0x100000000
	if way.seen[seq] then
		found.again = way.seen[seq]
		return
	end
	way.seen[seq] = number
	if ahead < 0x80000000 then
		found.gap = ahead > 0 and ahead or nil
		way.next = (seq + 1) % 0x100000000
	else
		found.late = true
	end
end

local function pair_heartbeats(found, s, kind, pinfo)
	local time = hex(s, 32, 8)
	if kind == T.HEARTBEAT then
		heartbeats[tostring(pinfo.src) .. time] = {
			number = pinfo.number, at = pinfo.rel_ts,
		}
	else
		found.heartbeat = heartbeats[tostring(pinfo.dst) .. time]
		found.rtt = found.heartbeat and pinfo.rel_ts - found.heartbeat.at
	end
end

local function look(s, kind, pinfo)
	local found = {}
	local at = id_at(kind)
	if at then
		local host = OF_SENDER[kind] and pinfo.src or pinfo.dst
		local key = end_of(host, s, at, 8)
		if ASKS[kind] then
			key = end_of(host, s, 4, 8)
		end
		found.connection = connection_of(key)
		if CONN[kind] and not ASKS[kind] then
			ends[end_of(pinfo.src, s, 48, 56)] = found.connection
		elseif DATA[kind] then
			order(found, key, s, pinfo.number)
		end
	elseif HEARTBEAT_ACK[kind] then
		pair_heartbeats(found, s, kind, pinfo)
	end
	return found
end

-- Shown ----------------------------------------------------------------------

-- A frame on its way into the tree: f.s its bytes as far as captured.
local function put(f, tree, name, at, n, ...)
	if at + n <= #f.s then
		return tree:add(F[name], f.tvb(at, n), ...)
	end
	f.cut = true
end

local function generated(tree, name, value)
	return tree:add(F[name], value):set_generated()
end

local function tell(item, name, text)
	if text then
		item:add_proto_expert_info(E["expert." .. name], text)
	else
		item:add_proto_expert_info(E["expert." .. name])
	end
end

-- A word of bits, which are F[name.*].
local function put_bits(f, tree, name, at, n, bits)
	local item = put(f, tree, name, at, n)
	for _, b in ipairs(item and bits or {}) do
		put(f, item, name .. "." .. b, at, n)
	end
	return item
end

local FLAG_NAMES = {}
for i, flag in ipairs(FLAGS) do
	FLAG_NAMES[i] = flag[2]
end

local function flag_words(flags)
	local words = {}
	for _, flag in ipairs(FLAGS) do
		if has(flags, flag[1]) then
			words[#words + 1] = flag[3]
		end
	end
	return table.concat(words, ", ")
end

local function show_ranges(f, tree, at, n, ack)
	for i = 0, n - 1 do
		local item = put(f, tree, "range", at + 4 * i, 4)
		if not item then
			return
		end
		local start, count = u16(f.s, at + 4 * i), u16(f.s, at + 4 * i + 2)
		local first = (ack + 1 + start) % 0x100000000
		item:append_text(string.format(": %.0f to %.0f", first,
			(first + math.max(count, 1) - 1) % 0x100000000))
		put(f, item, "range.start", at + 4 * i, 2)
		put(f, item, "range.count", at + 4 * i + 2, 2)
	end
end

local function show_delay(f, tree, at)
	local item = put(f, tree, "delay", at, 1)
	if item and u8(f.s, at) == 255 then
		item:append_text(" (as long or longer, or not measured)")
	elseif item then
		item:append_text(string.format(" (%d us)", 16 * u8(f.s, at)))
	end
end

local function show_data(f, tree)
	put(f, tree, "seq", 16, 4)
	put(f, tree, "ack", 20, 4)
	put(f, tree, "msg_len", 24, 4)
	put(f, tree, "offset", 28, 4)
	put(f, tree, "len", 32, 2)
	if f.kind == T.READ_DATA then
		put(f, tree, "reads", 34, 2)
	elseif has(f.flags, IMMEDIATE) then
		put(f, tree, "immediate", 36, 4)
	end
	if f.kind == T.SEND and #f.s >= 36 and not zero(f.s, 34, 2) then
		put_bits(f, tree, "notes", 34, 2, { "solicited", "invalidate" })
		if has(u16(f.s, 34), 2) then
			put(f, tree, "invalidate", 36, 4)
		end
	end
	if RDMA[f.kind] then
		put(f, tree, "raddr", 40, 8)
		put(f, tree, "rhandle", 48, 4)
	end
	f.hdr = RDMA[f.kind] and 56 or 40
	if #f.s < 40 then
		return
	end
	f.payload = u16(f.s, 32)
	f.info = string.format(" Seq=%.0f Ack=%.0f Len=%d", u32(f.s, 16),
			       u32(f.s, 20), u16(f.s, 32))
	if f.kind == T.READ or u16(f.s, 32) ~= u32(f.s, 24) then
		f.info = f.info .. string.format(" Offset=%.0f of %.0f",
						 u32(f.s, 28), u32(f.s, 24))
	end
end

local function show_ack(f, tree)
	put(f, tree, "ack", 16, 4)
	if has(f.flags, DSACK) then
		local item = put(f, tree, "dsack", 20, 4)
		if item then
			tell(item, "dsack")
		end
	end
	local item = put(f, tree, "ranges", 24, 1)
	show_delay(f, tree, 25)
	local share = put(f, tree, "share", 26, 2)
	f.hdr = 32
	if not share then
		return
	end
	if u16(f.s, 26) == 0 then
		share:append_text(" (no bound)")
	end
	local n = u8(f.s, 24)
	show_ranges(f, tree, 32, n, u32(f.s, 16))
	f.hdr = 32 + 4 * n
	f.info = string.format(" Ack=%.0f", u32(f.s, 16))
	if n > 0 then
		tell(item, "holes")
		f.info = f.info .. string.format(" Ranges=%d", n)
	end
end

local function show_acks(f, tree)
	put(f, tree, "acks", 16, 2)
	f.hdr = 24
	if #f.s < 24 then
		f.cut = true
		return
	end
	f.info = string.format(" of %d connections", u16(f.s, 16))
	for i = 1, u16(f.s, 16) do
		local at = f.hdr
		if at + 24 > #f.s then
			f.cut = true
			return
		end
		local n = u8(f.s, at + 16)
		local item = tree:add(F["acks.entry"],
				      f.tvb(at, math.min(24 + 4 * n, #f.s - at)))
		item:append_text(string.format(" %d: VI %.0f, Ack=%.0f", i,
					       u32(f.s, at), u32(f.s, at + 4)))
		put(f, item, "dst", at, 4)
		put(f, item, "ack", at + 4, 4)
		put(f, item, "cookie", at + 8, 8)
		put(f, item, "ranges", at + 16, 1)
		show_delay(f, item, at + 17)
		show_ranges(f, item, at + 24, n, u32(f.s, at + 4))
		f.hdr = at + 24 + 4 * n
	end
end

local function show_end(f, tree)
	put(f, tree, "seq", 16, 4)
	local item = tree
	if f.kind == T.DISCONNECT then
		put(f, tree, "ack", 20, 4)
		item = put(f, tree, "end.reason", 24, 4)
	end
	put(f, tree, "end.src", 28, 4)
	f.hdr = 32
	if #f.s < 32 then
		return
	end
	f.info = string.format(" Seq=%.0f", u32(f.s, 16))
	if f.kind == T.RESET then
		tell(item, "reset")
	elseif f.kind == T.DISCONNECT then
		local reason = u32(f.s, 24)
		tell(item, reason == 0 and "closed" or "broken")
		f.info = f.info .. ": " .. (END_REASONS[reason] or
			string.format("reason %.0f", reason))
	end
end

local function show_answer(f, tree)
	put(f, tree, "vi", 16, 4)
	local item = put(f, tree, "refuse.reason", 20, 4)
	f.hdr = 32
	if not item or #f.s < 32 then
		return
	end
	f.info = string.format(" VI=%.0f", u32(f.s, 16))
	if f.kind == T.REFUSE then
		local n = u8(f.s, 24)
		if n > 0 then
			put(f, tree, "reply", 32, n)
			f.hdr = 32 + n
		end
		local reason = u32(f.s, 20)
		tell(item, "refused")
		f.info = f.info .. ": " .. (REFUSE_REASONS[reason] or
			string.format("reason %.0f", reason))
	end
end

local function show_hello(f, tree)
	put(f, tree, "epoch", 16, 8)
	put(f, tree, "token", 24, 8)
	put(f, tree, "frames", 32, 4)
	put(f, tree, "mtu", 36, 4)
	put(f, tree, "nonce", 40, 8)
	f.hdr = 48
	if #f.s >= 32 then
		f.info = zero(f.s, 24, 8) and ", no token" or ", with token"
	end
end

-- A discriminator is mostly text.
local function address_text(s, at)
	local host = hex(s, at + 4, math.min(u8(s, at), 20)):gsub("..", "%0:")
	local disc = s:sub(at + 25, at + 24 + math.min(u8(s, at + 1), 64))
	if disc:find("[^\32-\126]") or disc == "" then
		disc = hex(disc, 0, #disc)
	end
	return host:sub(1, -2), disc
end

local function show_address(f, tree, side, at)
	local item = put(f, tree, side, at, 88)
	if not item then
		return
	end
	local host, disc = address_text(f.s, at)
	item:append_text(string.format(": %s %s", host, disc))
	put(f, item, side .. ".host_len", at, 1)
	put(f, item, side .. ".disc_len", at + 1, 1)
	put(f, item, side .. ".host", at + 4, math.min(u8(f.s, at), 20))
	put(f, item, side .. ".disc", at + 24, math.min(u8(f.s, at + 1), 64))
	return disc
end

local function show_conn(f, tree)
	show_hello(f, tree)
	put(f, tree, "vi", 48, 4)
	if not ASKS[f.kind] then
		put(f, tree, "to", 52, 4)
	end
	put(f, tree, "sender_cookie", 56, 8)
	put(f, tree, "first_seq", 64, 4)
	put(f, tree, "reliability", 68, 4)
	put(f, tree, "max_transfer", 72, 4)
	put_bits(f, tree, "rights", 76, 4, { "write", "read" })
	local item = put(f, tree, "timeout", 80, 4)
	if item and u32(f.s, 80) == 0xffffffff then
		item:append_text(" (no limit)")
	end
	put_bits(f, tree, "options", 84, 4, { "sum", "reply", "notes" })
	show_address(f, tree, "client", 88)
	local disc = show_address(f, tree, "server", 176)
	f.hdr = 264
	if disc then
		local vi = ASKS[f.kind] and "" or
			string.format(" VI=%.0f", u32(f.s, 48))
		f.info = string.format("%s Seq=%.0f, to %s%s", vi, u32(f.s, 64),
			disc == "" and "no discriminator" or disc,
			ASKS[f.kind] and f.info or "")
	end
end

local function show_heartbeat(f, tree)
	put(f, tree, "epoch", 16, 8)
	put(f, tree, "token", 24, 8)
	put(f, tree, "heartbeat.time", 32, 8)
	put(f, tree, "heartbeat.connections", 40, 4)
	put(f, tree, "heartbeat.digest", 44, 4)
	f.hdr = 48
	if #f.s >= 48 then
		f.info = string.format(" %.0f connections, digest 0x%08x",
				       u32(f.s, 40), u32(f.s, 44))
	end
end

local function show_list(f, tree)
	put(f, tree, "list", 16, 2)
	put(f, tree, "list.low", 24, 8)
	put(f, tree, "list.high", 32, 8)
	f.hdr = 40
	if #f.s < 40 then
		return
	end
	for i = 1, u16(f.s, 16) do
		if not put(f, tree, "list.cookie", 32 + 8 * i, 8) then
			break
		end
	end
	f.hdr = 40 + 8 * u16(f.s, 16)
	f.info = string.format(" %d cookies", u16(f.s, 16))
end

local function show_name(f, tree)
	put(f, tree, "name.nonce", 16, 4)
	put(f, tree, "name.len", 20, 1)
	f.hdr = 88
	if #f.s < 88 then
		f.cut = true
		return
	end
	local n = math.min(u8(f.s, 20), 64)
	if n > 0 then
		put(f, tree, "name", 24, n)
	end
	local name = f.s:sub(25, 24 + n)
	f.info = n == 0 and " any" or " " .. name:gsub("[^\32-\126]", "?")
end

local function show_version(f, tree)
	put(f, tree, "lowest", 2, 1)
	put(f, tree, "about", 3, 1)
	put(f, tree, "quote", 4, 12)
	f.hdr = 16
	if #f.s >= 16 then
		f.info = string.format(" %d to %d, about version %d", u8(f.s, 2),
				       u8(f.s, 0), u8(f.s, 3))
		tell(tree, "versions")
	end
end

local SHOW = {
	[T.VERSION] = show_version, [T.ACK] = show_ack, [T.ACKS] = show_acks,
	[T.CHALLENGE] = show_hello, [T.LIST] = show_list,
}
for kinds, show in pairs({ [DATA] = show_data, [END] = show_end,
			   [ANSWER] = show_answer, [CONN] = show_conn,
			   [HEARTBEAT_ACK] = show_heartbeat, [NAME] = show_name }) do
	for kind in pairs(kinds) do
		SHOW[kind] = show
	end
end

local function show_header(f, tree)
	if f.kind == T.VERSION then
		return
	end
	local item = put_bits(f, tree, "flags", 2, 1, FLAG_NAMES)
	local words = flag_words(f.flags)
	if item and words ~= "" then
		item:append_text(" (" .. words .. ")")
	end
	item = put_bits(f, tree, "marks", 3, 1, { "ce" })
	if item and u8(f.s, 3) % 2 == 1 then
		tell(item, "ce")
	end
	if HAS_DST[f.kind] or (#f.s >= 8 and not zero(f.s, 4, 4)) then
		put(f, tree, "dst", 4, 4)
	end
	put(f, tree, "cookie", 8, 8)
	if has(f.flags, 0x20) then
		tell(tree, "probe")
	end
end

local function show_found(f, tree, found)
	if found.connection then
		generated(tree, "connection", found.connection)
	end
	if found.again then
		tell(generated(tree, "retransmission", found.again),
		     "retransmission")
		f.before = "[Retransmission] "
	elseif found.gap then
		tell(generated(tree, "gap", found.gap), "gap",
		     string.format("%.0f frames before this one are missing",
				   found.gap))
		f.before = "[Gap] "
	elseif found.late then
		tell(tree, "late")
		f.before = "[Out of order] "
	end
	if found.heartbeat then
		generated(tree, "heartbeat.of", found.heartbeat.number)
		local whole = math.floor(found.rtt)
		generated(tree, "heartbeat.rtt", NSTime.new(whole,
			math.floor((found.rtt - whole) * 1e9 + 0.5)))
	end
end

local function show_sum(f, tree, payload)
	local item = put(f, tree, "checksum", f.hdr, 4)
	local to = f.hdr + 4 + payload
	local status = 2
	if not item then
		return
	end
	if via.prefs.verify and to <= #f.s then
		local crc = crc32c(0xffffffff, f.s, 0, f.hdr)
		crc = bxor(crc32c(crc, f.s, f.hdr + 4, to), 0xffffffff)
		status = crc == u32(f.s, f.hdr) and 1 or 0
		item:append_text(status == 1 and " [correct]" or string.format(
			" [incorrect, should be 0x%08x]", crc))
		generated(item, "checksum.calculated", crc)
	else
		item:append_text(" [unverified]")
	end
	generated(item, "checksum.status", status)
	return status == 0 and item or nil
end

-- What is behind the headers; the checksum if it is wrong.
local function show_rest(f, tree)
	local payload, wrong = f.payload or 0, nil
	if f.kind ~= T.VERSION and has(f.flags, SUM) then
		wrong = show_sum(f, tree, payload)
		f.hdr = f.hdr + 4
	elseif f.kind ~= T.VERSION and has(f.flags, AUTH) then
		put(f, tree, "auth.counter", f.hdr, 8)
		put(f, tree, "auth.tag", f.hdr + 8, 16)
		f.hdr = f.hdr + 24
	end
	local there = math.min(payload, #f.s - f.hdr)
	if there > 0 then
		local item = put(f, tree, "payload", f.hdr, there)
		item:append_text(string.format(" (%d bytes)", there))
	end
	local at = f.hdr + payload
	if at < #f.s then
		put(f, tree, "padding", at, #f.s - at)
	end
	return wrong
end

local function verdict(f, tree, cause, why)
	if cause then
		generated(tree, "drop", "drop_" .. cause)
		tell(tree, cause, why:sub(1, 1):upper() .. why:sub(2))
		f.before = cause == "version" and "" or
			"[Dropped: " .. cause .. "] "
	elseif f.cut then
		tell(tree, "cut")
	end
end

-- Another version: nothing but the bytes that all have in common is known.
local function show_other(f, tree)
	f.info = string.format(" of version %d: not dissected", u8(f.s, 0))
	f.hdr = 2
	put(f, tree, "rest", 2, #f.s - 2)
end

local function dissect(tvb, pinfo, root)
	local f = { tvb = tvb, s = tvb:raw(), before = "", info = "" }
	local len = tvb:reported_len()
	pinfo.cols.protocol = "VIA"
	local tree = root:add(via, tvb())
	put(f, tree, "version", 0, 1)
	put(f, tree, "type", 1, 1)
	f.kind = #f.s > 1 and u8(f.s, 1) or -1
	f.flags = #f.s > 2 and u8(f.s, 2) or 0
	local name = TYPES[f.kind] or string.format("type 0x%02x", f.kind % 256)
	local cause, why
	if #f.s >= math.min(len, HDR_MAX) then
		cause, why = judge(f.s, len)
	end
	if cause == "version" then
		name = "Frame"
		show_other(f, tree)
	elseif cause ~= "type" and SHOW[f.kind] then
		show_header(f, tree)
		if not cause and #f.s >= math.min(len, HDR_MAX) and
		   f.kind ~= T.VERSION and not known[pinfo.number] then
			known[pinfo.number] = look(f.s, f.kind, pinfo)
		end
		SHOW[f.kind](f, tree)
		show_found(f, tree, not cause and known[pinfo.number] or {})
		if show_rest(f, tree) and not cause then
			cause, why = "checksum", "the checksum is wrong"
		end
	elseif #f.s > 2 then
		put(f, tree, "rest", 2, #f.s - 2)
	end
	verdict(f, tree, cause, why)
	local to = HAS_DST[f.kind] and #f.s >= 8 and cause ~= "version" and
		string.format(" %s %.0f", ASKS[f.kind] and "from VI" or "to VI",
			      u32(f.s, 4)) or ""
	local words = f.kind ~= T.VERSION and cause ~= "version" and
		flag_words(f.flags - (has(f.flags, SUM) and SUM or 0) -
			   (has(f.flags, AUTH) and AUTH or 0)) or ""
	words = words ~= "" and " [" .. words .. "]" or ""
	tree:append_text(", " .. name .. to .. f.info)
	pinfo.cols.info = f.before .. name .. to .. f.info .. words
	return tvb:len()
end

function via.dissector(tvb, pinfo, root)
	if tvb:len() == 0 then
		return 0
	end
	return dissect(tvb, pinfo, root)
end

-- Trains in TCP's shape --------------------------------------------------------

-- Of any packet with TCP's header, whatever TCP's dissector makes of its numbers;
-- devices/ether/proto/shape.h has the layout.
local shape = Proto("via_shape", "VIA: a train in TCP's shape")
local SHAPE_OPTION, SHAPE_LEN, SHAPE_HDR, SHAPE_PROBE = 253, 28, 48, 0x3f
local tcp_options, tcp_to = Field.new("tcp.options"), Field.new("tcp.dstport")
local tcp_bytes = Field.new("tcp.len")

local function has_port(list, port)
	for from, to in string.gmatch(list .. ",", "(%d+)%-?(%d*),") do
		if port >= tonumber(from) and port <= tonumber(to == "" and from or to) then
			return true
		end
	end
	return false
end

local function shape_fields(tree, h, len, frames)
	local off, seg = h(4, 4):uint(), h(8, 2):uint()
	local seq = h(36, 4):uint() + (seg > 0 and math.floor(off / seg) or 0)

	tree:add(F.type, h(22, 1), h(22, 1):uint() % 128)
	tree:add(F.flags, h(23, 1))
	tree:add(F["marks.ce"], h(22, 1), math.floor(h(22, 1):uint() / 128))
	tree:add(F.dst, h(24, 4))
	tree:add(F.cookie, h(28, 8))
	tree:add(F.seq, h(36, 4), seq % 4294967296)
	tree:add(F.ack, h(40, 4))
	tree:add(F.msg_len, h(44, 4))
	tree:add(F.offset, h(4, 4))
	tree:add(F.len, h(8, 2), math.min(len, seg))
	tree:add(F.reads, h(14, 2))
	tree:add(F["train.frames"], h(8, 4), frames)
	tree:add(F["train.bytes"], h(8, 4), len)
end

function shape.dissector(tvb, pinfo, root)
	local options, to = tcp_options(), tcp_to()

	if not options or not to or options.len ~= SHAPE_LEN or
	   not has_port(via.prefs.ports, to.value) or
	   options.offset + SHAPE_LEN > tvb:len() then
		return
	end
	local h = tvb(options.offset - 20, SHAPE_HDR)
	if h(20, 1):uint() ~= SHAPE_OPTION or h(21, 1):uint() ~= SHAPE_LEN then
		return
	end
	local kind, seg = h(22, 1):uint(), h(8, 2):uint()
	local len = tcp_bytes() and tcp_bytes().value or 0
	local tree = root:add(via, h)
	tree:append_text(", a train in TCP's shape")
	if kind == SHAPE_PROBE then
		tree:add(F.cookie, h(28, 8))
		pinfo.cols.info = "probe of TCP's shape, " .. len .. " bytes"
		return
	end
	local frames = seg > 0 and math.ceil(len / seg) or 0
	local name = TYPES[kind % 128] or "type " .. kind
	shape_fields(tree, h, len, frames)
	pinfo.cols.info = string.format("train in TCP's shape: %d x %s to VI %.0f, " ..
		"%.0f bytes at %.0f of %.0f", frames, name, h(24, 4):uint(), len,
		h(4, 4):uint(), h(44, 4):uint())
end
register_postdissector(shape)

-- Where frames are -----------------------------------------------------------

local at_ethertype, at_ports

local function listen()
	local types = DissectorTable.get("ethertype")
	local ports = DissectorTable.get("udp.port")
	if at_ethertype then
		types:remove(at_ethertype, via)
		ports:remove(at_ports, via)
	end
	at_ethertype, at_ports = via.prefs.ethertype, via.prefs.ports
	types:add(at_ethertype, via)
	ports:add(at_ports, via)
end
via.prefs_changed = listen
listen()
