/* longfat.h - the C interface of longfat, version 1: congestion controllers and queue policies in shared libraries.
 *
 * A library exports one function, longfat_plugin, which returns a list of what is in it. Nothing has to be linked, and
 * nothing else of longfat is needed to compile one:
 *
 *     cc -O2 -shared -fPIC -I crates/foreign/include -o libmine.so mine.c
 *
 * and in a scenario, run with --allow-code:
 *
 *     control = { library = "libmine.so", a = 2 }
 *
 * Rules for all functions:
 *
 * - Time, counts and windows are numbers: seconds, segments (packets of data), bytes, as the names and comments say.
 *   A number that is not known is NaN. Times are also given in picoseconds, as integers, which is how longfat counts.
 * - A function is called by one thread at a time for each state, and by several threads for different states at once:
 *   there must be no writable global data. It must return, must not longjmp or throw across the border, and must not
 *   keep a pointer that it was given, except to its own state.
 * - The same calls must give the same answers: no clock, no random numbers but those handed in, no files.
 * - An answer that is not allowed (NaN, infinite, negative, an unknown code) ends the run with an error that names the
 *   controller, the flow, the simulated time and the value.
 * - Structures that longfat fills in may grow at their ends, so take their size from this file only. Those that a
 *   library fills in begin with their own size; a library made for an older version 1 goes on working.
 */
#ifndef LONGFAT_H
#define LONGFAT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. Another number means another interface. */
#define LONGFAT_VERSION 1u

/* ---------------------------------------------------------------- parameters */

/* What a parameter is in a scenario file, and as what it arrives here: always as one double. */
enum longfat_kind {
  LONGFAT_NUMBER = 0, /* a number from least to most */
  LONGFAT_COUNT = 1,  /* a whole number from least to most, which are not negative */
  LONGFAT_FLAG = 2,   /* true or false: 1 or 0 */
  LONGFAT_TIME = 3,   /* a time, "10 ms": in seconds */
  LONGFAT_LENGTH = 4  /* queues only: a length, "0.1 bdp": in the unit in which the queue counts (longfat_site) */
};

/* One parameter. Its place in the list is its place in the array `p` that functions are given. */
typedef struct longfat_parameter {
  const char *name;     /* letters, digits, _ and -; unique; not kind, python, library or code */
  const char *about;    /* its meaning in one line; may be NULL */
  const char *text;     /* the default of a time or a length, as in a file: "10 ms"; else NULL */
  double value;         /* the default of the other kinds; NaN: a scenario must give it */
  double least, most;   /* bounds of a number or a count; NaN: none. Ignored for other kinds. */
  int64_t kind;         /* enum longfat_kind */
} longfat_parameter;

/* ---------------------------------------------------------------- events */

/* What signalled congestion. */
enum longfat_cause {
  LONGFAT_LOSS = 0,   /* a segment found lost by acknowledgments */
  LONGFAT_MARK = 1,   /* a segment marked by a router (RFC 3168) */
  LONGFAT_TIMEOUT = 2 /* the retransmission timer ran out */
};

/* What keeps a sender from having more in flight. The window may grow only with the first two. */
enum longfat_limited {
  LONGFAT_BY_WINDOW = 0,
  LONGFAT_BY_PACING = 1,
  LONGFAT_BY_APPLICATION = 2, /* nothing more to send */
  LONGFAT_BY_RECEIVER = 3,    /* a bound outside the controller */
  LONGFAT_BY_RECOVERY = 4     /* losses are being repaired */
};

/* How data leaves. */
enum longfat_pace {
  LONGFAT_UNPACED = 0,      /* as the window allows; value is ignored */
  LONGFAT_SPREAD = 1,       /* at value x window / round trip; value from 0.001 to 1e6 */
  LONGFAT_RATE = 2,         /* value segments per second, from 0.001 to 1e12 */
  LONGFAT_BLOCKS = 3,       /* the window in so many blocks per round trip; value a whole number from 1 to 1e9 */
  LONGFAT_LOOSE_BLOCKS = 4  /* the same; an acknowledgment lets the next block begin early */
};

typedef struct longfat_pacing {
  int64_t kind; /* enum longfat_pace */
  double value;
} longfat_pacing;

/* The two phases of RFC 5681. */
enum longfat_phase {
  LONGFAT_SLOW_START = 0,          /* below the threshold */
  LONGFAT_CONGESTION_AVOIDANCE = 1 /* at or above it */
};

/* Where a flow stands: what a window law may depend on. */
typedef struct longfat_operating {
  double window;       /* segments, 1 or more */
  double epoch_window; /* segments: the window after the last decrease, or on entering congestion avoidance; NaN when
                          that is lost, as after a time-out */
  double rtt;          /* seconds, smoothed */
  double base_rtt;     /* seconds, the smallest seen */
  double since_event;  /* seconds since the last congestion; NaN if there was none */
  double spare;        /* the AntiECN bit, 0 or 1; in the fluid model, the share of acknowledgments that carry it */
  int64_t phase;       /* enum longfat_phase */
} longfat_operating;

/* What is known of the path. */
typedef struct longfat_path {
  double rtt;           /* seconds, smoothed (RFC 6298) */
  double base_rtt;      /* seconds, the smallest seen */
  uint64_t rtt_ps;      /* the same in picoseconds */
  uint64_t base_rtt_ps;
} longfat_path;

/* How a flow begins. */
typedef struct longfat_start {
  double window;       /* segments: the initial window, 1 or more */
  double threshold;    /* segments: the slow-start threshold, 1 or more; NaN: none */
  double packet_bytes; /* size of a segment on the wire, headers included */
  double access;       /* segments per second of the sender's own link; NaN: unknown */
  double transfer;     /* segments to send in all; NaN: without end */
  double round_trip;   /* seconds, measured before data leaves; NaN: unknown */
  uint64_t chance;     /* another number for each flow and each seed: the seed of what is decided by chance */
} longfat_start;

/* What one acknowledgment reports. Counts are segments. */
typedef struct longfat_feedback {
  double now;              /* seconds since the start of the run */
  uint64_t now_ps;         /* the same in picoseconds */
  int64_t acked;           /* newly acknowledged in order */
  int64_t sacked;          /* newly acknowledged above these */
  int64_t lost;            /* newly counted as lost */
  int64_t marked;          /* newly reported as marked */
  int64_t in_flight;       /* neither acknowledged nor known to be lost, before this acknowledgment */
  double rtt;              /* seconds: round trip of the segment that triggered it; NaN: not measured */
  double one_way_delay;    /* seconds, only differences mean anything; NaN: unknown. LONGFAT_WANTS_ONE_WAY_DELAY */
  double spare;            /* AntiECN: 1 if every router had capacity to spare, 0 if not; NaN: unknown */
  int64_t limited;         /* enum longfat_limited */
  int64_t round_starts;    /* 1 once per round trip */
  int64_t recovery_begins; /* 1 if loss recovery begins with it; then no window may grow on it */
  int64_t spurious;        /* enum longfat_cause: congestion reported earlier that proves spurious; -1: none.
                              LONGFAT_WANTS_SPURIOUS */
  /* A sample of the delivery rate, with LONGFAT_WANTS_DELIVERY_RATE; otherwise rate_interval is NaN, the rest 0. */
  double rate_interval;           /* seconds, above 0 */
  int64_t rate_delivered;         /* segments delivered in this interval */
  int64_t rate_delivered_before;  /* segments delivered before the newest of them left */
  int64_t rate_delivered_total;   /* segments delivered so far */
  int64_t rate_lost;              /* segments lost since the newest one left */
  int64_t rate_in_flight;         /* segments in flight just after it left, itself included */
  int64_t rate_application_limited; /* 1 if the application ran out of data meanwhile */
} longfat_feedback;

/* Congestion: at most once per window of data. */
typedef struct longfat_congestion {
  double now;        /* seconds */
  uint64_t now_ps;   /* picoseconds */
  int64_t cause;     /* enum longfat_cause */
  int64_t in_flight; /* segments, before this event */
  int64_t again;     /* 1 for a time-out of data that had timed out before */
} longfat_congestion;

/* The host asks for another window, because it was not used, or is known from an earlier flow. */
typedef struct longfat_adjustment {
  double now;       /* seconds */
  uint64_t now_ps;  /* picoseconds */
  double window;    /* segments: the window from now on */
  double threshold; /* segments: the slow-start threshold, 1 or more; NaN: as it is */
} longfat_adjustment;

/* A segment found lost. LONGFAT_WANTS_LOSSES */
typedef struct longfat_lost {
  double now;                  /* seconds */
  uint64_t now_ps;             /* picoseconds */
  int64_t segment;             /* its place among the segments of the flow, from 0 */
  int64_t in_flight;           /* segments in flight just after it left, itself included */
  int64_t lost;                /* segments lost since it left, itself included */
  int64_t delivered_total;     /* segments delivered so far */
  int64_t application_limited; /* 1 if the application had run out of data shortly before it left */
  double sent;                 /* seconds: when it left; if more than once, the last time */
  uint64_t sent_ps;            /* picoseconds: the same */
} longfat_lost;

/* A segment has left. LONGFAT_WANTS_DEPARTURES */
typedef struct longfat_sent {
  double now;        /* seconds */
  uint64_t now_ps;   /* picoseconds */
  int64_t again;     /* 1 if it had been sent before */
  int64_t in_flight; /* segments in flight, itself included */
} longfat_sent;

/* ---------------------------------------------------------------- what an entry asks for */

/* Bits of `needs`: without these a scenario is refused. */
#define LONGFAT_NEEDS_ECN 1u          /* marks of RFC 3168 */
#define LONGFAT_NEEDS_ACCURATE_ECN 2u /* how many segments were marked */
#define LONGFAT_NEEDS_ECT1 4u         /* ECT(1) on its data (RFC 9331) */
#define LONGFAT_NEEDS_SPARE 8u        /* the AntiECN bit */
#define LONGFAT_NEEDS_PACING 16u      /* pacing by the sender */

/* Bits of `wants`: what is worked out, or called, only on request. */
#define LONGFAT_WANTS_PACING 1u         /* ask for the pacing after every call, not once per round trip */
#define LONGFAT_WANTS_DELIVERY_RATE 2u  /* samples of the delivery rate in longfat_feedback */
#define LONGFAT_WANTS_LOSSES 4u         /* calls of on_lost */
#define LONGFAT_WANTS_DEPARTURES 8u     /* calls of on_sent */
#define LONGFAT_WANTS_TIMER 16u         /* calls of timer and on_timer */
#define LONGFAT_WANTS_OWN_RECOVERY 32u  /* its window holds as it is while losses are repaired (else RFC 9937) */
#define LONGFAT_WANTS_SPURIOUS 64u      /* notice of congestion that proves spurious */
#define LONGFAT_WANTS_ONE_WAY_DELAY 128u
#define LONGFAT_WANTS_CHANCE 256u       /* queues only: a random number with each arrival */

/* Bits of `manner`. */
#define LONGFAT_PER_MARK 1u     /* react to each marked segment, not once per window of data */
#define LONGFAT_HEEDS_DELAY 2u  /* laws: the gain falls as the round trip grows, and may be negative */
#define LONGFAT_LOSSES_APART 4u /* controllers: react to a loss also where a mark of its window has been answered */

/* ---------------------------------------------------------------- window laws */

/* A window law: two formulas. longfat adds slow start, the bounds of the window, time-outs and recovery, and the fluid
 * model solves the same formulas as differential equations. */
typedef struct longfat_law {
  uint64_t size;      /* sizeof(longfat_law) */
  const char *name;   /* in scenario files: letters, digits, _ and - */
  const char *title;  /* what it is, in one line; may be NULL */
  const char *source; /* where it was published; may be NULL */
  const longfat_parameter *parameters;
  uint64_t parameter_count;
  uint64_t needs;     /* LONGFAT_NEEDS_... */
  uint64_t manner;    /* LONGFAT_PER_MARK, LONGFAT_HEEDS_DELAY */
  /* Segments added per acknowledged segment in congestion avoidance (Reno: 1 / window). Finite; not negative, unless
   * LONGFAT_HEEDS_DELAY. */
  double (*gain)(const longfat_operating *at, const double *p);
  /* Share of the window given up at a loss or a mark, from 0 to 1 (Reno: 0.5). Not asked at a time-out. */
  double (*give_up)(const longfat_operating *at, int64_t cause, const double *p);
  /* Segments added per acknowledged segment in slow start: finite, not negative. NULL: 1. */
  double (*slow_start)(const longfat_operating *at, const double *p);
  /* How the window is sent; asked once per round trip and at congestion. *pacing is unpaced before. NULL: unpaced. */
  void (*pacing)(const longfat_operating *at, longfat_pacing *pacing, const double *p);
} longfat_law;

/* ---------------------------------------------------------------- controllers */

/* A controller with a memory of its own. Functions that may be NULL do nothing then. */
typedef struct longfat_controller {
  uint64_t size; /* sizeof(longfat_controller) */
  const char *name, *title, *source; /* as in longfat_law */
  const longfat_parameter *parameters;
  uint64_t parameter_count;
  uint64_t needs;      /* LONGFAT_NEEDS_... */
  uint64_t wants;      /* LONGFAT_WANTS_... */
  uint64_t manner;     /* LONGFAT_PER_MARK or LONGFAT_LOSSES_APART */
  uint64_t state_size; /* bytes of memory for each flow, at most 16 MB; zero at first, aligned to 16 bytes. It may be
                          copied with memcpy at any time, between calls, and goes on as another flow: it must hold no
                          pointer into itself or to memory of its own. */
  const char *const *observed; /* names of the variables worth plotting, as parameters are named; may be NULL */
  uint64_t observed_count;

  /* A flow begins. */
  void (*begin)(void *state, const longfat_start *start, const double *p);
  /* An acknowledgment brought news. */
  void (*on_feedback)(void *state, const longfat_feedback *feedback, const longfat_path *path, const double *p);
  /* The path is congested; after on_feedback, if the same acknowledgment shows both. */
  void (*on_congestion)(void *state, const longfat_congestion *event, const longfat_path *path, const double *p);
  /* How many segments may be in flight, from 1 up; more than 1e12 count as 1e12. Asked after every other call. */
  double (*window)(const void *state, const double *p);

  /* The rest may be NULL. */

  /* How fast data leaves. *pacing is unpaced before. Asked once per round trip and at congestion, or after every call
   * with LONGFAT_WANTS_PACING. */
  void (*pacing)(const void *state, longfat_pacing *pacing, const longfat_path *path, const double *p);
  /* The slow-start threshold in segments; NaN: none. For the host, which may look at it. */
  double (*threshold)(const void *state, const double *p);
  /* The host asks for another window: of one that is not used, or that has grown further than what was in flight allows,
   * which is twice that below the threshold or without one, and a segment more above it (window_validation in the
   * scenario). */
  void (*on_adjustment)(void *state, const longfat_adjustment *event, const longfat_path *path, const double *p);
  /* All that was in flight when recovery began is acknowledged. on_feedback follows, in which limited may still be
   * LONGFAT_BY_RECOVERY: no window grows on that acknowledgment. */
  void (*on_recovered)(void *state, double now, const longfat_path *path, const double *p);
  /* Data leaves again, after nothing was in flight. */
  void (*on_restart)(void *state, double now, const longfat_path *path, const double *p);
  void (*on_lost)(void *state, const longfat_lost *lost, const longfat_path *path, const double *p);
  void (*on_sent)(void *state, const longfat_sent *sent, const longfat_path *path, const double *p);
  /* When to call on_timer, in seconds since the start of the run; NaN: not at all. Asked after every other call. What has
   * passed is now; after on_timer it must be a time to come, or NaN. */
  double (*timer)(const void *state, const double *p);
  void (*on_timer)(void *state, double now, const longfat_path *path, const double *p);
  /* The values of `observed`, in their order; NaN: none at the moment. */
  void (*observe)(const void *state, double *values, const double *p);
} longfat_controller;

/* ---------------------------------------------------------------- queue policies */

/* What happens to a packet that arrives. */
enum longfat_verdict {
  LONGFAT_KEEP = 0, /* let it in */
  LONGFAT_SET_MARK = 1, /* let it in with the mark of RFC 3168; a packet that cannot carry one is dropped */
  LONGFAT_DROP = 2  /* discard it */
};

/* The ECN field of a packet: the codepoints of RFC 3168. */
enum longfat_ecn { LONGFAT_NOT_ECT = 0, LONGFAT_ECT1 = 1, LONGFAT_ECT0 = 2, LONGFAT_CE = 3 };

/* Where a queue stands. */
typedef struct longfat_site {
  double rate;         /* bit/s that leave, at the start: of the link, or of a slower shaper behind the queue */
  double packet_bytes; /* the largest packet that crosses it */
  double capacity;     /* what the queue holds, in its unit; infinite if there is no limit */
  double round_trip;   /* seconds: the mean of the flows that cross it; NaN: unknown */
  int64_t in_bytes;    /* the unit in which it counts: 1 bytes, 0 packets */
} longfat_site;

/* A packet that asks to enter. What is waiting does not include the packet being sent. */
typedef struct longfat_arrival {
  double now;              /* seconds */
  uint64_t now_ps;         /* picoseconds */
  int64_t bytes;           /* its size */
  int64_t ecn;             /* enum longfat_ecn */
  int64_t waiting_packets; /* what is ahead of it */
  int64_t waiting_bytes;
  double idle_since;       /* seconds: since when the link has been idle; NaN if it is not */
  double chance;           /* a random number in [0, 1), with LONGFAT_WANTS_CHANCE; else NaN */
} longfat_arrival;

/* A policy of a first-in, first-out queue: it decides on arrival, and stores nothing. */
typedef struct longfat_queue {
  uint64_t size; /* sizeof(longfat_queue) */
  const char *name, *title, *source; /* as in longfat_law */
  const longfat_parameter *parameters;
  uint64_t parameter_count;
  uint64_t wants;      /* LONGFAT_WANTS_CHANCE */
  uint64_t state_size; /* as in longfat_controller */
  const char *const *observed;
  uint64_t observed_count;

  /* A packet asks to enter a queue that has space for it: an enum longfat_verdict. */
  int64_t (*on_arrival)(void *state, const longfat_arrival *arrival, const double *p);

  /* The rest may be NULL. */

  void (*begin)(void *state, const longfat_site *site, const double *p);
  /* A packet found the queue full, and is dropped. Its `chance` is NaN. */
  void (*on_overflow)(void *state, const longfat_arrival *arrival, const double *p);
  /* A packet has left the link, and so many remain, with the one that now begins to be sent. */
  void (*on_departure)(void *state, double now, int64_t remaining, const double *p);
  /* How often the policy looks at the queue by the clock, in seconds, above 0; asked once, after begin. */
  double (*period)(const void *state, const double *p);
  /* It looks `count` times in a row, and finds this waiting each time. */
  void (*on_ticks)(void *state, int64_t count, int64_t waiting_packets, int64_t waiting_bytes, const double *p);
  /* The values of `observed`, in their order; NaN: none at the moment. */
  void (*observe)(const void *state, double *values, const double *p);
} longfat_queue;

/* ---------------------------------------------------------------- the library */

/* What is in a library. All of it is read once, and stays where it is as long as the process lives. */
typedef struct longfat_plugin_table {
  uint64_t size;    /* sizeof(longfat_plugin_table) */
  uint64_t version; /* LONGFAT_VERSION */
  const longfat_law *const *laws;
  uint64_t law_count;
  const longfat_controller *const *controllers;
  uint64_t controller_count;
  const longfat_queue *const *queues;
  uint64_t queue_count;
} longfat_plugin_table;

#if defined(_WIN32)
#define LONGFAT_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define LONGFAT_EXPORT __attribute__((visibility("default")))
#else
#define LONGFAT_EXPORT
#endif

/* The one function that a library exports. `version` is that of the longfat that asks; NULL: it is not served. */
LONGFAT_EXPORT const longfat_plugin_table *longfat_plugin(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif
