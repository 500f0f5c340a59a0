// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A window law as tables of whole numbers: how they lie in memory, and how they are computed with. src/image.rs, curve.rs
// and fixed.rs of longfat-tcp-tables say the same in Rust, bit for bit.

// Numbers are in units of 2^-36. Windows end below 2^24 segments.
#define POINT 36
#define ONE (1ULL << POINT)
#define LARGEST ((1ULL << 60) - 1)
#define FRACTION 24
#define DIVISOR 26
#define FACTOR 31
#define MOST_IN_A_CELL 8

// Numbers of curves.
enum { GROWTH, OFFSET, ROUND_TRIP, SLOW_START, DECREASE, CURVES = 8 };
// What is added to DECREASE.
enum { BY_LOSS, BY_MARK, IN_SLOW_START };

// A line over a cell: value at its beginning, and rise within it. From `until` on, piece `next` holds.
struct piece {
	__u64 until;
	__s64 value;
	__s64 delta;
	__u32 next;
	__u32 unused;
};

// 2^bits pieces for each of so many octaves from 1 on, from this piece on; without octaves there is none.
struct curve {
	__u32 first;
	__u32 bits;
	__u32 octaves;
};

struct law {
	struct curve curves[CURVES];
	__u32 base; // It goes by the smallest round trip.
	__u32 pacing; // Windows per round trip, in units of 2^-8; 0: unpaced.
};

static __always_inline __u32 log2_of(__u64 x)
{
	__u32 log = 0;

	if (x >> 32) {
		log = 32;
		x >>= 32;
	}
	if (x >> 16) {
		log += 16;
		x >>= 16;
	}
	if (x >> 8) {
		log += 8;
		x >>= 8;
	}
	if (x >> 4) {
		log += 4;
		x >>= 4;
	}
	if (x >> 2) {
		log += 2;
		x >>= 2;
	}
	return log + (x >> 1);
}

// delta times a number in units of 2^-24.
static __always_inline __s64 part_of(__s64 delta, __u64 fraction)
{
	__s64 high = delta >> FRACTION, low = delta & ((1 << FRACTION) - 1);

	return high * (__s64)fraction + ((low * (__s64)fraction) >> FRACTION);
}

// part / whole, no more than 2; the whole is 1 or more.
static __always_inline __u64 ratio_of(__u64 part, __u64 whole)
{
	__u32 shift;

	if (whole < ONE)
		whole = ONE;
	if (whole > LARGEST)
		whole = LARGEST;
	if (part > 2 * whole)
		part = 2 * whole;
	shift = (log2_of(whole) - (DIVISOR - 1)) & 63;
	return (part << ((POINT - shift) & 63)) / (whole >> shift);
}

// a times b, no more than LARGEST.
static __always_inline __u64 product_of(__u64 a, __u64 b)
{
	__u32 a_log = log2_of(a) + 1, b_log = log2_of(b) + 1, shift;
	__u32 a_shift = a_log > FACTOR ? a_log - FACTOR : 0;
	__u32 b_shift = b_log > FACTOR ? b_log - FACTOR : 0;
	__u64 product = (a >> a_shift) * (b >> b_shift);

	shift = a_shift + b_shift;
	if (shift <= POINT) {
		product >>= (POINT - shift) & 63;
		return product < LARGEST ? product : LARGEST;
	}
	shift -= POINT;
	return log2_of(product) + shift >= 60 ? LARGEST : product << (shift & 63);
}
