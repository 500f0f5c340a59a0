/* CUBIC in C: a controller for longfat in a shared library.
 *
 *     cc -std=c99 -O2 -shared -fPIC -I ../../crates/foreign/include -o libcubic.so cubic.c -lm
 *     longfat run cubic.toml --allow-code --plot
 *
 * L. Xu, S. Ha, I. Rhee, V. Goel, L. Eggert, "CUBIC for Fast and Long-Distance Networks", RFC 9438, 2023. Numbers in
 * comments are those of its equations and sections. It is written in the same way as longfat's own CUBIC, step by step,
 * and a test finds the same bytes in what the two do. Slow start is the standard one only.
 */
#include "longfat.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* Bounds of every window, as all controllers of longfat keep them. */
static const double FLOOR = 2.0, FLOOR_AT_MARK = 1.0, AFTER_TIMEOUT = 1.0, CEILING = 1e12;

/* The places of the parameters in `p`. */
enum { C, BETA, FAST_CONVERGENCE };

static const longfat_parameter parameters[] = {
    {"c", "steepness of the cubic, in segments/s^3", NULL, 0.4, 1e-4, 100.0, LONGFAT_NUMBER},
    {"beta", "share of the window kept at a congestion event", NULL, 0.7, 0.5, 0.99, LONGFAT_NUMBER},
    {"fast_convergence", "give up more after losing below the last maximum", NULL, 1.0, NAN, NAN, LONGFAT_FLAG},
};

/* The memory of one flow. longfat sets it to zero before it begins, and copies it as it is. */
typedef struct {
  double window;
  double threshold;  /* of slow start; infinite before the first loss */
  double w_max;      /* NaN where slow start has to find it first */
  double cwnd_prior; /* the window at the last setting of the threshold; 0 before */
  double alpha;      /* of equation 4 */
  /* The stage of congestion avoidance: */
  bool avoiding;
  bool untested;            /* since untested_since_ps, the window has not been fully used */
  uint64_t untested_since_ps;
  uint64_t epoch_ps;        /* t_epoch, moved on by the times that do not count */
  double k, plateau, w_est; /* plateau: W_max of this stage */
} cubic;

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

static double seconds(uint64_t picoseconds) { return (double)picoseconds * (1.0 / 1e12); }

/* Where `long double` has more digits, this is the number nearest to the root, as in longfat. */
static double cube_root(double x) { return (double)cbrtl((long double)x); }

static void begin(void *state, const longfat_start *start, const double *p) {
  cubic *flow = state;
  flow->window = start->window;
  flow->threshold = isnan(start->threshold) ? INFINITY : larger(start->threshold, 1.0);
  flow->w_max = NAN;
  flow->alpha = 3.0 * (1.0 - p[BETA]) / (1.0 + p[BETA]);
}

/* Equation 2, with the exceptions of sections 4.8 and 4.10. */
static void begin_stage(cubic *flow, uint64_t now_ps, const double *p) {
  flow->plateau = isnan(flow->w_max) ? flow->window : larger(flow->w_max, flow->window);
  flow->w_max = flow->plateau;
  flow->k = cube_root((flow->plateau - flow->window) / p[C]);
  flow->w_est = flow->window;
  flow->epoch_ps = now_ps;
  flow->untested = false;
  flow->avoiding = true;
}

/* Equation 1, t seconds after the start of the stage. */
static double w_cubic(const cubic *flow, double t, double c) {
  double from_plateau = t - flow->k;
  return c * from_plateau * from_plateau * from_plateau + flow->plateau;
}

static void avoid(cubic *flow, int64_t acked, uint64_t now_ps, const longfat_path *path, const double *p) {
  double t, present, next;
  if (!flow->avoiding) begin_stage(flow, now_ps, p);
  if (flow->untested) {
    flow->epoch_ps += now_ps - flow->untested_since_ps;
    flow->untested = false;
  }
  t = seconds(now_ps - flow->epoch_ps);
  present = w_cubic(flow, t, p[C]);
  next = w_cubic(flow, t + seconds(path->rtt_ps), p[C]);
  for (; acked > 0; acked--) {
    double window = flow->window, grown;
    flow->w_est += (flow->w_est < flow->cwnd_prior ? flow->alpha : 1.0) / window;
    if (present < flow->w_est) { /* the Reno-friendly region, section 4.3 */
      grown = larger(window, flow->w_est);
    } else {
      double target = next < window ? window : next > 1.5 * window ? 1.5 * window : next;
      grown = window + (target - window) / window;
    }
    flow->window = smaller(grown, CEILING);
  }
}

static void on_feedback(void *state, const longfat_feedback *feedback, const longfat_path *path, const double *p) {
  cubic *flow = state;
  int64_t acked = feedback->acked;
  if (acked == 0 || feedback->recovery_begins || feedback->marked > 0) return;
  if (feedback->limited != LONGFAT_BY_WINDOW && feedback->limited != LONGFAT_BY_PACING) {
    /* Sections 4.2 and 5.8: the clock stands still while the window is not tested. */
    if (flow->avoiding && !flow->untested) {
      flow->untested = true;
      flow->untested_since_ps = feedback->now_ps;
    }
    return;
  }
  for (; acked > 0 && flow->window < flow->threshold; acked--)
    flow->window = smaller(smaller(flow->window + 1.0, flow->threshold), CEILING);
  if (acked > 0) avoid(flow, acked, feedback->now_ps, path, p);
}

/* Sections 4.6 and 4.7, down to `floor`. */
static void reduce(cubic *flow, double floor, const double *p) {
  double window = flow->window, reduced = p[BETA] * window;
  bool below_maximum = !isnan(flow->w_max) && window < flow->w_max;
  flow->w_max = p[FAST_CONVERGENCE] != 0.0 && below_maximum ? window * ((1.0 + p[BETA]) / 2.0) : window;
  flow->cwnd_prior = window;
  flow->threshold = larger(reduced, FLOOR);
  flow->window = smaller(larger(reduced, floor), window);
}

static void on_congestion(void *state, const longfat_congestion *event, const longfat_path *path, const double *p) {
  cubic *flow = state;
  (void)path;
  flow->avoiding = false;
  if (event->cause == LONGFAT_LOSS) {
    reduce(flow, FLOOR, p);
  } else if (event->cause == LONGFAT_MARK) {
    reduce(flow, FLOOR_AT_MARK, p);
  } else { /* section 4.8 */
    if (!event->again) {
      flow->cwnd_prior = flow->window;
      flow->threshold = larger(p[BETA] * (double)event->in_flight, FLOOR);
    }
    flow->window = AFTER_TIMEOUT;
    flow->w_max = NAN;
  }
}

static void on_adjustment(void *state, const longfat_adjustment *event, const longfat_path *path, const double *p) {
  cubic *flow = state;
  (void)path;
  (void)p;
  if (!isnan(event->threshold)) flow->threshold = event->threshold;
  flow->window = event->window;
  flow->avoiding = false;
}

static double window(const void *state, const double *p) {
  (void)p;
  return ((const cubic *)state)->window;
}

static double threshold(const void *state, const double *p) {
  (void)p;
  return ((const cubic *)state)->threshold;
}

/* What is worth plotting. */
static const char *const observed[] = {"w_max", "k", "w_est"};

static void observe(const void *state, double *values, const double *p) {
  const cubic *flow = state;
  (void)p;
  values[0] = flow->w_max;
  values[1] = flow->avoiding ? flow->k : NAN;
  values[2] = flow->avoiding ? flow->w_est : NAN;
}

static const longfat_controller controller = {
    .size = sizeof(longfat_controller),
    .name = "c-cubic",
    .title = "CUBIC in C",
    .source = "RFC 9438",
    .parameters = parameters,
    .parameter_count = sizeof(parameters) / sizeof(parameters[0]),
    .state_size = sizeof(cubic),
    .observed = observed,
    .observed_count = sizeof(observed) / sizeof(observed[0]),
    .begin = begin,
    .on_feedback = on_feedback,
    .on_congestion = on_congestion,
    .on_adjustment = on_adjustment,
    .window = window,
    .threshold = threshold,
    .observe = observe,
};

static const longfat_controller *const controllers[] = {&controller};

static const longfat_plugin_table plugin = {
    .size = sizeof(longfat_plugin_table),
    .version = LONGFAT_VERSION,
    .controllers = controllers,
    .controller_count = 1,
};

const longfat_plugin_table *longfat_plugin(uint32_t version) {
  return version == LONGFAT_VERSION ? &plugin : NULL;
}
