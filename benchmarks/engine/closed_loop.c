/* The Van der Pol loop of case.py, written by hand: the peer of the generated kernel.
 *
 * Everything that helps is here: 16 rollouts side by side in arrays of constant length that stay in the first-level
 * cache, selects only, gains times step taken out of the loop, divisions taken out of the loop, multiply-adds fused by
 * the compiler. The law, its limits and conditional anti-windup, the left sums, the guard that freezes a rollout and
 * the stop of a block whose rollouts are all dead are those of the kernel.
 */
#include <math.h>
#include <stddef.h>

#ifndef LANES
#define LANES 16
#endif

struct loop {
    double step, mu, reference, position, velocity;  /* s, N s/m, m, m, m/s */
    double low, high;                                /* limits of the command [N] */
    double farthest, fastest;                        /* region beyond which a rollout counts as diverged */
};

/* gains [n][kp, ki, kd] -> results [n][steps, iae, entropy_difference_abs, total_variation] */
void closed_loops(const double *restrict gains, size_t n, long n_steps, const struct loop *restrict given,
                  double *restrict results)
{
    const double h = given->step, half = 0.5 * h, sixth = h / 6.0;
    const double mu = given->mu, r = given->reference, low = given->low, high = given->high;
    const double farthest = given->farthest, fastest = given->fastest;
    for (size_t first = 0; first < n; first += LANES) {
        double kp[LANES], ki_h[LANES], kd[LANES], q[LANES], v[LANES], w[LANES], u_before[LANES], alive[LANES];
        double steps[LANES], iae[LANES], difference[LANES], travel[LANES];
        for (int i = 0; i < LANES; i++) {
            const double *g = gains + 3 * (first + i < n ? first + i : n - 1);
            kp[i] = g[0], ki_h[i] = h * g[1], kd[i] = g[2];
            q[i] = given->position, v[i] = given->velocity, alive[i] = 1.0;
            w[i] = u_before[i] = steps[i] = iae[i] = difference[i] = travel[i] = 0.0;
        }
        for (long step = 0; step < n_steps; step++) {
            const double counts = step > 0 ? 1.0 : 0.0; /* the first command is no travel */
            for (int i = 0; i < LANES; i++) {
                /* law */
                const double e = r - q[i], e_rate = -v[i];
                const double demand = kp[i] * e + w[i] + kd[i] * e_rate;
                double u = demand > low ? demand : low;
                u = u < high ? u : high;
                double growth = ki_h[i] * e;
                const double down = growth < 0.0 ? growth : 0.0;
                growth = demand < high ? growth : down;
                const double up = growth > 0.0 ? growth : 0.0;
                growth = demand > low ? growth : up;
                w[i] += growth;
                /* measures */
                const double running = alive[i], plant = mu * (q[i] * q[i] - 1.0) * v[i] * v[i];
                const double law = kd[i] * e_rate * e_rate;
                const double travelled = travel[i] + counts * fabs(u - u_before[i]);
                const double missed = iae[i] + h * fabs(e), produced = difference[i] + h * fabs(plant - law);
                travel[i] = running > 0.0 ? travelled : travel[i];
                iae[i] = running > 0.0 ? missed : iae[i];
                difference[i] = running > 0.0 ? produced : difference[i];
                u_before[i] = u;
                /* classical Runge-Kutta */
                const double a1 = mu * (1.0 - q[i] * q[i]) * v[i] - q[i] + u;
                const double q2 = q[i] + half * v[i], v2 = v[i] + half * a1;
                const double a2 = mu * (1.0 - q2 * q2) * v2 - q2 + u;
                const double q3 = q[i] + half * v2, v3 = v[i] + half * a2;
                const double a3 = mu * (1.0 - q3 * q3) * v3 - q3 + u;
                const double q4 = q[i] + h * v3, v4 = v[i] + h * a3;
                const double a4 = mu * (1.0 - q4 * q4) * v4 - q4 + u;
                const double q_new = q[i] + sixth * (v[i] + 2.0 * (v2 + v3) + v4);
                const double v_new = v[i] + sixth * (a1 + 2.0 * (a2 + a3) + a4);
                /* guard */
                const double near = fabs(q_new) < farthest ? 1.0 : 0.0, slow = fabs(v_new) < fastest ? 1.0 : 0.0;
                const double inside = running * near * slow;
                q[i] = inside > 0.0 ? q_new : q[i];
                v[i] = inside > 0.0 ? v_new : v[i];
                alive[i] = inside;
                steps[i] += inside;
            }
            if (step % 256 == 255) {
                int any = 0;
                for (int i = 0; i < LANES; i++) any |= alive[i] > 0.0;
                if (!any) break;
            }
        }
        for (int i = 0; i < LANES && first + i < n; i++) {
            double *result = results + 4 * (first + i);
            result[0] = steps[i], result[1] = iae[i], result[2] = difference[i], result[3] = travel[i];
        }
    }
}
