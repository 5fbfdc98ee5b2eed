#pragma once
#include <ggml-backend.h>
#include <llama.h>
#include <stdbool.h>

// Weak: a library has the back ends that it was built with. Asking for one of them by a call would start its driver.
#if !defined(__APPLE__)
ggml_backend_reg_t ggml_backend_cann_reg(void) __attribute__((weak));
ggml_backend_reg_t ggml_backend_cuda_reg(void) __attribute__((weak));
ggml_backend_reg_t ggml_backend_opencl_reg(void) __attribute__((weak));
ggml_backend_reg_t ggml_backend_sycl_reg(void) __attribute__((weak));
ggml_backend_reg_t ggml_backend_vk_reg(void) __attribute__((weak));
#endif

/// Whether the library was built with a back end for GPUs. Starts no driver.
static inline bool hearth_llama_drives_gpus(void) {
#if defined(__APPLE__)
    return true;
#else
    return ggml_backend_cann_reg || ggml_backend_cuda_reg || ggml_backend_opencl_reg || ggml_backend_sycl_reg
        || ggml_backend_vk_reg;
#endif
}
