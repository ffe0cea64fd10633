/* FMI 2.0 for co-simulation, written from the standard's description (fmi-standard.org). Licence: Apache-2.0. */
#include "fmi2.h"

#include "exported.h"
#include "instance.h"

#define ANY (CREATED | INITIALISING | RUNNING | ENDED | BROKEN)
#define SEEN (INITIALISING | RUNNING | ENDED | BROKEN)

static fmi2Status answer(controller *c, const char *wrong)
{
    if (!wrong)
        return fmi2OK;
    c->now.phase = BROKEN;
    if (c->log)
        ((fmi2CallbackLogger)c->log)(c->environment, c->name, fmi2Error, "logStatusError", wrong);
    return fmi2Error;
}

/* Opens a function: the instance `c`, where the call is allowed now. */
#define CALLED(phases, function)                                          \
    const char *wrong;                                                    \
    controller *c = instance;                                             \
    if (!c)                                                               \
        return fmi2Error;                                                 \
    wrong = controller_allows(c, (phases), function);                     \
    if (wrong)                                                            \
        return answer(c, wrong)

#define REFUSED(function)             \
    {                                 \
        CALLED(ANY, function);        \
        return answer(c, function " is not supported, as the model description says"); \
    }

F(const char *, fmi2GetTypesPlatform)(void)
{
    return "default";
}

F(const char *, fmi2GetVersion)(void)
{
    return "2.0";
}

F(fmi2Status, fmi2SetDebugLogging)(fmi2Component instance, fmi2Boolean on, size_t n, const fmi2String categories[])
{
    return instance ? fmi2OK : fmi2Error; /* errors are always told, and there is nothing else to tell */
}

F(fmi2Component, fmi2Instantiate)
(fmi2String name, fmi2Type type, fmi2String token, fmi2String resources, const fmi2CallbackFunctions *functions,
 fmi2Boolean visible, fmi2Boolean logging)
{
    fmi2ComponentEnvironment environment = functions ? functions->componentEnvironment : NULL;
    controller *c = type == fmi2CoSimulation ? controller_create(name, token, environment) : NULL;
    if (c && functions)
        c->log = (void (*)(void))functions->logger;
    if (!c && functions && functions->logger)
        functions->logger(environment, name ? name : "", fmi2Error, "logStatusError",
                          "expected co-simulation, a name and the guid " MODEL_TOKEN);
    return c;
}

F(void, fmi2FreeInstance)(fmi2Component instance)
{
    controller_free(instance);
}

F(fmi2Status, fmi2SetupExperiment)
(fmi2Component instance, fmi2Boolean toleranceDefined, fmi2Real tolerance, fmi2Real start, fmi2Boolean stopDefined,
 fmi2Real stop)
{
    CALLED(CREATED, "fmi2SetupExperiment");
    return answer(c, controller_start(c, start));
}

F(fmi2Status, fmi2EnterInitializationMode)(fmi2Component instance)
{
    CALLED(CREATED, "fmi2EnterInitializationMode");
    c->now.phase = INITIALISING;
    return fmi2OK;
}

F(fmi2Status, fmi2ExitInitializationMode)(fmi2Component instance)
{
    CALLED(INITIALISING, "fmi2ExitInitializationMode");
    c->now.phase = RUNNING;
    return fmi2OK;
}

F(fmi2Status, fmi2Terminate)(fmi2Component instance)
{
    CALLED(RUNNING, "fmi2Terminate");
    c->now.phase = ENDED;
    return fmi2OK;
}

F(fmi2Status, fmi2Reset)(fmi2Component instance)
{
    CALLED(ANY, "fmi2Reset");
    controller_reset(c);
    return fmi2OK;
}

F(fmi2Status, fmi2GetReal)(fmi2Component instance, const fmi2ValueReference vr[], size_t n, fmi2Real values[])
{
    CALLED(SEEN, "fmi2GetReal");
    return answer(c, controller_get(c, vr, n, values));
}

F(fmi2Status, fmi2SetReal)(fmi2Component instance, const fmi2ValueReference vr[], size_t n, const fmi2Real values[])
{
    CALLED(CREATED | INITIALISING | RUNNING, "fmi2SetReal");
    return answer(c, controller_set(c, vr, n, values));
}

#define NO_VARIABLES(type)                                                                                           \
    F(fmi2Status, fmi2Get##type)                                                                                     \
    (fmi2Component instance, const fmi2ValueReference vr[], size_t n, fmi2##type values[])                           \
    {                                                                                                                \
        CALLED(ANY, "fmi2Get" #type);                                                                                \
        return answer(c, n ? "the controller has no variables of type " #type : NULL);                               \
    }                                                                                                                \
    F(fmi2Status, fmi2Set##type)                                                                                     \
    (fmi2Component instance, const fmi2ValueReference vr[], size_t n, const fmi2##type values[])                     \
    {                                                                                                                \
        CALLED(ANY, "fmi2Set" #type);                                                                                \
        return answer(c, n ? "the controller has no variables of type " #type : NULL);                               \
    }

NO_VARIABLES(Integer)
NO_VARIABLES(Boolean)
NO_VARIABLES(String)

F(fmi2Status, fmi2GetFMUstate)(fmi2Component instance, fmi2FMUstate *state)
{
    CALLED(ANY, "fmi2GetFMUstate");
    return answer(c, controller_store(c, state));
}

F(fmi2Status, fmi2SetFMUstate)(fmi2Component instance, fmi2FMUstate state)
{
    CALLED(ANY, "fmi2SetFMUstate");
    return answer(c, controller_restore(c, state));
}

F(fmi2Status, fmi2FreeFMUstate)(fmi2Component instance, fmi2FMUstate *state)
{
    CALLED(ANY, "fmi2FreeFMUstate");
    return answer(c, controller_release(state));
}

F(fmi2Status, fmi2SerializedFMUstateSize)(fmi2Component instance, fmi2FMUstate state, size_t *size)
{
    CALLED(ANY, "fmi2SerializedFMUstateSize");
    return answer(c, controller_serialised_size(size));
}

F(fmi2Status, fmi2SerializeFMUstate)(fmi2Component instance, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    CALLED(ANY, "fmi2SerializeFMUstate");
    return answer(c, controller_serialise(c, state, bytes, size));
}

F(fmi2Status, fmi2DeSerializeFMUstate)
(fmi2Component instance, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    CALLED(ANY, "fmi2DeSerializeFMUstate");
    return answer(c, controller_deserialise(c, bytes, size, state));
}

F(fmi2Status, fmi2GetDirectionalDerivative)
(fmi2Component instance, const fmi2ValueReference unknowns[], size_t n, const fmi2ValueReference knowns[], size_t m,
 const fmi2Real seed[], fmi2Real sensitivity[])
REFUSED("fmi2GetDirectionalDerivative")

F(fmi2Status, fmi2SetRealInputDerivatives)
(fmi2Component instance, const fmi2ValueReference vr[], size_t n, const fmi2Integer order[], const fmi2Real values[])
REFUSED("fmi2SetRealInputDerivatives")

F(fmi2Status, fmi2GetRealOutputDerivatives)
(fmi2Component instance, const fmi2ValueReference vr[], size_t n, const fmi2Integer order[], fmi2Real values[])
REFUSED("fmi2GetRealOutputDerivatives")

F(fmi2Status, fmi2DoStep)(fmi2Component instance, fmi2Real time, fmi2Real step, fmi2Boolean forward)
{
    CALLED(RUNNING, "fmi2DoStep");
    return answer(c, controller_step(c, time, step));
}

F(fmi2Status, fmi2CancelStep)(fmi2Component instance)
REFUSED("fmi2CancelStep")

F(fmi2Status, fmi2GetStatus)(fmi2Component instance, const fmi2StatusKind kind, fmi2Status *value)
{
    if (!instance || !value || kind != fmi2DoStepStatus)
        return instance && value ? fmi2Discard : fmi2Error;
    *value = ((controller *)instance)->now.phase == BROKEN ? fmi2Error : fmi2OK;
    return fmi2OK;
}

F(fmi2Status, fmi2GetRealStatus)(fmi2Component instance, const fmi2StatusKind kind, fmi2Real *value)
{
    if (!instance || !value || kind != fmi2LastSuccessfulTime)
        return instance && value ? fmi2Discard : fmi2Error;
    *value = ((controller *)instance)->now.time;
    return fmi2OK;
}

F(fmi2Status, fmi2GetIntegerStatus)(fmi2Component instance, const fmi2StatusKind kind, fmi2Integer *value)
{
    return instance && value ? fmi2Discard : fmi2Error; /* there is no status of this type */
}

F(fmi2Status, fmi2GetBooleanStatus)(fmi2Component instance, const fmi2StatusKind kind, fmi2Boolean *value)
{
    if (!instance || !value || kind != fmi2Terminated)
        return instance && value ? fmi2Discard : fmi2Error;
    *value = fmi2False; /* a controller never asks for the end */
    return fmi2OK;
}

F(fmi2Status, fmi2GetStringStatus)(fmi2Component instance, const fmi2StatusKind kind, fmi2String *value)
{
    return instance && value ? fmi2Discard : fmi2Error; /* steps are never pending */
}
