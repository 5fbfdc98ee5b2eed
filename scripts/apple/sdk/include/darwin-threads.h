// Threads and their locks: pthread.h, semaphore.h, sys/qos.h, mach/mach_time.h.
#pragma once

typedef struct _opaque_pthread_t *pthread_t;
typedef struct { long __sig; char __opaque[56]; } pthread_attr_t;
typedef struct { long __sig; char __opaque[56]; } pthread_mutex_t;
typedef struct { long __sig; char __opaque[8]; } pthread_mutexattr_t;
typedef struct { long __sig; char __opaque[40]; } pthread_cond_t;
typedef struct { long __sig; char __opaque[8]; } pthread_condattr_t;
typedef struct { long __sig; char __opaque[192]; } pthread_rwlock_t;
typedef struct { long __sig; char __opaque[8]; } pthread_once_t;
typedef unsigned long pthread_key_t;
#define PTHREAD_CREATE_DETACHED 2
#define PTHREAD_MUTEX_INITIALIZER { 0x32AAABA7, { 0 } }
#define PTHREAD_COND_INITIALIZER { 0x3CB0B1BB, { 0 } }
#define PTHREAD_ONCE_INIT { 0x30B1BCBA, { 0 } }
int pthread_create(pthread_t _Nullable *_Nonnull, const pthread_attr_t *_Nullable,
    void *_Nullable (*_Nonnull)(void *_Nonnull), void *_Nullable);
int pthread_join(pthread_t _Nonnull, void *_Nullable *_Nullable);
int pthread_detach(pthread_t _Nonnull);
pthread_t _Nonnull pthread_self(void);
int pthread_equal(pthread_t _Nullable, pthread_t _Nullable);
int pthread_attr_init(pthread_attr_t *_Nonnull);
int pthread_attr_destroy(pthread_attr_t *_Nonnull);
int pthread_attr_setdetachstate(pthread_attr_t *_Nonnull, int);
int pthread_attr_setstacksize(pthread_attr_t *_Nonnull, size_t);
int pthread_mutex_init(pthread_mutex_t *_Nonnull, const pthread_mutexattr_t *_Nullable);
int pthread_mutex_destroy(pthread_mutex_t *_Nonnull);
int pthread_mutex_lock(pthread_mutex_t *_Nonnull);
int pthread_mutex_trylock(pthread_mutex_t *_Nonnull);
int pthread_mutex_unlock(pthread_mutex_t *_Nonnull);
int pthread_cond_init(pthread_cond_t *_Nonnull, const pthread_condattr_t *_Nullable);
int pthread_cond_destroy(pthread_cond_t *_Nonnull);
int pthread_cond_wait(pthread_cond_t *_Nonnull, pthread_mutex_t *_Nonnull);
int pthread_cond_timedwait(pthread_cond_t *_Nonnull, pthread_mutex_t *_Nonnull, const struct timespec *_Nullable);
int pthread_cond_signal(pthread_cond_t *_Nonnull);
int pthread_cond_broadcast(pthread_cond_t *_Nonnull);
int pthread_once(pthread_once_t *_Nonnull, void (*_Nonnull)(void));
int pthread_setname_np(const char *_Nonnull);
int pthread_getname_np(pthread_t _Nonnull, char *_Nonnull, size_t);
int pthread_threadid_np(pthread_t _Nullable, uint64_t *_Nullable);
int sched_yield(void);
typedef int sem_t;
int sem_init(sem_t *_Nonnull, int, unsigned int) __attribute__((deprecated));
int sem_wait(sem_t *_Nonnull);
int sem_post(sem_t *_Nonnull);

typedef enum : unsigned int {
    QOS_CLASS_USER_INTERACTIVE = 0x21, QOS_CLASS_USER_INITIATED = 0x19, QOS_CLASS_DEFAULT = 0x15, QOS_CLASS_UTILITY = 0x11,
    QOS_CLASS_BACKGROUND = 0x09, QOS_CLASS_UNSPECIFIED = 0x00,
} qos_class_t;
int pthread_set_qos_class_self_np(qos_class_t, int);
uint64_t mach_absolute_time(void);
uint64_t mach_continuous_time(void);
