#include "CLlamaShim.h"

#ifdef HEARTH_LLAMA

#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <llama.h>

#include <new>

struct hearth_threads {
    ggml_threadpool_t pool;
    decltype(ggml_threadpool_free) *free;
    /// Computes nothing. Giving a back end other threads puts its earlier ones to sleep; the registry has no other
    /// function for that.
    ggml_backend_t idler;
    decltype(ggml_backend_cpu_set_threadpool) *assign;
};

hearth_threads *hearth_threads_new(int32_t count) {
    // Found through the registry, because a build with loadable back ends does not link the CPU's symbols.
    ggml_backend_dev_t device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    if (!device || count < 2) return nullptr;
    ggml_backend_reg_t registry = ggml_backend_dev_backend_reg(device);
    auto *create = reinterpret_cast<decltype(ggml_threadpool_new) *>(
        ggml_backend_reg_get_proc_address(registry, "ggml_threadpool_new"));
    auto *free = reinterpret_cast<decltype(ggml_threadpool_free) *>(
        ggml_backend_reg_get_proc_address(registry, "ggml_threadpool_free"));
    auto *assign = reinterpret_cast<decltype(ggml_backend_cpu_set_threadpool) *>(
        ggml_backend_reg_get_proc_address(registry, "ggml_backend_cpu_set_threadpool"));
    if (!create || !free || !assign) return nullptr;

    auto *threads = new (std::nothrow) hearth_threads{nullptr, free, nullptr, assign};
    if (!threads) return nullptr;
    ggml_threadpool_params params = ggml_threadpool_params_default(count);
    // Paused until the first graph.
    params.paused = true;
    threads->pool = create(&params);
    threads->idler = ggml_backend_dev_init(device, nullptr);
    if (threads->pool && threads->idler) return threads;
    hearth_threads_free(threads);
    return nullptr;
}

void hearth_threads_use(llama_context *context, hearth_threads *threads) {
    if (threads) {
        llama_attach_threadpool(context, threads->pool, nullptr);
    } else {
        llama_detach_threadpool(context);
    }
}

void hearth_threads_rest(hearth_threads *threads) {
    if (!threads) return;
    threads->assign(threads->idler, threads->pool);
    threads->assign(threads->idler, nullptr);
}

void hearth_threads_free(hearth_threads *threads) {
    if (!threads) return;
    if (threads->idler) ggml_backend_free(threads->idler);
    if (threads->pool) threads->free(threads->pool);
    delete threads;
}

#endif
