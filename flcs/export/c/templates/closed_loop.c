#include <stdio.h>
#include <string.h>
#include "${name}.h"

void plant_advance(const double *in, double *out);
void plant_outputs(const double *in, double *out);
void plant_allocate(const double *in, double *out);

static int taken(double *numbers, size_t count)
{
    return count == 0 || fread(numbers, sizeof(double), count, stdin) == count;
}

int main(void)
{
    /* t, x, u, w, p, h: what the plant's functions take */
    double block[1 + ${X} + ${U} + ${W} + ${P} + 1], *x = block + 1, *u = x + ${X}, *w = u + ${U}, *p = w + ${W};
    static const double start[] = {${start}, 0.0};
    double row[${n}], noise[${v} + 1], y[${y}], c[${c}], given[1 + ${X} + ${c} + ${P}], held[${sub} * (${W} + 1)], next[${X}];
    ${name}_state state;
    ${name}_inputs in;
    ${name}_outputs out;
    long k = 0;
    int j;
    memset(block, 0, sizeof block);
    memcpy(u, start, ${U} * sizeof(double));
    if (!taken(x, ${X}) || !taken(p, ${P}))
        return 2;
    block[1 + ${X} + ${U} + ${W} + ${P}] = ${h};
    ${name}_reset(&state);
    while (taken(row, ${n}) && taken(noise, ${v}) && taken(held, ${sub} * ${W})) {
        block[0] = (double)k * ${h};
        memcpy(w, held, ${W} * sizeof(double));
        plant_outputs(block, y);
${setters}
        ${name}_step(&state, &in, &out);
${getters}
        given[0] = block[0];
        memcpy(given + 1, x, ${X} * sizeof(double));
        memcpy(given + 1 + ${X}, c, ${c} * sizeof(double));
        memcpy(given + 1 + ${X} + ${c}, p, ${P} * sizeof(double));
        plant_allocate(given, u);
        if (fwrite(y, sizeof(double), ${y}, stdout) != ${y})
            return 3;
        for (j = 0; j < ${sub}; j++, k++) {
            block[0] = (double)k * ${h};
            memcpy(w, held + j * ${W}, ${W} * sizeof(double));
            plant_advance(block, next);
            memcpy(x, next, sizeof next);
        }
    }
    return 0;
}
