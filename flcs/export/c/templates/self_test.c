/* Runs ${rows} samples of the situation "${situation}" and compares; exit code 0 where all agree. */
#include <stdio.h>
#include "${name}.h"

static const double given[${rows}][${n}] = {
${given}
};
static const double expected[${rows}][${m}] = {
${expected}
};

static int differs(double came, double wanted, double tolerance, int sample, const char *signal)
{
    const double difference = came > wanted ? came - wanted : wanted - came;
    if (difference <= tolerance)
        return 0;
    printf("sample %d: %s is %.17g, expected %.17g\n", sample, signal, came, wanted);
    return 1;
}

int main(void)
{
    ${name}_state state;
    ${name}_inputs in;
    ${name}_outputs out;
    int k, failures = 0;
    ${name}_reset(&state);
    for (k = 0; k < ${rows}; k++) {
${read}
        ${name}_step(&state, &in, &out);
${check}
    }
    printf(failures ? "FAILED: %d differences\n" : "ok\n", failures);
    return failures ? 1 : 0;
}
