#include <stdio.h>
#include <string.h>
#include <time.h>
#include "${name}.h"

static double rows[1000][${n}];

static int timed(void)
{
    ${name}_state state;
    ${name}_inputs in;
    ${name}_outputs out;
    volatile double kept = 0.0;
    const size_t n = fread(rows, sizeof rows[0], 1000, stdin);
    long k, samples = 1000000;
    clock_t begin;
    ${name}_reset(&state);
    begin = clock();
    for (k = 0; k < samples; k++) {
        const double *row = rows[(size_t)k % (n ? n : 1)];
${read}
        ${name}_step(&state, &in, &out);
        kept = (double)out.fault;
    }
    (void)kept;
    printf("%.17g", 1e9 * (double)(clock() - begin) / (double)CLOCKS_PER_SEC / (double)samples);
    return 0;
}

int main(int argc, char **argv)
{
    ${name}_state state;
    ${name}_inputs in;
    ${name}_outputs out;
    double row[${most}];
    if (argc > 1 && strcmp(argv[1], "time") == 0)
        return timed();
    ${name}_reset(&state);
    while (fread(row, sizeof(double), ${n}, stdin) == ${n}) {
${read}
        ${name}_step(&state, &in, &out);
${write}
        if (fwrite(row, sizeof(double), ${m}, stdout) != ${m})
            return 2;
    }
    return 0;
}
