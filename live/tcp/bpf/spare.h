// SPDX-License-Identifier: MIT OR Apache-2.0
//
// AntiECN's bit on its way: data leaves with it, a link may clear it, the receiver returns it, the sender reads it.
//
//     socket (IP_TOS) ──▶ link ──▶ longfat_note ──▶ receiving TCP ──▶ longfat_answer ──▶ longfat_hear ──▶ cong_control
//     DSCP 000111                  tcx ingress, end b                tcx egress, end b   tcx ingress, end a
//
// The code points are those of the link (live/link/src/packet/spare.rs). IPv4 only. Devices of a link carry IP without
// anything in front, so headers begin at the first byte.

#include <bpf/bpf_endian.h>

#define DSCP_SPARE 7
#define DSCP_NO_SPARE 3
// Of the C library, whose headers do not go with these.
#define LEVEL_IP 0
#define OPTION_TOS 1
#define PROTOCOL_TCP 6
#define NEXT_PROGRAM -1

// Does the controller read the bit? Written before the program is loaded.
const volatile __u32 reads_spare = 0;

// What a sender's acknowledgments say.
enum { MUTE, NO_SPARE, SPARE };
struct heard {
	// What the latest one says.
	__u32 latest;
	// Since the last report.
	__u32 spare;
	__u32 acks;
	__u32 acks_spare;
	__u32 acks_mute;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct heard);
} heard_by SEC(".maps");

// A connection, from the side of its data.
struct connection {
	__u32 from;
	__u32 to;
	__u16 from_port;
	__u16 to_port;
};

// What the data of a connection says that is to be acknowledged.
struct owed {
	__u32 spare;
	// It was returned: what comes next is about other data.
	__u32 returned;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct connection);
	__type(value, struct owed);
} owed_to SEC(".maps");

// A packet of TCP over IPv4.
struct seen {
	struct connection connection;
	__u32 payload;
	__u8 start[2];
};

static __always_inline int see(struct __sk_buff *skb, struct seen *seen)
{
	__u8 ip[20], tcp[14];
	__u32 at;

	if (skb->protocol != bpf_htons(0x0800) || bpf_skb_load_bytes(skb, 0, ip, sizeof(ip)) ||
	    ip[0] >> 4 != 4 || ip[9] != PROTOCOL_TCP)
		return 0;
	at = (ip[0] & 15) * 4;
	if (bpf_skb_load_bytes(skb, at, tcp, sizeof(tcp)))
		return 0;
	__builtin_memcpy(&seen->connection.from, ip + 12, 4);
	__builtin_memcpy(&seen->connection.to, ip + 16, 4);
	__builtin_memcpy(&seen->connection.from_port, tcp, 2);
	__builtin_memcpy(&seen->connection.to_port, tcp + 2, 2);
	seen->payload = skb->len - at - (tcp[12] >> 4) * 4;
	seen->start[0] = ip[0];
	seen->start[1] = ip[1];
	return 1;
}

// Where data arrives: an acknowledgment has the bit if all the data has that it covers.
SEC("tcx/ingress")
int longfat_note(struct __sk_buff *skb)
{
	struct owed *owed, first = {};
	struct seen seen = {};
	__u32 code, spare;

	if (!see(skb, &seen) || !seen.payload)
		return NEXT_PROGRAM;
	code = seen.start[1] >> 2;
	if (code != DSCP_SPARE && code != DSCP_NO_SPARE)
		return NEXT_PROGRAM;
	spare = code == DSCP_SPARE;
	owed = bpf_map_lookup_elem(&owed_to, &seen.connection);
	if (owed) {
		owed->spare = spare && (owed->returned || owed->spare);
		owed->returned = 0;
	} else {
		first.spare = spare;
		bpf_map_update_elem(&owed_to, &seen.connection, &first, BPF_ANY);
	}
	return NEXT_PROGRAM;
}

// Where acknowledgments leave.
SEC("tcx/egress")
int longfat_answer(struct __sk_buff *skb)
{
	struct connection connection = {};
	struct seen seen = {};
	struct owed *owed;
	__u8 start[2];
	__u16 before, after;

	if (!see(skb, &seen) || seen.payload)
		return NEXT_PROGRAM;
	connection.from = seen.connection.to;
	connection.to = seen.connection.from;
	connection.from_port = seen.connection.to_port;
	connection.to_port = seen.connection.from_port;
	owed = bpf_map_lookup_elem(&owed_to, &connection);
	if (!owed)
		return NEXT_PROGRAM;
	start[0] = seen.start[0];
	start[1] = (seen.start[1] & 3) | (owed->spare ? DSCP_SPARE << 2 : DSCP_NO_SPARE << 2);
	owed->returned = 1;
	// Both as they lie in memory, in which sums of RFC 1071 may be taken.
	__builtin_memcpy(&before, seen.start, 2);
	__builtin_memcpy(&after, start, 2);
	bpf_skb_store_bytes(skb, 1, start + 1, 1, 0);
	bpf_l3_csum_replace(skb, 10, before, after, 2);
	return NEXT_PROGRAM;
}

// Where acknowledgments arrive, before TCP sees them.
SEC("tcx/ingress")
int longfat_hear(struct __sk_buff *skb)
{
	struct bpf_sock_tuple tuple = {};
	struct seen seen = {};
	struct bpf_sock *sk;
	struct heard *heard;
	__u32 code;

	if (!see(skb, &seen))
		return NEXT_PROGRAM;
	tuple.ipv4.saddr = seen.connection.from;
	tuple.ipv4.daddr = seen.connection.to;
	tuple.ipv4.sport = seen.connection.from_port;
	tuple.ipv4.dport = seen.connection.to_port;
	sk = bpf_skc_lookup_tcp(skb, &tuple, sizeof(tuple.ipv4), BPF_F_CURRENT_NETNS, 0);
	if (!sk)
		return NEXT_PROGRAM;
	heard = bpf_sk_storage_get(&heard_by, sk, 0, 0);
	if (heard) {
		code = seen.start[1] >> 2;
		heard->latest = code == DSCP_SPARE ? SPARE : code == DSCP_NO_SPARE ? NO_SPARE : MUTE;
	}
	bpf_sk_release(sk);
	return NEXT_PROGRAM;
}

// A flow begins: its data carries the bit.
static __always_inline void offer(struct sock *sk)
{
	int class = DSCP_SPARE << 2;

	if (!reads_spare)
		return;
	bpf_sk_storage_get(&heard_by, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	bpf_setsockopt(sk, LEVEL_IP, OPTION_TOS, &class, sizeof(class));
}

// An acknowledgment has come that lets the window grow by so many segments.
static __always_inline void count_spare(struct sock *sk, __u32 acked)
{
	struct heard *heard;

	if (!reads_spare)
		return;
	heard = bpf_sk_storage_get(&heard_by, sk, 0, 0);
	if (!heard)
		return;
	heard->acks++;
	if (heard->latest == SPARE) {
		heard->acks_spare++;
		heard->spare += acked;
	} else if (heard->latest == MUTE) {
		heard->acks_mute++;
	}
}

// Into a report, after which all begins anew.
static __always_inline void tell_spare(struct sock *sk, struct report *report)
{
	struct heard *heard = reads_spare ? bpf_sk_storage_get(&heard_by, sk, 0, 0) : 0;

	report->spare = 0;
	report->acks = 0;
	report->acks_spare = 0;
	report->acks_mute = 0;
	if (!heard)
		return;
	report->spare = heard->spare;
	report->acks = heard->acks;
	report->acks_spare = heard->acks_spare;
	report->acks_mute = heard->acks_mute;
	heard->spare = 0;
	heard->acks = 0;
	heard->acks_spare = 0;
	heard->acks_mute = 0;
}
