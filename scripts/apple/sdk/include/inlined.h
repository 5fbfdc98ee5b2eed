// The C functions that the toolchain's modules, compiled for Linux, call in code that the compiler inlines. If one is missing,
// the compiler ends with "broken by a context change".
#pragma once
#include "memory.h"
