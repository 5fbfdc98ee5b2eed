// The part of Darwin's C library that Hearth uses, for arm64. Names, types and values are those that Apple's manual pages
// and the sources of XNU and Libc document:
//   developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS (sections 2 and 3)
//   github.com/apple-oss-distributions/xnu/tree/main/bsd/sys
//   github.com/apple-oss-distributions/Libc/tree/main/include
#pragma once
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory.h"
#include "darwin-files.h"
#include "darwin-processes.h"
#include "darwin-sockets.h"
#include "darwin-threads.h"
