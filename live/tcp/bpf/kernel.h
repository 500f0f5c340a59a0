// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What congestion control in the kernel sees of it. Included after <linux/bpf.h> and the headers of libbpf.

// What the programs here read of the kernel's structures; the loader finds where it is in the kernel that runs.
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct sock {
	unsigned long sk_pacing_rate;
	__u32 sk_pacing_status;
};
struct tcp_congestion_ops;
struct inet_connection_sock {
	const struct tcp_congestion_ops *icsk_ca_ops;
	__u8 icsk_retransmits;
	__u64 icsk_ca_priv[13];
};
struct tcp_sock {
	__u32 srtt_us;
	__u32 packets_out;
	__u32 sacked_out;
	__u32 lost_out;
	__u32 retrans_out;
	__u32 snd_cwnd;
	__u32 snd_cwnd_cnt;
	__u32 snd_cwnd_clamp;
	__u32 snd_ssthresh;
	__u32 snd_una;
	__u32 snd_nxt;
	__u32 mss_cache;
	__u32 max_packets_out;
	__u32 delivered_ce;
	__u32 app_limited;
	__u8 is_cwnd_limited : 1;
};
struct rate_sample {
	long rtt_us;
	int losses;
	__u32 acked_sacked;
	__u32 prior_in_flight;
	_Bool is_app_limited;
};
#pragma clang attribute pop

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*set_state)(struct sock *sk, __u8 new_state);
	void (*cwnd_event)(struct sock *sk, __u32 event);
	void (*cong_control)(struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs);
	__u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
	__u32 flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};

// The kernel's numbers for the states of loss recovery, for pacing, and for the event that sending begins anew.
enum { STATE_OPEN, STATE_DISORDER, STATE_CWR, STATE_RECOVERY, STATE_LOSS };
enum { PACING_NONE, PACING_NEEDED, PACING_FQ };
enum { SENDING_BEGINS };
// Any user, and any network namespace, may ask for it.
#define NON_RESTRICTED 0x1

#define NO_THRESHOLD 0x7fffffff
#define LEAST_THRESHOLD 2
// Before there is a round trip (RFC 6298, section 2.1).
#define FIRST_ROUND_TRIP_US 1000000

static __always_inline __u32 least(__u32 a, __u32 b)
{
	return a < b ? a : b;
}

static __always_inline __u32 most(__u32 a, __u32 b)
{
	return a > b ? a : b;
}

static __always_inline __u32 round_trip_us(const struct tcp_sock *tp)
{
	__u32 smoothed = tp->srtt_us >> 3;

	return smoothed ? smoothed : FIRST_ROUND_TRIP_US;
}

static __always_inline __u32 in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
}

static __always_inline void set_window(struct tcp_sock *tp, __u32 window)
{
	tp->snd_cwnd = most(least(window, tp->snd_cwnd_clamp), 1);
}

// Whether the window is what limits the flow. Paced, Linux never sees itself stopped by it.
static __always_inline int window_limits(struct tcp_sock *tp, const struct rate_sample *rs, int paced)
{
	return BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited) ||
	       (tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out) ||
	       (paced && !rs->is_app_limited);
}

// How many of the segments that this acknowledgment covers arrived out of order; `known` were by the one before. The
// rest are in order, but for what changes places while losses are repaired, when nothing grows anyway.
static __always_inline __u32 newly_sacked(const struct tcp_sock *tp, __u32 known, const struct rate_sample *rs)
{
	return tp->sacked_out > known ? least(tp->sacked_out - known, rs->acked_sacked) : 0;
}

// How many were in flight before a time-out marked all of them as lost.
static __always_inline __u32 before_time_out(const struct tcp_sock *tp, __u32 lost)
{
	return tp->packets_out - least(tp->sacked_out + lost, tp->packets_out);
}
