// Memory, texts and numbers of the C library: ISO/IEC 9899:2018, clauses 7.12, 7.22 and 7.24.
#pragma once
#include <stddef.h>

void *_Nullable malloc(size_t);
void *_Nullable calloc(size_t, size_t);
void *_Nullable realloc(void *_Nullable, size_t);
void free(void *_Nullable);
void *_Nonnull memcpy(void *_Nonnull, const void *_Nonnull, size_t);
void *_Nonnull memmove(void *_Nonnull, const void *_Nonnull, size_t);
void *_Nonnull memset(void *_Nonnull, int, size_t);
int memcmp(const void *_Nonnull, const void *_Nonnull, size_t);
int memset_s(void *_Nonnull, size_t, int, size_t);
int timingsafe_bcmp(const void *_Nonnull, const void *_Nonnull, size_t);
void *_Nullable memchr(const void *_Nonnull, int, size_t);
size_t strlen(const char *_Nonnull);
size_t strnlen(const char *_Nonnull, size_t);
int strcmp(const char *_Nonnull, const char *_Nonnull);
int strncmp(const char *_Nonnull, const char *_Nonnull, size_t);
char *_Nullable strchr(const char *_Nonnull, int);
char *_Nullable strrchr(const char *_Nonnull, int);
char *_Nullable strstr(const char *_Nonnull, const char *_Nonnull);
char *_Nullable strdup(const char *_Nonnull);
double strtod(const char *_Nonnull, char *_Nullable *_Nullable);
float strtof(const char *_Nonnull, char *_Nullable *_Nullable);
long strtol(const char *_Nonnull, char *_Nullable *_Nullable, int);
unsigned long strtoul(const char *_Nonnull, char *_Nullable *_Nullable, int);
long long strtoll(const char *_Nonnull, char *_Nullable *_Nullable, int);
unsigned long long strtoull(const char *_Nonnull, char *_Nullable *_Nullable, int);
int abs(int);
long labs(long);

#define HEARTH_UNARY(name) double name(double); float name##f(float);
#define HEARTH_BINARY(name) double name(double, double); float name##f(float, float);
HEARTH_UNARY(exp) HEARTH_UNARY(exp2) HEARTH_UNARY(expm1) HEARTH_UNARY(log) HEARTH_UNARY(log2) HEARTH_UNARY(log10)
HEARTH_UNARY(log1p) HEARTH_UNARY(sqrt) HEARTH_UNARY(cbrt) HEARTH_UNARY(floor) HEARTH_UNARY(ceil) HEARTH_UNARY(round)
HEARTH_UNARY(trunc) HEARTH_UNARY(rint) HEARTH_UNARY(nearbyint) HEARTH_UNARY(sin) HEARTH_UNARY(cos) HEARTH_UNARY(tan)
HEARTH_UNARY(asin) HEARTH_UNARY(acos) HEARTH_UNARY(atan) HEARTH_UNARY(sinh) HEARTH_UNARY(cosh) HEARTH_UNARY(tanh)
HEARTH_UNARY(fabs) HEARTH_UNARY(tgamma) HEARTH_UNARY(lgamma) HEARTH_UNARY(erf)
HEARTH_BINARY(pow) HEARTH_BINARY(fmod) HEARTH_BINARY(atan2) HEARTH_BINARY(hypot) HEARTH_BINARY(fmax) HEARTH_BINARY(fmin)
HEARTH_BINARY(copysign) HEARTH_BINARY(remainder)
#undef HEARTH_UNARY
#undef HEARTH_BINARY
