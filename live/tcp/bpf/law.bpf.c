// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A window law in Linux TCP, from tables: no program outside of the kernel takes part.
//
// The law says what an acknowledged segment adds and what congestion takes; all else is the shell of longfat's simulator,
// `Windowed` in crates/control: slow start up to the threshold, an epoch from one congestion to the next, time-outs by RFC
// 5681. The window is kept as a number with 36 bits behind the point, and Linux gets its whole part.
//
// `cong_control` (the form with four arguments, Linux 6.10) sees each acknowledgment after loss recovery has done its
// part. `ssthresh` is called exactly where Linux wants a response, once per window of data; `set_state` says what for.

#include <linux/types.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#include "kernel.h"
#include "law.h"

// So many steps make up an acknowledgment of any number of segments: each is a segment, or a sixteenth of the window.
#define STEPS 16
#define SIXTEENTH 4
// Larger than any window.
#define UNKNOWN (1ULL << 62)

// What longfat's `Windowed` remembers.
struct shell {
	__u64 window;
	__u64 threshold;
	// The window at the start of the epoch; 0: forgotten.
	__u64 epoch;
};

// What is remembered of a flow, in the place that the socket has for it.
struct flow {
	struct shell shell;
	__u32 least_rtt;
	__u32 sacked_out;
	__u32 lost_out;
	__u32 delivered_ce;
	// What Linux was last given as its window.
	__u32 given;
	__u8 state;
	__u8 begun;
	// Linux wants a response, and has not yet said what for.
	__u8 cause_open;
	// It has said: either a mark, or congestion on this machine.
	__u8 reduced;
};
_Static_assert(sizeof(struct flow) <= 13 * sizeof(__u64), "it has to fit into the socket");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_RDONLY_PROG);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct piece);
} pieces SEC(".maps");

// How many connections have it, for whoever asks.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} connections SEC(".maps");

// What it is, for whoever asks.
struct text {
	char text[4096];
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct text);
} about SEC(".maps");

const volatile struct law law;

char LICENSE[] SEC("license") = "Dual MIT/GPL";

// Functions that are not static are verified once, and not wherever they are called.
__noinline __s64 curve_at(__u32 number, __u64 x)
{
	__u32 bits, octaves, exponent, index, i;
	struct piece *piece;
	__u64 digits, fraction;

	if (number >= CURVES)
		return 0;
	bits = law.curves[number].bits & 31;
	octaves = law.curves[number].octaves & 31;
	if (x < ONE)
		x = ONE;
	if (x >= ONE << octaves)
		x = (ONE << octaves) - 1;
	exponent = log2_of(x);
	// The first bit is that of the exponent.
	digits = x << ((63 - exponent) & 63) << 1;
	fraction = digits << bits >> (64 - FRACTION);
	index = law.curves[number].first + ((exponent - POINT) << bits) + (digits >> 1 >> (63 - bits));
	piece = bpf_map_lookup_elem(&pieces, &index);
	for (i = 1; i < MOST_IN_A_CELL && piece && x >= piece->until; i++) {
		index = piece->next;
		piece = bpf_map_lookup_elem(&pieces, &index);
	}
	return piece ? piece->value + part_of(piece->delta, fraction) : 0;
}

static __always_inline __u64 positive(__s64 x)
{
	return x > 0 ? x : 0;
}

// What one acknowledged segment adds in congestion avoidance; the round trip is in microseconds.
__noinline __u64 gain_at(__u64 window, __u64 epoch, __u64 round_trip)
{
	__u64 added;

	if (law.curves[OFFSET].octaves)
		added = positive((__s64)product_of(positive(curve_at(GROWTH, epoch)), window) +
				 curve_at(OFFSET, epoch));
	else
		added = positive(curve_at(GROWTH, window));
	if (law.curves[ROUND_TRIP].octaves)
		added = product_of(added, positive(curve_at(ROUND_TRIP, round_trip)));
	return ratio_of(added < window ? added : window, window);
}

// What it adds in slow start.
__noinline __u64 rise_at(__u64 window)
{
	return ratio_of(positive(curve_at(SLOW_START, window)), window);
}

// What congestion takes.
__noinline __u64 taken_at(__u64 window, __u32 by)
{
	__u64 taken = positive(curve_at(DECREASE + (by & 3), window));

	return taken < window ? taken : window;
}

// What a loop of growth works on.
struct growth {
	struct shell shell;
	__u64 left;
	__u64 round_trip;
};

static long step(__u64 number, struct growth *growth)
{
	struct shell *shell = &growth->shell;
	__u64 each, count, needed;

	if (!growth->left || number >= STEPS)
		return 1;
	// All are used up at the last step, however many there are.
	count = (growth->left + STEPS - 1 - number) / (STEPS - number);
	needed = shell->window >> (POINT + SIXTEENTH);
	if (count < needed)
		count = needed;
	if (count > growth->left)
		count = growth->left;
	if (shell->window < shell->threshold) {
		each = rise_at(shell->window);
		if (!each)
			return 1;
		// What is not needed for slow start is left for what comes after it.
		needed = (shell->threshold - shell->window + each - 1) / each;
		if (count > needed)
			count = needed;
		shell->window += each * count;
		if (shell->window >= shell->threshold) {
			shell->window = shell->threshold;
			shell->epoch = shell->window;
		}
	} else {
		each = gain_at(shell->window, shell->epoch ? shell->epoch : shell->window, growth->round_trip);
		shell->window += each * count;
	}
	if (shell->window > LARGEST)
		shell->window = LARGEST;
	growth->left -= count;
	return 0;
}

// Acknowledged segments, while the window was put to the test.
static __always_inline void grow(struct shell *shell, __u64 acked, __u64 round_trip)
{
	struct growth growth = {.shell = *shell, .left = acked, .round_trip = round_trip};

	// Of most acknowledgments, the first step is all.
	if (!step(0, &growth) && growth.left)
		bpf_loop(STEPS, step, &growth, 0);
	*shell = growth.shell;
}

// A loss or a mark. The floor is for the threshold, and never raises a window.
static __always_inline void give_up(struct shell *shell, __u32 by)
{
	__u64 reduced = shell->window;

	if (shell->window < shell->threshold)
		by += IN_SLOW_START;
	reduced -= taken_at(shell->window, by);
	if (reduced < 2 * ONE)
		reduced = 2 * ONE;
	shell->threshold = reduced;
	shell->epoch = reduced;
	if (shell->window > reduced)
		shell->window = reduced;
}

// A time-out (RFC 5681, section 3.1); of data that had timed out before it leaves the threshold.
static __always_inline void time_out(struct shell *shell, __u32 before, int again)
{
	if (!again)
		shell->threshold = (__u64)most(before, 2 * LEAST_THRESHOLD) * (ONE / 2);
	shell->window = ONE;
	shell->epoch = 0;
}

static __always_inline void begin(struct shell *shell, __u32 window, __u32 threshold)
{
	shell->window = (__u64)most(window, 1) << POINT;
	if (shell->window > LARGEST)
		shell->window = LARGEST;
	shell->threshold = threshold < NO_THRESHOLD ? (__u64)most(threshold, 1) << POINT : UNKNOWN;
	if (shell->threshold > UNKNOWN)
		shell->threshold = UNKNOWN;
	shell->epoch = shell->window < shell->threshold ? 0 : shell->window;
}

static __always_inline struct flow *flow_of(struct sock *sk)
{
	return (struct flow *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

static __always_inline __u32 whole(__u64 x)
{
	__u64 segments = x >> POINT;

	return segments < NO_THRESHOLD ? segments : NO_THRESHOLD;
}

// Bytes of data per second for a number of windows per round trip, in units of 2^-8.
static __always_inline __u64 rate_of(const struct tcp_sock *tp, __u64 window, __u32 windows)
{
	// In units of 2^-8 bytes: fewer than 2^49.
	__u64 bytes = ((window >> (POINT - 8)) * tp->mss_cache * windows) >> 8;
	__u64 round_trip = round_trip_us(tp);

	if (bytes < 1ULL << 44)
		return (bytes * 1000000 / round_trip) >> 8;
	return (bytes / round_trip * 1000000) >> 8;
}

static __always_inline void set_pacing(struct sock *sk, const struct shell *shell)
{
	__u64 rate;

	if (law.pacing && sk->sk_pacing_status == PACING_NONE)
		sk->sk_pacing_status = PACING_NEEDED;
	// The rate belongs to cong_control, paced or not: Linux also sizes super-segments by it.
	rate = rate_of((struct tcp_sock *)sk, shell->window, law.pacing ? law.pacing : 512);
	sk->sk_pacing_rate = rate ? rate : 1;
}

static __always_inline void apply(struct tcp_sock *tp, struct flow *flow)
{
	tp->snd_ssthresh = whole(flow->shell.threshold);
	set_window(tp, whole(flow->shell.window));
	flow->given = tp->snd_cwnd;
}

SEC("struct_ops")
void BPF_PROG(law_cong_control, struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *flow = flow_of(sk);
	__u32 sacked, rtt, marked, tests;
	struct shell shell;
	__u64 round_trip;

	// The answer to the first SYN comes before init.
	if (!flow->begun)
		return;
	sacked = newly_sacked(tp, flow->sacked_out, rs);
	flow->sacked_out = tp->sacked_out;
	flow->lost_out = tp->lost_out;
	marked = tp->delivered_ce != flow->delivered_ce;
	flow->delivered_ce = tp->delivered_ce;
	if (rs->rtt_us > 0) {
		rtt = rs->rtt_us;
		if (!flow->least_rtt || rtt < flow->least_rtt)
			flow->least_rtt = rtt;
	}
	shell = flow->shell;
	// Linux itself has set another one, as it does where packets turn out to be larger.
	if (tp->snd_cwnd != flow->given)
		begin(&shell, tp->snd_cwnd, tp->snd_ssthresh);
	tests = window_limits(tp, rs, law.pacing);
	if (flow->reduced) {
		flow->reduced = 0;
		give_up(&shell, marked ? BY_MARK : BY_LOSS);
	} else if (tests && !marked && flow->state != STATE_RECOVERY) {
		round_trip = law.base && flow->least_rtt ? (__u64)flow->least_rtt << POINT :
							   (__u64)tp->srtt_us << (POINT - 3);
		grow(&shell, rs->acked_sacked - sacked, round_trip);
	}
	flow->shell = shell;
	apply(tp, flow);
	set_pacing(sk, &shell);
}

SEC("struct_ops")
__u32 BPF_PROG(law_ssthresh, struct sock *sk)
{
	struct flow *flow = flow_of(sk);
	struct shell shell = flow->shell;

	flow->cause_open = 1;
	// What a loss would leave; what it was is said in a moment.
	give_up(&shell, BY_LOSS);
	return whole(shell.threshold);
}

SEC("struct_ops")
void BPF_PROG(law_set_state, struct sock *sk, __u8 state)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *flow = flow_of(sk);
	struct shell shell = flow->shell;

	flow->state = state;
	if (state == STATE_LOSS) {
		flow->cause_open = 0;
		flow->reduced = 0;
		time_out(&shell, before_time_out(tp, flow->lost_out),
			 ((struct inet_connection_sock *)sk)->icsk_retransmits);
		flow->given = tp->snd_cwnd;
	} else if (flow->cause_open && state == STATE_RECOVERY) {
		flow->cause_open = 0;
		give_up(&shell, BY_LOSS);
	} else if (flow->cause_open && state == STATE_CWR) {
		// Whether it was a mark is known at the end of the acknowledgment.
		flow->cause_open = 0;
		flow->reduced = 1;
	}
	flow->shell = shell;
}

// What was given up stays given up: nothing here keeps the window of before.
SEC("struct_ops")
__u32 BPF_PROG(law_undo_cwnd, struct sock *sk)
{
	return ((struct tcp_sock *)sk)->snd_cwnd;
}

static __always_inline void count(__s64 more)
{
	__u32 first = 0;
	__u64 *number = bpf_map_lookup_elem(&connections, &first);

	if (number)
		__sync_fetch_and_add(number, more);
}

SEC("struct_ops")
void BPF_PROG(law_init, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *flow = flow_of(sk);
	struct shell shell;

	begin(&shell, tp->snd_cwnd, tp->snd_ssthresh);
	flow->shell = shell;
	flow->least_rtt = 0;
	flow->sacked_out = tp->sacked_out;
	flow->lost_out = tp->lost_out;
	flow->delivered_ce = tp->delivered_ce;
	flow->given = tp->snd_cwnd;
	flow->state = STATE_OPEN;
	flow->cause_open = 0;
	flow->reduced = 0;
	flow->begun = 1;
	set_pacing(sk, &shell);
	count(1);
}

SEC("struct_ops")
void BPF_PROG(law_release, struct sock *sk)
{
	struct flow *flow = flow_of(sk);

	// A connection that never came about did not begin.
	if (!flow->begun)
		return;
	flow->begun = 0;
	count(-1);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops operations = {
	.ssthresh = (void *)law_ssthresh,
	.set_state = (void *)law_set_state,
	.cong_control = (void *)law_cong_control,
	.undo_cwnd = (void *)law_undo_cwnd,
	.init = (void *)law_init,
	.release = (void *)law_release,
	.flags = NON_RESTRICTED,
	.name = "longfat_law",
};

// A question and its answers, for tests.
struct trial {
	struct shell shell;
	__u64 round_trip;
	__u32 acked;
	// 0: acknowledged; 1: lost; 2: marked; 3: timed out.
	__u32 event;
	__u64 gain;
	__u64 rise;
	__u64 taken[4];
};

SEC("syscall")
int law_trial(struct trial *trial)
{
	struct shell shell = trial->shell;
	__u32 by;

	trial->gain = gain_at(shell.window, shell.epoch, trial->round_trip);
	trial->rise = rise_at(shell.window);
	for (by = 0; by < 4; by++)
		trial->taken[by] = taken_at(shell.window, by);
	if (trial->event == 0)
		grow(&shell, trial->acked, trial->round_trip);
	else if (trial->event == 3)
		time_out(&shell, trial->acked, 0);
	else
		give_up(&shell, trial->event == 2 ? BY_MARK : BY_LOSS);
	trial->shell = shell;
	return 0;
}
