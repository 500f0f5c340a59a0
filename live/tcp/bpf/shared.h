// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What kernel and daemon tell each other. src/wire.rs of longfat-tcp-host says the same in Rust.

// How many flows can be controlled at a time. Others go by Reno.
#define SLOTS 64

// What has happened since the last report.
#define NEWS_BEGINS 0x1
#define NEWS_ENDS 0x2
// A response is called for: because of a loss, a mark, a time-out; of data that had timed out before.
#define NEWS_LOSS 0x4
#define NEWS_MARK 0x8
#define NEWS_TIMEOUT 0x10
#define NEWS_AGAIN 0x20
#define NEWS_RECOVERED 0x40
#define NEWS_RESTART 0x80
// How it stands: losses are being repaired; Reno decides, since nobody answers.
#define NEWS_RECOVERY 0x100
#define NEWS_SILENT 0x200
// Linux has reduced the window without a loss; only within the kernel.
#define NEWS_REDUCED 0x10000

// From the kernel, through the ring buffer. Counts are in segments and since the last report.
struct report {
	__u64 now; // ns of CLOCK_MONOTONIC
	__u32 slot;
	__u32 generation; // of the slot: another one for each flow
	__u32 report; // 1, 2, ...
	__u32 event; // how often a response was called for
	__u32 epoch; // how often the daemon was silent
	__u32 news;
	__u32 acked; // in order, while the window was put to the test: no mark, no recovery
	__u32 held; // in order, otherwise
	__u32 sacked;
	__u32 lost;
	__u32 marked; // acknowledgments
	__u32 in_flight; // before the acknowledgment
	__u32 rtt_us; // the latest sample; 0: none
	__u32 least_rtt_us;
	__u32 smoothed_us;
	__u32 window;
	__u32 threshold;
	__u32 unacknowledged; // sequence numbers
	__u32 next;
	__u32 payload; // bytes of a segment
	__u32 spare; // of `acked`: with the bit of AntiECN
	__u32 acks; // acknowledgments, where the bit is read
	__u32 acks_spare; // with the bit
	__u32 acks_mute; // that say nothing about it
};

// To the kernel, in an array with a place for each slot.
struct decision {
	__u32 version; // odd while it is being written
	__u32 generation;
	__u32 epoch; // as in the report that it answers
	__u32 event;
	__u32 report;
	__u32 window;
	__u32 threshold;
	__u32 paced;
	__u64 pacing; // bytes per second
	__u64 written; // ns of CLOCK_MONOTONIC
};
