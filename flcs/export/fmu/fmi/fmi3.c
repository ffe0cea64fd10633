/* FMI 3.0 for co-simulation, written from the standard's description (fmi-standard.org). Licence: Apache-2.0. */
#include "fmi3.h"

#include "exported.h"
#include "instance.h"

#define ANY (CREATED | INITIALISING | RUNNING | ENDED | BROKEN)
#define SEEN (INITIALISING | RUNNING | ENDED | BROKEN)

static fmi3Status answer(controller *c, const char *wrong)
{
    if (!wrong)
        return fmi3OK;
    c->now.phase = BROKEN;
    if (c->log)
        ((fmi3LogMessageCallback)c->log)(c->environment, fmi3Error, "logStatusError", wrong);
    return fmi3Error;
}

/* Opens a function: the instance `c`, where the call is allowed now. */
#define CALLED(phases, function)                      \
    const char *wrong;                                \
    controller *c = instance;                         \
    if (!c)                                           \
        return fmi3Error;                             \
    wrong = controller_allows(c, (phases), function); \
    if (wrong)                                        \
        return answer(c, wrong)

F(const char *, fmi3GetVersion)(void)
{
    return "3.0";
}

F(fmi3Status, fmi3SetDebugLogging)(fmi3Instance instance, fmi3Boolean on, size_t n, const fmi3String categories[])
{
    return instance ? fmi3OK : fmi3Error; /* errors are always told, and there is nothing else to tell */
}

F(fmi3Instance, fmi3InstantiateCoSimulation)
(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
 fmi3Boolean eventModeUsed, fmi3Boolean earlyReturnAllowed, const fmi3ValueReference intermediate[], size_t n,
 fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback update)
{
    controller *c = eventModeUsed || n > 0 ? NULL : controller_create(name, token, environment);
    if (c)
        c->log = (void (*)(void))log;
    else if (log)
        log(environment, fmi3Error, "logStatusError",
            "expected a name, no event mode, no intermediate variables and the token " MODEL_TOKEN);
    return c;
}

F(void, fmi3FreeInstance)(fmi3Instance instance)
{
    controller_free(instance);
}

F(fmi3Status, fmi3EnterInitializationMode)
(fmi3Instance instance, fmi3Boolean toleranceDefined, fmi3Float64 tolerance, fmi3Float64 start,
 fmi3Boolean stopDefined, fmi3Float64 stop)
{
    CALLED(CREATED, "fmi3EnterInitializationMode");
    wrong = controller_start(c, start);
    if (!wrong)
        c->now.phase = INITIALISING;
    return answer(c, wrong);
}

F(fmi3Status, fmi3ExitInitializationMode)(fmi3Instance instance)
{
    CALLED(INITIALISING, "fmi3ExitInitializationMode");
    c->now.phase = RUNNING;
    return fmi3OK;
}

F(fmi3Status, fmi3Terminate)(fmi3Instance instance)
{
    CALLED(RUNNING, "fmi3Terminate");
    c->now.phase = ENDED;
    return fmi3OK;
}

F(fmi3Status, fmi3Reset)(fmi3Instance instance)
{
    CALLED(ANY, "fmi3Reset");
    controller_reset(c);
    return fmi3OK;
}

F(fmi3Status, fmi3GetFloat64)
(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3Float64 values[], size_t m)
{
    CALLED(SEEN, "fmi3GetFloat64");
    return answer(c, n == m ? controller_get(c, vr, n, values) : "expected a value for each value reference");
}

F(fmi3Status, fmi3SetFloat64)
(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, const fmi3Float64 values[], size_t m)
{
    CALLED(CREATED | INITIALISING | RUNNING, "fmi3SetFloat64");
    return answer(c, n == m ? controller_set(c, vr, n, values) : "expected a value for each value reference");
}

F(fmi3Status, fmi3GetFMUState)(fmi3Instance instance, fmi3FMUState *state)
{
    CALLED(ANY, "fmi3GetFMUState");
    return answer(c, controller_store(c, state));
}

F(fmi3Status, fmi3SetFMUState)(fmi3Instance instance, fmi3FMUState state)
{
    CALLED(ANY, "fmi3SetFMUState");
    return answer(c, controller_restore(c, state));
}

F(fmi3Status, fmi3FreeFMUState)(fmi3Instance instance, fmi3FMUState *state)
{
    CALLED(ANY, "fmi3FreeFMUState");
    return answer(c, controller_release(state));
}

F(fmi3Status, fmi3SerializedFMUStateSize)(fmi3Instance instance, fmi3FMUState state, size_t *size)
{
    CALLED(ANY, "fmi3SerializedFMUStateSize");
    return answer(c, controller_serialised_size(size));
}

F(fmi3Status, fmi3SerializeFMUState)(fmi3Instance instance, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    CALLED(ANY, "fmi3SerializeFMUState");
    return answer(c, controller_serialise(c, state, bytes, size));
}

F(fmi3Status, fmi3DeserializeFMUState)
(fmi3Instance instance, const fmi3Byte bytes[], size_t size, fmi3FMUState *state)
{
    CALLED(ANY, "fmi3DeserializeFMUState");
    return answer(c, controller_deserialise(c, bytes, size, state));
}

F(fmi3Status, fmi3DoStep)
(fmi3Instance instance, fmi3Float64 time, fmi3Float64 step, fmi3Boolean forward, fmi3Boolean *eventNeeded,
 fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *reached)
{
    CALLED(RUNNING, "fmi3DoStep");
    wrong = controller_step(c, time, step);
    if (eventNeeded)
        *eventNeeded = false;
    if (terminate)
        *terminate = false;
    if (early)
        *early = false;
    if (reached)
        *reached = c->now.time;
    return answer(c, wrong);
}
