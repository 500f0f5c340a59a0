/* For the tests: laws, controllers and queues that keep the rules of longfat.h, and some that break them. */
#include "longfat.h"

#include <stddef.h>

#ifndef NAN
#define NAN (0.0 / 0.0)
#endif

/* Reno, as RFC 5681 has it. */
static double reno_gain(const longfat_operating *at, const double *p) {
  (void)p;
  return 1.0 / at->window;
}

static double half(const longfat_operating *at, int64_t cause, const double *p) {
  (void)at;
  (void)cause;
  (void)p;
  return 0.5;
}

static const longfat_law c_reno = {
    .size = sizeof(longfat_law),
    .name = "c-reno",
    .title = "Reno in C",
    .source = "RFC 5681",
    .gain = reno_gain,
    .give_up = half,
};

/* Additive increase by a segments per round trip, down to 1 - b. */
static double aimd_gain(const longfat_operating *at, const double *p) { return p[0] / at->window; }

static double aimd_give_up(const longfat_operating *at, int64_t cause, const double *p) {
  (void)at;
  return cause == LONGFAT_TIMEOUT ? 0.0 : p[1];
}

static const longfat_parameter aimd_parameters[] = {
    {"a", "segments per round trip", NULL, 1.0, 0.0, 100.0, LONGFAT_NUMBER},
    {"b", "share given up", NULL, 0.5, 0.0, 1.0, LONGFAT_NUMBER},
};

static const longfat_law c_aimd = {
    .size = sizeof(longfat_law),
    .name = "c-aimd",
    .parameters = aimd_parameters,
    .parameter_count = 2,
    .gain = aimd_gain,
    .give_up = aimd_give_up,
};

/* Reno until the window reaches 20 segments, then not a number. */
static double bad_gain(const longfat_operating *at, const double *p) {
  (void)p;
  return at->window < 20.0 ? 1.0 / at->window : NAN;
}

static const longfat_law c_bad = {
    .size = sizeof(longfat_law), .name = "c-bad", .gain = bad_gain, .give_up = half};

/* A controller: Reno by itself, with a slow start up to the first loss. */
typedef struct {
  double window, threshold;
  int64_t losses;
} reno_state;

static void begin(void *state, const longfat_start *start, const double *p) {
  reno_state *s = state;
  (void)p;
  s->window = start->window;
  s->threshold = start->threshold;
}

static void on_feedback(void *state, const longfat_feedback *feedback, const longfat_path *path, const double *p) {
  reno_state *s = state;
  (void)path;
  (void)p;
  if (feedback->recovery_begins || feedback->marked > 0 || feedback->limited > LONGFAT_BY_PACING) return;
  for (int64_t i = 0; i < feedback->acked; i++) {
    /* Also true while there is no threshold. */
    if (!(s->window >= s->threshold)) {
      s->window += 1.0;
      if (s->window > s->threshold) s->window = s->threshold;
    } else {
      s->window += 1.0 / s->window;
    }
  }
}

static void on_congestion(void *state, const longfat_congestion *event, const longfat_path *path, const double *p) {
  reno_state *s = state;
  double half_window = s->window / 2.0;
  (void)path;
  (void)p;
  s->losses++;
  if (event->cause == LONGFAT_TIMEOUT) {
    if (!event->again) s->threshold = event->in_flight / 2.0 > 2.0 ? event->in_flight / 2.0 : 2.0;
    s->window = 1.0;
    return;
  }
  if (half_window < 2.0) half_window = 2.0;
  s->threshold = half_window;
  if (half_window < s->window) s->window = half_window;
}

static double window(const void *state, const double *p) {
  (void)p;
  return ((const reno_state *)state)->window;
}

static double threshold(const void *state, const double *p) {
  (void)p;
  return ((const reno_state *)state)->threshold;
}

static void observe(const void *state, double *values, const double *p) {
  (void)p;
  values[0] = (double)((const reno_state *)state)->losses;
}

static const char *const observed[] = {"losses"};

static const longfat_controller c_own_reno = {
    .size = sizeof(longfat_controller),
    .name = "c-own-reno",
    .state_size = sizeof(reno_state),
    .observed = observed,
    .observed_count = 1,
    .begin = begin,
    .on_feedback = on_feedback,
    .on_congestion = on_congestion,
    .window = window,
    .threshold = threshold,
    .observe = observe,
};

/* Minus one segment after the first loss. */
static double bad_window(const void *state, const double *p) {
  (void)p;
  return ((const reno_state *)state)->losses > 0 ? -1.0 : ((const reno_state *)state)->window;
}

static const longfat_controller c_bad_window = {
    .size = sizeof(longfat_controller),
    .name = "c-bad-window",
    .state_size = sizeof(reno_state),
    .begin = begin,
    .on_feedback = on_feedback,
    .on_congestion = on_congestion,
    .window = bad_window,
};

/* Step marking. */
static int64_t step(void *state, const longfat_arrival *arrival, const double *p) {
  (void)state;
  return (double)arrival->waiting_packets > p[0] ? LONGFAT_SET_MARK : LONGFAT_KEEP;
}

static const longfat_parameter step_parameters[] = {
    {"threshold", "marks above it", "0.2 bdp", NAN, NAN, NAN, LONGFAT_LENGTH},
};

static const longfat_queue c_step = {
    .size = sizeof(longfat_queue),
    .name = "c-step",
    .parameters = step_parameters,
    .parameter_count = 1,
    .on_arrival = step,
};

/* Drops one packet in a hundred, and answers 7 to the thousandth. */
typedef struct {
  int64_t count;
} lottery_state;

static int64_t lottery(void *state, const longfat_arrival *arrival, const double *p) {
  lottery_state *s = state;
  if (++s->count == (int64_t)p[0]) return 7;
  return arrival->chance < 0.01 ? LONGFAT_DROP : LONGFAT_KEEP;
}

static const longfat_parameter lottery_parameters[] = {
    {"last", "answers 7 to this packet", NULL, 0.0, 0.0, NAN, LONGFAT_COUNT},
};

static const longfat_queue c_lottery = {
    .size = sizeof(longfat_queue),
    .name = "c-lottery",
    .parameters = lottery_parameters,
    .parameter_count = 1,
    .wants = LONGFAT_WANTS_CHANCE,
    .state_size = sizeof(lottery_state),
    .on_arrival = lottery,
};

static const longfat_law *const laws[] = {&c_reno, &c_aimd, &c_bad};
static const longfat_controller *const controllers[] = {&c_own_reno, &c_bad_window};
static const longfat_queue *const queues[] = {&c_step, &c_lottery};

#ifndef VERSION
#define VERSION LONGFAT_VERSION
#endif
#ifndef SIZE
#define SIZE sizeof(longfat_plugin_table)
#endif
#ifndef LAWS
#define LAWS 3
#endif

static const longfat_plugin_table table = {SIZE, VERSION, laws, LAWS, controllers, 2, queues, 2};

const longfat_plugin_table *longfat_plugin(uint32_t version) {
  return version == LONGFAT_VERSION ? &table : NULL;
}
