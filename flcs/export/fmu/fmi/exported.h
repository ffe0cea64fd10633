/* Names that leave the library: with the prefix that a static link asks for. Licence: Apache-2.0. */
#ifndef EXPORTED_H
#define EXPORTED_H

#if defined _WIN32 || defined __CYGWIN__
#define EXPORTED __declspec(dllexport)
#elif defined __GNUC__
#define EXPORTED __attribute__((visibility("default")))
#else
#define EXPORTED
#endif

#define EXPORTED_JOIN(prefix, name) prefix##name
#define EXPORTED_NAME(prefix, name) EXPORTED_JOIN(prefix, name)

#if defined FMI2_FUNCTION_PREFIX || defined FMI3_FUNCTION_PREFIX
#ifdef FMI2_FUNCTION_PREFIX
#define F(type, name) EXPORTED type EXPORTED_NAME(FMI2_FUNCTION_PREFIX, name)
#else
#define F(type, name) EXPORTED type EXPORTED_NAME(FMI3_FUNCTION_PREFIX, name)
#endif
#else
#define F(type, name) EXPORTED type name
#endif

#endif
