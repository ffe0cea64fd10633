#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "${name}.h"

static const double usual_low[${n}] = {${usual_low}};
static const double usual_high[${n}] = {${usual_high}};
static const double lowest[${m}] = {${lowest}};
static const double highest[${m}] = {${highest}};
static const char *const names[${m}] = {${names}};
static const double strange[] = {0.0, -0.0, 1e-300, 1e3, -1e3, 1e9, -1e9, 1e14, -1e14, 1e30, -1e30, 1e300, -1e300};

static uint64_t state_of_chance;

static uint64_t next(void)
{ /* SplitMix64 */
    uint64_t z = (state_of_chance += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double unit(void)
{
    return (double)(next() >> 11) * 0x1p-53;
}

static double usual(int k)
{
    return usual_low[k] + (usual_high[k] - usual_low[k]) * unit();
}

static double hostile(int k, double before)
{
    const unsigned kind = (unsigned)(next() % 16u);
    if (kind < 6u)
        return usual(k);
    if (kind < 9u)
        return before;
    if (kind == 9u)
        return NAN;
    if (kind == 10u)
        return INFINITY;
    if (kind == 11u)
        return -INFINITY;
    return strange[next() % (sizeof strange / sizeof strange[0])];
}

static void set(${name}_inputs *in, const double *v)
{
${setters}
}

static void get(const ${name}_outputs *out, double *v)
{
${getters}
}

static int sampled(${name}_state *state, const double *row, double *result)
{ /* place of the first output that is not as it must be, else -1 */
    ${name}_inputs in;
    ${name}_outputs out;
    int k;
    set(&in, row);
    ${name}_step(state, &in, &out);
    get(&out, result);
    for (k = 0; k < ${m}; k++)
        if (!(result[k] >= (double)(${name}_real)lowest[k] && result[k] <= (double)(${name}_real)highest[k]))
            return k;
    return -1;
}

static int told(long sequence, int sample, int output, double value)
{
    printf("sequence %ld, sample %d: %s is %g\n", sequence, sample, names[output], value);
    return 1;
}

int main(int argc, char **argv)
{
    const long count = argc > 1 ? atol(argv[1]) : 1000;
    const uint64_t seed = argc > 2 ? (uint64_t)atoll(argv[2]) : 0u;
    long sequence, trips = 0, faults = 0;
    for (sequence = 0; sequence < count; sequence++) {
        ${name}_state state;
        double row[${n}], result[${m}];
        int k, sample, wrong;
        state_of_chance = seed * UINT64_C(0x2545f4914f6cdd1d) + (uint64_t)sequence;
        ${name}_reset(&state);
        for (k = 0; k < ${n}; k++)
            row[k] = usual(k);
        for (sample = 0; sample < ${length}; sample++) {
            for (k = 0; k < ${n}; k++)
                row[k] = hostile(k, row[k]);
            wrong = sampled(&state, row, result);
            if (wrong >= 0)
                return told(sequence, sample, wrong, result[wrong]);
            faults += result[${fault}] > 0.5;
            trips += result[${tripped}] > 0.5;
        }
        for (; sample < ${length} + ${recovery}; sample++) {
            for (k = 0; k < ${n}; k++)
                row[k] = usual(k);
            wrong = sampled(&state, row, result);
            if (wrong >= 0)
                return told(sequence, sample, wrong, result[wrong]);
            if (result[${fault}] > 0.5)
                return told(sequence, sample, ${fault}, result[${fault}]);
        }
        if (result[${tripped}] > 0.5)
            return told(sequence, sample, ${tripped}, result[${tripped}]);
    }
    printf("%ld sequences, %ld samples distrusted, %ld tripped\n", count, faults, trips);
    return 0;
}
