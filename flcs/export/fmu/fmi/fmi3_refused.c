/* Functions of FMI 3.0 that must be there but that a controller without clocks, arrays, events, other types than
 * Float64 and derivatives has no use for. They say so. Licence: Apache-2.0. */
#include "fmi3.h"

#include "exported.h"
#include "instance.h"

static fmi3Status refused(fmi3Instance instance, const char *text)
{
    controller *c = instance;
    if (!c)
        return fmi3Error;
    c->now.phase = BROKEN;
    if (c->log)
        ((fmi3LogMessageCallback)c->log)(c->environment, fmi3Error, "logStatusError", text);
    return fmi3Error;
}

#define REFUSED(name, parameters)                                                          \
    F(fmi3Status, name) parameters                                                         \
    {                                                                                      \
        return refused(instance, #name " is not supported, as the model description says"); \
    }

/* None of no variables is right, one of none is not. */
#define NO_VARIABLES(name, parameters)                                                                     \
    F(fmi3Status, name) parameters                                                                         \
    {                                                                                                      \
        return n || !instance ? refused(instance, #name ": the controller has no variables of this type") : fmi3OK; \
    }

typedef const fmi3ValueReference *references;

NO_VARIABLES(fmi3GetFloat32, (fmi3Instance instance, references vr, size_t n, fmi3Float32 values[], size_t m))
NO_VARIABLES(fmi3GetInt8, (fmi3Instance instance, references vr, size_t n, fmi3Int8 values[], size_t m))
NO_VARIABLES(fmi3GetUInt8, (fmi3Instance instance, references vr, size_t n, fmi3UInt8 values[], size_t m))
NO_VARIABLES(fmi3GetInt16, (fmi3Instance instance, references vr, size_t n, fmi3Int16 values[], size_t m))
NO_VARIABLES(fmi3GetUInt16, (fmi3Instance instance, references vr, size_t n, fmi3UInt16 values[], size_t m))
NO_VARIABLES(fmi3GetInt32, (fmi3Instance instance, references vr, size_t n, fmi3Int32 values[], size_t m))
NO_VARIABLES(fmi3GetUInt32, (fmi3Instance instance, references vr, size_t n, fmi3UInt32 values[], size_t m))
NO_VARIABLES(fmi3GetInt64, (fmi3Instance instance, references vr, size_t n, fmi3Int64 values[], size_t m))
NO_VARIABLES(fmi3GetUInt64, (fmi3Instance instance, references vr, size_t n, fmi3UInt64 values[], size_t m))
NO_VARIABLES(fmi3GetBoolean, (fmi3Instance instance, references vr, size_t n, fmi3Boolean values[], size_t m))
NO_VARIABLES(fmi3GetString, (fmi3Instance instance, references vr, size_t n, fmi3String values[], size_t m))
NO_VARIABLES(fmi3GetBinary,
             (fmi3Instance instance, references vr, size_t n, size_t sizes[], fmi3Binary values[], size_t m))
NO_VARIABLES(fmi3GetClock, (fmi3Instance instance, references vr, size_t n, fmi3Clock values[]))
NO_VARIABLES(fmi3SetFloat32, (fmi3Instance instance, references vr, size_t n, const fmi3Float32 values[], size_t m))
NO_VARIABLES(fmi3SetInt8, (fmi3Instance instance, references vr, size_t n, const fmi3Int8 values[], size_t m))
NO_VARIABLES(fmi3SetUInt8, (fmi3Instance instance, references vr, size_t n, const fmi3UInt8 values[], size_t m))
NO_VARIABLES(fmi3SetInt16, (fmi3Instance instance, references vr, size_t n, const fmi3Int16 values[], size_t m))
NO_VARIABLES(fmi3SetUInt16, (fmi3Instance instance, references vr, size_t n, const fmi3UInt16 values[], size_t m))
NO_VARIABLES(fmi3SetInt32, (fmi3Instance instance, references vr, size_t n, const fmi3Int32 values[], size_t m))
NO_VARIABLES(fmi3SetUInt32, (fmi3Instance instance, references vr, size_t n, const fmi3UInt32 values[], size_t m))
NO_VARIABLES(fmi3SetInt64, (fmi3Instance instance, references vr, size_t n, const fmi3Int64 values[], size_t m))
NO_VARIABLES(fmi3SetUInt64, (fmi3Instance instance, references vr, size_t n, const fmi3UInt64 values[], size_t m))
NO_VARIABLES(fmi3SetBoolean, (fmi3Instance instance, references vr, size_t n, const fmi3Boolean values[], size_t m))
NO_VARIABLES(fmi3SetString, (fmi3Instance instance, references vr, size_t n, const fmi3String values[], size_t m))
NO_VARIABLES(fmi3SetBinary, (fmi3Instance instance, references vr, size_t n, const size_t sizes[],
                             const fmi3Binary values[], size_t m))
NO_VARIABLES(fmi3SetClock, (fmi3Instance instance, references vr, size_t n, const fmi3Clock values[]))

NO_VARIABLES(fmi3GetIntervalDecimal, (fmi3Instance instance, references vr, size_t n, fmi3Float64 intervals[],
                                      fmi3IntervalQualifier qualifiers[]))
NO_VARIABLES(fmi3GetIntervalFraction, (fmi3Instance instance, references vr, size_t n, fmi3UInt64 counters[],
                                       fmi3UInt64 resolutions[], fmi3IntervalQualifier qualifiers[]))
NO_VARIABLES(fmi3GetShiftDecimal, (fmi3Instance instance, references vr, size_t n, fmi3Float64 shifts[]))
NO_VARIABLES(fmi3GetShiftFraction,
             (fmi3Instance instance, references vr, size_t n, fmi3UInt64 counters[], fmi3UInt64 resolutions[]))
NO_VARIABLES(fmi3SetIntervalDecimal, (fmi3Instance instance, references vr, size_t n, const fmi3Float64 intervals[]))
NO_VARIABLES(fmi3SetIntervalFraction, (fmi3Instance instance, references vr, size_t n, const fmi3UInt64 counters[],
                                       const fmi3UInt64 resolutions[]))
NO_VARIABLES(fmi3SetShiftDecimal, (fmi3Instance instance, references vr, size_t n, const fmi3Float64 shifts[]))
NO_VARIABLES(fmi3SetShiftFraction, (fmi3Instance instance, references vr, size_t n, const fmi3UInt64 counters[],
                                    const fmi3UInt64 resolutions[]))

REFUSED(fmi3GetNumberOfVariableDependencies, (fmi3Instance instance, fmi3ValueReference vr, size_t *n))
REFUSED(fmi3GetVariableDependencies,
        (fmi3Instance instance, fmi3ValueReference dependent, size_t dependentElements[],
         fmi3ValueReference independents[], size_t independentElements[], fmi3DependencyKind kinds[], size_t n))
REFUSED(fmi3GetDirectionalDerivative,
        (fmi3Instance instance, references unknowns, size_t n, references knowns, size_t m, const fmi3Float64 seed[],
         size_t nSeed, fmi3Float64 sensitivity[], size_t nSensitivity))
REFUSED(fmi3GetAdjointDerivative,
        (fmi3Instance instance, references unknowns, size_t n, references knowns, size_t m, const fmi3Float64 seed[],
         size_t nSeed, fmi3Float64 sensitivity[], size_t nSensitivity))
REFUSED(fmi3GetOutputDerivatives, (fmi3Instance instance, references vr, size_t n, const fmi3Int32 orders[],
                                   fmi3Float64 values[], size_t m))
REFUSED(fmi3EnterConfigurationMode, (fmi3Instance instance))
REFUSED(fmi3ExitConfigurationMode, (fmi3Instance instance))
REFUSED(fmi3EnterEventMode, (fmi3Instance instance))
REFUSED(fmi3EnterStepMode, (fmi3Instance instance))
REFUSED(fmi3EvaluateDiscreteStates, (fmi3Instance instance))
REFUSED(fmi3UpdateDiscreteStates,
        (fmi3Instance instance, fmi3Boolean *needed, fmi3Boolean *terminate, fmi3Boolean *nominalsChanged,
         fmi3Boolean *valuesChanged, fmi3Boolean *nextEventDefined, fmi3Float64 *nextEvent))

/* Model exchange and scheduled execution: such an instance is never given out. */
REFUSED(fmi3EnterContinuousTimeMode, (fmi3Instance instance))
REFUSED(fmi3CompletedIntegratorStep,
        (fmi3Instance instance, fmi3Boolean forward, fmi3Boolean *enterEventMode, fmi3Boolean *terminate))
REFUSED(fmi3SetTime, (fmi3Instance instance, fmi3Float64 time))
REFUSED(fmi3SetContinuousStates, (fmi3Instance instance, const fmi3Float64 states[], size_t n))
REFUSED(fmi3GetContinuousStateDerivatives, (fmi3Instance instance, fmi3Float64 derivatives[], size_t n))
REFUSED(fmi3GetEventIndicators, (fmi3Instance instance, fmi3Float64 indicators[], size_t n))
REFUSED(fmi3GetContinuousStates, (fmi3Instance instance, fmi3Float64 states[], size_t n))
REFUSED(fmi3GetNominalsOfContinuousStates, (fmi3Instance instance, fmi3Float64 nominals[], size_t n))
REFUSED(fmi3GetNumberOfEventIndicators, (fmi3Instance instance, size_t *n))
REFUSED(fmi3GetNumberOfContinuousStates, (fmi3Instance instance, size_t *n))
REFUSED(fmi3ActivateModelPartition, (fmi3Instance instance, fmi3ValueReference clock, fmi3Float64 time))

F(fmi3Instance, fmi3InstantiateModelExchange)
(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
 fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)
{
    if (log)
        log(environment, fmi3Error, "logStatusError", "the controller is for co-simulation only");
    return NULL;
}

F(fmi3Instance, fmi3InstantiateScheduledExecution)
(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
 fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, fmi3ClockUpdateCallback clock,
 fmi3LockPreemptionCallback lock, fmi3UnlockPreemptionCallback unlock)
{
    if (log)
        log(environment, fmi3Error, "logStatusError", "the controller is for co-simulation only");
    return NULL;
}
