// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The numbers of each connection that BBR of Linux controls, a line for each: an iterator over the sockets of the network
// namespace of whoever reads it. bench/reality/bbr.py says what they mean.
//
//     window, acknowledged at once, bandwidth, least round trip, segment, pacing
//     in segments; 2^-24 segments per microsecond; microseconds; bytes; bytes per second

#include <linux/types.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#include "kernel.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct seq_file;
struct bpf_iter_meta {
	struct seq_file *seq;
};
struct sock_common;
struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
};
struct minmax_sample {
	__u32 t;
	__u32 v;
};
struct minmax {
	struct minmax_sample s[3];
};
struct bbr {
	__u32 min_rtt_us;
	struct minmax bw;
	__u16 extra_acked[2];
};
#pragma clang attribute pop

char LICENSE[] SEC("license") = "Dual MIT/GPL";

SEC("iter/tcp")
int windows(struct bpf_iter__tcp *ctx)
{
	struct sock_common *common = ctx->sk_common;
	struct tcp_sock *tp = common ? bpf_skc_to_tcp_sock(common) : 0;
	struct inet_connection_sock *connection = (struct inet_connection_sock *)tp;
	const struct bbr *bbr;
	__u32 at_once;
	char name[4];

	if (!tp)
		return 0;
	BPF_CORE_READ_STR_INTO(&name, connection, icsk_ca_ops, name);
	if (name[0] != 'b' || name[1] != 'b' || name[2] != 'r')
		return 0;
	bbr = (const struct bbr *)connection->icsk_ca_priv;
	at_once = most(BPF_CORE_READ(bbr, extra_acked[0]), BPF_CORE_READ(bbr, extra_acked[1]));
	BPF_SEQ_PRINTF(ctx->meta->seq, "%u %u %u %u %u %lu\n", tp->snd_cwnd, at_once, BPF_CORE_READ(bbr, bw.s[0].v),
		       BPF_CORE_READ(bbr, min_rtt_us), tp->mss_cache, ((struct sock *)tp)->sk_pacing_rate);
	return 0;
}
