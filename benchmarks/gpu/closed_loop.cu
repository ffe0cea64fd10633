/* The Van der Pol loop of case.py, written by hand in CUDA C: one thread a rollout, everything in registers.
 *
 * As closed_loop.c, without its lanes: gains times step and all divisions are taken out of the loop, multiply-adds are
 * fused by the compiler, a thread whose rollout is dead stops.
 */
#include <cuda_runtime.h>

struct loop {
    double step, mu, reference, position, velocity; /* s, N s/m, m, m, m/s */
    double low, high;                               /* limits of the command [N] */
    double farthest, fastest;                       /* region beyond which a rollout counts as diverged */
};

/* gains [n][kp, ki, kd] -> results [n][steps, iae, entropy_difference_abs, total_variation] */
__global__ void rollouts(const double *__restrict__ gains, size_t n, long n_steps, struct loop given,
                         double *__restrict__ results)
{
    const size_t number = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (number >= n) return;
    const double h = given.step, half = 0.5 * h, sixth = h / 6.0, mu = given.mu, r = given.reference;
    const double kp = gains[3 * number], ki_h = h * gains[3 * number + 1], kd = gains[3 * number + 2];
    double q = given.position, v = given.velocity, w = 0.0, u_before = 0.0;
    double iae = 0.0, difference = 0.0, travel = 0.0;
    long step = 0;
    for (; step < n_steps; step++) {
        /* law */
        const double e = r - q, e_rate = -v;
        const double demand = kp * e + w + kd * e_rate;
        const double u = fmin(fmax(demand, given.low), given.high);
        double growth = ki_h * e;
        growth = demand < given.high ? growth : fmin(growth, 0.0);
        growth = demand > given.low ? growth : fmax(growth, 0.0);
        w += growth;
        /* measures */
        const double plant = mu * (q * q - 1.0) * v * v, law = kd * e_rate * e_rate;
        travel += step > 0 ? fabs(u - u_before) : 0.0;
        iae += h * fabs(e);
        difference += h * fabs(plant - law);
        u_before = u;
        /* classical Runge-Kutta */
        const double a1 = mu * (1.0 - q * q) * v - q + u;
        const double q2 = q + half * v, v2 = v + half * a1;
        const double a2 = mu * (1.0 - q2 * q2) * v2 - q2 + u;
        const double q3 = q + half * v2, v3 = v + half * a2;
        const double a3 = mu * (1.0 - q3 * q3) * v3 - q3 + u;
        const double q4 = q + h * v3, v4 = v + h * a3;
        const double a4 = mu * (1.0 - q4 * q4) * v4 - q4 + u;
        const double q_new = q + sixth * (v + 2.0 * (v2 + v3) + v4);
        const double v_new = v + sixth * (a1 + 2.0 * (a2 + a3) + a4);
        if (!(fabs(q_new) < given.farthest && fabs(v_new) < given.fastest)) break;
        q = q_new, v = v_new;
    }
    double *result = results + 4 * number;
    result[0] = step, result[1] = iae, result[2] = difference, result[3] = travel;
}

/* Times [s] of `rounds` launches without copies; the last one's results [n][4] are given back. 0, or CUDA's error. */
extern "C" int closed_loops(const double *gains, size_t n, long n_steps, const struct loop *given, double *results,
                            int rounds, double *seconds)
{
    double *there = 0, *found = 0;
    cudaEvent_t begin, end;
    cudaMalloc((void **)&there, 24 * n), cudaMalloc((void **)&found, 32 * n);
    cudaEventCreate(&begin), cudaEventCreate(&end);
    cudaMemcpy(there, gains, 24 * n, cudaMemcpyHostToDevice);
    for (int k = 0; k < rounds; k++) {
        float milliseconds = 0.0f;
        cudaEventRecord(begin);
        rollouts<<<(unsigned)((n + 127) / 128), 128>>>(there, n, n_steps, *given, found);
        cudaEventRecord(end), cudaEventSynchronize(end);
        cudaEventElapsedTime(&milliseconds, begin, end);
        seconds[k] = 1e-3 * milliseconds;
    }
    cudaMemcpy(results, found, 32 * n, cudaMemcpyDeviceToHost);
    cudaFree(there), cudaFree(found);
    return (int)cudaGetLastError();
}
