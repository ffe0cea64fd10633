/* One controller being co-simulated. A sample is executed at the beginning of each step, with the inputs set before it;
 * its outputs are there after the step. Value references are places in the controller's memory, inputs first, and the
 * time behind them. Licence: Apache-2.0. */
#include "instance.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE (1e-3 * MODEL_SAMPLE_TIME) /* of times that a master has added up */

controller *controller_create(const char *name, const char *token, void *environment)
{
    controller *c;
    const size_t length = name ? strlen(name) : 0;
    if (length == 0 || !token || strcmp(token, MODEL_TOKEN) != 0)
        return NULL;
    c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->name = malloc(length + 1);
    if (!c->name) {
        free(c);
        return NULL;
    }
    memcpy(c->name, name, length + 1);
    c->environment = environment;
    controller_reset(c);
    return c;
}

void controller_free(controller *c)
{
    if (!c)
        return;
    free(c->name);
    free(c);
}

void controller_reset(controller *c)
{
    memset(&c->now, 0, sizeof c->now);
    strcpy(c->now.token, MODEL_TOKEN);
    model_reset(&c->now.state);
    model_start(&c->now.in);
    c->now.phase = CREATED;
}

const char *controller_allows(controller *c, int phases, const char *function)
{
    const char *name = "after an error";
    if (c->now.phase & phases)
        return NULL;
    if (c->now.phase == CREATED)
        name = "before initialization mode";
    else if (c->now.phase == INITIALISING)
        name = "in initialization mode";
    else if (c->now.phase == RUNNING)
        name = "after initialization mode";
    else if (c->now.phase == ENDED)
        name = "after the simulation has been terminated";
    snprintf(c->message, sizeof c->message, "%s must not be called %s", function, name);
    return c->message;
}

const char *controller_get(controller *c, const unsigned references[], size_t n, double values[])
{
    size_t k;
    if (n > 0 && (!references || !values))
        return "expected references and room for values, got a null pointer";
    for (k = 0; k < n; k++) {
        const unsigned place = references[k];
        if (place < MODEL_INPUTS)
            values[k] = *model_input(&c->now.in, place);
        else if (place < MODEL_NUMBERS)
            values[k] = c->now.state.m[place];
        else if (place == MODEL_NUMBERS)
            values[k] = c->now.time;
        else {
            snprintf(c->message, sizeof c->message, "no variable has the value reference %u", place);
            return c->message;
        }
    }
    return NULL;
}

const char *controller_set(controller *c, const unsigned references[], size_t n, const double values[])
{
    size_t k;
    if (n > 0 && (!references || !values))
        return "expected references and values, got a null pointer";
    for (k = 0; k < n; k++) {
        if (references[k] >= MODEL_INPUTS) {
            snprintf(c->message, sizeof c->message, "the value reference %u is no input", references[k]);
            return c->message;
        }
    }
    for (k = 0; k < n; k++)
        *model_input(&c->now.in, references[k]) = values[k];
    return NULL;
}

const char *controller_start(controller *c, double time)
{
    if (!(time - time == 0.0))
        return "the start time must be finite";
    c->now.time = time;
    return NULL;
}

const char *controller_step(controller *c, double time, double step)
{
    const double samples = step / MODEL_SAMPLE_TIME, rest = time - c->now.time;
    model_outputs out;
    int32_t k, n;
    double over;
    if (!(rest <= TOLERANCE && rest >= -TOLERANCE)) {
        snprintf(c->message, sizeof c->message, "the step begins at %.17g s, the last one ended at %.17g s", time, c->now.time);
        return c->message;
    }
    n = samples >= 0.5 && samples < 1e9 ? (int32_t)(samples + 0.5) : 0;
    over = step - (double)n * MODEL_SAMPLE_TIME;
    if (n == 0 || !(over <= TOLERANCE && over >= -TOLERANCE)) {
        snprintf(c->message, sizeof c->message, "a step must be a multiple of the sample time %.17g s, got %.17g s",
                 MODEL_SAMPLE_TIME, step);
        return c->message;
    }
    for (k = 0; k < n; k++)
        model_step(&c->now.state, &c->now.in, &out);
    c->now.time = time + step;
    return NULL;
}

const char *controller_store(controller *c, void **stored)
{
    if (!stored)
        return "expected room for a state, got a null pointer";
    if (!*stored)
        *stored = malloc(sizeof(snapshot));
    if (!*stored)
        return "no memory for a state";
    memcpy(*stored, &c->now, sizeof(snapshot));
    return NULL;
}

static const char *checked(controller *c, const void *stored, size_t size)
{
    if (!stored || size != sizeof(snapshot)) {
        snprintf(c->message, sizeof c->message, "expected a state of %lu bytes, got %lu",
                 (unsigned long)sizeof(snapshot), (unsigned long)(stored ? size : 0));
        return c->message;
    }
    if (memcmp(stored, c->now.token, sizeof c->now.token) != 0) /* it begins with its token */
        return "the state is that of another controller";
    return NULL;
}

const char *controller_restore(controller *c, const void *stored)
{
    const char *wrong = checked(c, stored, sizeof(snapshot));
    if (!wrong)
        memcpy(&c->now, stored, sizeof(snapshot));
    return wrong;
}

const char *controller_release(void **stored)
{
    if (stored) {
        free(*stored);
        *stored = NULL;
    }
    return NULL;
}

const char *controller_serialised_size(size_t *size)
{
    if (!size)
        return "expected room for a size, got a null pointer";
    *size = sizeof(snapshot);
    return NULL;
}

const char *controller_serialise(controller *c, const void *stored, void *bytes, size_t size)
{
    const char *wrong = checked(c, stored, bytes ? size : 0);
    if (!wrong)
        memcpy(bytes, stored, sizeof(snapshot));
    return wrong;
}

const char *controller_deserialise(controller *c, const void *bytes, size_t size, void **stored)
{
    const char *wrong = stored ? checked(c, bytes, size) : "expected room for a state, got a null pointer";
    if (wrong)
        return wrong;
    if (!*stored)
        *stored = malloc(sizeof(snapshot));
    if (!*stored)
        return "no memory for a state";
    memcpy(*stored, bytes, sizeof(snapshot));
    return NULL;
}
