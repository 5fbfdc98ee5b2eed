#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "CProcess.h"

#include <pthread.h>
#include <string.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

void hearth_thread_set_name(const char *name) {
#if defined(__linux__)
    prctl(PR_SET_NAME, name, 0, 0, 0);
#else
    pthread_setname_np(name);
#endif
}

void hearth_thread_name(char name[HEARTH_THREAD_NAME_LIMIT]) {
    memset(name, 0, HEARTH_THREAD_NAME_LIMIT);
#if defined(__linux__)
    prctl(PR_GET_NAME, name, 0, 0, 0);
#else
    pthread_getname_np(pthread_self(), name, HEARTH_THREAD_NAME_LIMIT);
#endif
}
