/* One controller being co-simulated: what the functions of both versions of the interface share.
 * Functions that can fail return what is wrong, or a null pointer. Licence: Apache-2.0. */
#ifndef INSTANCE_H
#define INSTANCE_H

#include <stddef.h>

#include "model.h"

enum { CREATED = 1, INITIALISING = 2, RUNNING = 4, ENDED = 8, BROKEN = 16 };

/* All that a stored state holds: plain numbers, no pointers. */
typedef struct {
    char token[64];
    model_state state;
    model_inputs in;
    double time;
    int phase;
} snapshot;

typedef struct {
    snapshot now;
    char message[256];
    char *name;
    void *environment;
    void (*log)(void);
} controller;

controller *controller_create(const char *name, const char *token, void *environment);
void controller_free(controller *c);
void controller_reset(controller *c);
const char *controller_allows(controller *c, int phases, const char *function);
const char *controller_get(controller *c, const unsigned references[], size_t n, double values[]);
const char *controller_set(controller *c, const unsigned references[], size_t n, const double values[]);
const char *controller_start(controller *c, double time);
const char *controller_step(controller *c, double time, double step);
const char *controller_store(controller *c, void **stored);
const char *controller_restore(controller *c, const void *stored);
const char *controller_release(void **stored);
const char *controller_serialised_size(size_t *size);
const char *controller_serialise(controller *c, const void *stored, void *bytes, size_t size);
const char *controller_deserialise(controller *c, const void *bytes, size_t size, void **stored);

#endif
