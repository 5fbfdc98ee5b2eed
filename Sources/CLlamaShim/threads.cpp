#include "CLlamaShim.h"

#ifdef HEARTH_LLAMA

#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <llama.h>

#include <new>

struct hearth_threads {
    ggml_threadpool_t pool;
    decltype(ggml_threadpool_free) *free;
};

hearth_threads *hearth_threads_new(int32_t count) {
    // Asked through the registry, because a build with loadable back ends does not link the CPU's symbols.
    ggml_backend_dev_t device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    if (!device || count < 2) return nullptr;
    ggml_backend_reg_t registry = ggml_backend_dev_backend_reg(device);
    auto *create = reinterpret_cast<decltype(ggml_threadpool_new) *>(
        ggml_backend_reg_get_proc_address(registry, "ggml_threadpool_new"));
    auto *free = reinterpret_cast<decltype(ggml_threadpool_free) *>(
        ggml_backend_reg_get_proc_address(registry, "ggml_threadpool_free"));
    if (!create || !free) return nullptr;

    ggml_threadpool_params params = ggml_threadpool_params_default(count);
    ggml_threadpool_t pool = create(&params);
    if (!pool) return nullptr;
    auto *threads = new (std::nothrow) hearth_threads{pool, free};
    if (!threads) free(pool);
    return threads;
}

void hearth_threads_use(llama_context *context, hearth_threads *threads) {
    if (threads) {
        llama_attach_threadpool(context, threads->pool, nullptr);
    } else {
        llama_detach_threadpool(context);
    }
}

void hearth_threads_free(hearth_threads *threads) {
    if (!threads) return;
    threads->free(threads->pool);
    delete threads;
}

#endif
