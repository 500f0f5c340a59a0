// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Congestion control of Linux TCP that asks a program outside of the kernel.
//
// `cong_control` (the form with four arguments, Linux 6.10) sees each acknowledgment with its rate sample, after loss
// recovery has done its part. It counts, and each eighth of a round trip, or at once where congestion calls for a
// response, it sends a report through the ring buffer. The answer is a decision in an array that both sides have mapped:
// window, threshold, pacing. It is applied at the next acknowledgment.
//
//     response called for    until it is answered, as much leaves as arrives: window = in flight + acknowledged
//     silence                unanswered for four round trips: Reno (RFC 5681), here, until somebody answers again
//
// `ssthresh` is called exactly where Linux wants a response, once per window of data; `set_state` then says what for.

#include <linux/types.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#include "kernel.h"
#include "shared.h"
#include "spare.h"

// How often a round trip is reported, and after how many without an answer the daemon counts as silent.
#define REPORTS_PER_ROUND_TRIP 8
#define PATIENCE 4

// What is remembered of a flow, in the place that the socket has for it: 104 bytes.
struct flow {
	__u64 reported_at;
	// When the oldest report was sent that nobody has answered; 0: all are answered.
	__u64 asked_at;
	__u32 slot;
	// 0: there was no slot for it, or it has not begun.
	__u32 generation;
	__u32 report;
	__u32 answered;
	__u32 event;
	// The last event to which the window here has responded.
	__u32 responded;
	__u32 epoch;
	// What has happened, and no report has said yet.
	__u32 news;
	__u32 acked;
	__u32 held;
	__u32 sacked;
	__u32 lost;
	__u32 marked;
	__u32 rtt;
	__u32 least_rtt;
	__u32 sacked_out;
	__u32 lost_out;
	__u32 delivered_ce;
	__u8 state;
	__u8 silent;
	__u8 paced;
	// Linux wants a response, and has not yet said what for.
	__u8 cause_open;
};
_Static_assert(sizeof(struct flow) <= 13 * sizeof(__u64), "it has to fit into the socket");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 18);
} reports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct decision);
} decisions SEC(".maps");

// Odd: taken.
__u32 generations[SLOTS];

char LICENSE[] SEC("license") = "Dual MIT/GPL";

static __always_inline struct flow *flow_of(struct sock *sk)
{
	return (struct flow *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

// From here on, what happens is for the next report.
static __always_inline void forget_news(struct flow *flow)
{
	flow->news = 0;
	flow->acked = 0;
	flow->held = 0;
	flow->sacked = 0;
	flow->lost = 0;
	flow->marked = 0;
	flow->rtt = 0;
	flow->least_rtt = 0;
}

// Sends what is known. Where the ring is full, counts and news stay for the next report.
static __always_inline void send(struct sock *sk, struct flow *flow, __u64 now, __u32 before)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct report *report;

	if (!flow->generation)
		return;
	flow->reported_at = now;
	if (!flow->asked_at)
		flow->asked_at = now;
	report = bpf_ringbuf_reserve(&reports, sizeof(*report), 0);
	if (!report)
		return;
	flow->report++;
	report->now = now;
	report->slot = flow->slot;
	report->generation = flow->generation;
	report->report = flow->report;
	report->event = flow->event;
	report->epoch = flow->epoch;
	report->news = flow->news | (flow->silent ? NEWS_SILENT : 0) |
		       (flow->state == STATE_RECOVERY ? NEWS_RECOVERY : 0);
	report->acked = flow->acked;
	report->held = flow->held;
	report->sacked = flow->sacked;
	report->lost = flow->lost;
	report->marked = flow->marked;
	report->in_flight = before;
	report->rtt_us = flow->rtt;
	report->least_rtt_us = flow->least_rtt;
	report->smoothed_us = tp->srtt_us >> 3;
	report->window = tp->snd_cwnd;
	report->threshold = tp->snd_ssthresh;
	report->unacknowledged = tp->snd_una;
	report->next = tp->snd_nxt;
	report->payload = tp->mss_cache;
	tell_spare(sk, report);
	bpf_ringbuf_submit(report, 0);
	forget_news(flow);
}

// Copies the decision, if nobody is writing to it.
static __always_inline int read_decision(__u32 slot, struct decision *copy)
{
	struct decision *shared = bpf_map_lookup_elem(&decisions, &slot);
	__u32 version;

	if (!shared)
		return 0;
	// Atomic operations that return something order all others around them, on every processor.
	version = __sync_fetch_and_add(&shared->version, 0);
	if (version & 1)
		return 0;
	copy->generation = *(volatile __u32 *)&shared->generation;
	copy->epoch = *(volatile __u32 *)&shared->epoch;
	copy->event = *(volatile __u32 *)&shared->event;
	copy->report = *(volatile __u32 *)&shared->report;
	copy->window = *(volatile __u32 *)&shared->window;
	copy->threshold = *(volatile __u32 *)&shared->threshold;
	copy->paced = *(volatile __u32 *)&shared->paced;
	copy->pacing = *(volatile __u64 *)&shared->pacing;
	copy->written = *(volatile __u64 *)&shared->written;
	return __sync_fetch_and_add(&shared->version, 0) == version;
}

// The rate belongs to cong_control, paced or not: Linux also sizes super-segments by it.
static __always_inline void set_pacing(struct sock *sk, struct flow *flow, __u64 rate)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	if (rate && sk->sk_pacing_status == PACING_NONE) {
		sk->sk_pacing_status = PACING_NEEDED;
	} else if (!rate && flow->paced && sk->sk_pacing_status == PACING_NEEDED) {
		sk->sk_pacing_status = PACING_NONE;
	}
	flow->paced = rate != 0;
	sk->sk_pacing_rate =
		rate ? rate : (__u64)tp->snd_cwnd * tp->mss_cache * 2000000 / round_trip_us(tp);
}

// Reno, for as long as nobody answers.
static __always_inline void reno(struct tcp_sock *tp, struct flow *flow, __u32 acked)
{
	__u32 window = tp->snd_cwnd, threshold = tp->snd_ssthresh, grown;

	if (flow->responded != flow->event) {
		flow->responded = flow->event;
		if (flow->state != STATE_LOSS)
			set_window(tp, least(window, threshold));
		return;
	}
	if (flow->state == STATE_RECOVERY || flow->state == STATE_CWR)
		return;
	if (window < threshold) {
		grown = least(window + acked, threshold);
		acked -= grown - window;
		window = grown;
	}
	if (window >= threshold && window) {
		grown = tp->snd_cwnd_cnt + acked;
		window += grown / window;
		tp->snd_cwnd_cnt = grown % window;
	}
	set_window(tp, window);
}

SEC("struct_ops")
void BPF_PROG(longfat_cong_control, struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *flow = flow_of(sk);
	struct decision decision = {};
	__u64 now = bpf_ktime_get_ns();
	__u32 counted = 0, sacked, acked, round_trip = round_trip_us(tp), tests, marked;
	int answers;

	// The answer to the first SYN comes before init.
	if (!flow->generation && flow->slot < SLOTS)
		return;
	sacked = newly_sacked(tp, flow->sacked_out, rs);
	acked = rs->acked_sacked - sacked;
	flow->sacked_out = tp->sacked_out;
	flow->lost_out = tp->lost_out;
	flow->sacked += sacked;
	if (rs->losses > 0)
		flow->lost += rs->losses;
	marked = tp->delivered_ce != flow->delivered_ce;
	flow->delivered_ce = tp->delivered_ce;
	flow->marked += marked;
	if (rs->rtt_us > 0) {
		flow->rtt = rs->rtt_us;
		if (!flow->least_rtt || flow->rtt < flow->least_rtt)
			flow->least_rtt = flow->rtt;
	}
	tests = window_limits(tp, rs, flow->paced);
	if (tests && !marked && flow->state != STATE_RECOVERY)
		counted = acked;
	flow->acked += counted;
	flow->held += acked - counted;
	count_spare(sk, counted);
	if (flow->news & NEWS_REDUCED) {
		flow->news &= ~NEWS_REDUCED;
		flow->news |= marked ? NEWS_MARK : NEWS_LOSS;
	}

	if (flow->generation &&
	    (flow->news || now - flow->reported_at >= (__u64)round_trip * 1000 / REPORTS_PER_ROUND_TRIP))
		send(sk, flow, now, rs->prior_in_flight);

	answers = flow->generation && read_decision(flow->slot, &decision) &&
		  decision.generation == flow->generation;
	if (answers && decision.report != flow->answered) {
		flow->answered = decision.report;
		// Whoever is behind, but answers, is not silent.
		flow->asked_at = decision.report == flow->report ? 0 : now;
	}
	if (!flow->silent && (!flow->generation ||
	    (flow->asked_at && now - flow->asked_at > (__u64)round_trip * 1000 * PATIENCE))) {
		flow->silent = 1;
		// Whatever is said about the time before no longer holds.
		flow->epoch++;
		tp->snd_cwnd_cnt = 0;
	}
	answers = answers && decision.epoch == flow->epoch && (__s32)(decision.event - flow->event) >= 0;
	if (flow->silent && answers && now - decision.written < (__u64)round_trip * 1000) {
		flow->silent = 0;
		flow->asked_at = 0;
	}

	if (flow->silent) {
		reno(tp, flow, tests && !marked ? acked : 0);
		set_pacing(sk, flow, 0);
	} else if (answers) {
		flow->responded = flow->event;
		tp->snd_ssthresh = decision.threshold;
		set_window(tp, decision.window);
		set_pacing(sk, flow, decision.paced ? decision.pacing : 0);
	} else if (flow->responded != flow->event && flow->state != STATE_LOSS) {
		set_window(tp, least(tp->snd_cwnd, in_flight(tp) + rs->acked_sacked));
	}
}

SEC("struct_ops")
__u32 BPF_PROG(longfat_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *flow = flow_of(sk);

	flow->event++;
	flow->cause_open = 1;
	// Reno's, which holds only if nobody decides otherwise.
	return most(tp->snd_cwnd / 2, LEAST_THRESHOLD);
}

SEC("struct_ops")
void BPF_PROG(longfat_set_state, struct sock *sk, __u8 state)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *flow = flow_of(sk);
	__u8 repaired = flow->state >= STATE_RECOVERY && state < STATE_RECOVERY;

	flow->state = state;
	if (repaired)
		flow->news |= NEWS_RECOVERED;
	if (state == STATE_LOSS) {
		// A time-out amid recovery is one too, though it does not ask for another threshold.
		if (!flow->cause_open)
			flow->event++;
		flow->cause_open = 0;
		flow->news |= NEWS_TIMEOUT;
		if (((struct inet_connection_sock *)sk)->icsk_retransmits)
			flow->news |= NEWS_AGAIN;
		send(sk, flow, bpf_ktime_get_ns(), before_time_out(tp, flow->lost_out));
	} else if (flow->cause_open && state >= STATE_CWR) {
		flow->cause_open = 0;
		flow->news |= state == STATE_RECOVERY ? NEWS_LOSS : NEWS_REDUCED;
	}
}

SEC("struct_ops")
void BPF_PROG(longfat_cwnd_event, struct sock *sk, __u32 event)
{
	if (event == SENDING_BEGINS && ((struct tcp_sock *)sk)->app_limited)
		flow_of(sk)->news |= NEWS_RESTART;
}

// What was answered stays answered: nothing here keeps the window of before.
SEC("struct_ops")
__u32 BPF_PROG(longfat_undo_cwnd, struct sock *sk)
{
	return ((struct tcp_sock *)sk)->snd_cwnd;
}

SEC("struct_ops")
void BPF_PROG(longfat_init, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *flow = flow_of(sk);
	__u32 slot, old;

	flow->asked_at = 0;
	flow->slot = SLOTS;
	flow->generation = 0;
	flow->report = 0;
	flow->answered = 0;
	flow->event = 0;
	flow->responded = 0;
	flow->epoch = 0;
	forget_news(flow);
	flow->news = NEWS_BEGINS;
	flow->sacked_out = tp->sacked_out;
	flow->lost_out = tp->lost_out;
	flow->delivered_ce = tp->delivered_ce;
	flow->state = STATE_OPEN;
	flow->silent = 0;
	flow->paced = 0;
	flow->cause_open = 0;
	for (slot = 0; slot < SLOTS; slot++) {
		old = generations[slot];
		if (!(old & 1) && __sync_val_compare_and_swap(&generations[slot], old, old + 1) == old) {
			flow->slot = slot;
			flow->generation = old + 1;
			break;
		}
	}
	offer(sk);
	send(sk, flow, bpf_ktime_get_ns(), 0);
}

SEC("struct_ops")
void BPF_PROG(longfat_release, struct sock *sk)
{
	struct flow *flow = flow_of(sk);
	__u32 slot = flow->slot;

	if (!flow->generation || slot >= SLOTS)
		return;
	flow->news |= NEWS_ENDS;
	send(sk, flow, bpf_ktime_get_ns(), 0);
	__sync_fetch_and_add(&generations[slot], 1);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops longfat = {
	.ssthresh = (void *)longfat_ssthresh,
	.set_state = (void *)longfat_set_state,
	.cwnd_event = (void *)longfat_cwnd_event,
	.cong_control = (void *)longfat_cong_control,
	.undo_cwnd = (void *)longfat_undo_cwnd,
	.init = (void *)longfat_init,
	.release = (void *)longfat_release,
	.name = "longfat",
};
