#include "CLlamaShim.h"
#include "guarded.hpp"

#ifdef HEARTH_LLAMA

#include <ggml.h>
#include <llama.h>

#include <cstdio>
#include <mutex>
#include <stdexcept>

namespace {

/// The options of this thread's running quantization.
thread_local const hearth_quantize_options *current = nullptr;
thread_local bool is_stopped = false;
ggml_log_callback previous = nullptr;
void *previous_user = nullptr;

/// Reports progress and throws on cancellation. llama.cpp has no callback for this, but logs each tensor before it
/// begins with it, on the calling thread: `[  12/ 272] name - …`. No worker runs at that moment, so the exception
/// unwinds through C++ only.
void on_log(ggml_log_level level, const char *text, void *) {
    if (current && text && !is_stopped) {
        int number = 0;
        int count = 0;
        if (std::sscanf(text, " [%d/%d]", &number, &count) == 2 && count > 0 && current->progress) {
            if (!current->progress(static_cast<float>(number - 1) / static_cast<float>(count), current->user)) {
                is_stopped = true;
                throw std::runtime_error("it was stopped");
            }
        }
    }
    if (previous) previous(level, text, previous_user);
}

struct Watching {
    explicit Watching(const hearth_quantize_options *options) {
        static std::once_flag once;
        std::call_once(once, [] {
            llama_log_get(&previous, &previous_user);
            llama_log_set(on_log, nullptr);
        });
        current = options;
        is_stopped = false;
    }
    ~Watching() { current = nullptr; }
};

}  // namespace

bool hearth_model_quantize(
    const char *source, const char *target, const hearth_quantize_options *options, char **error) {
    const Watching watching(options);
    static const char done = 0;
    return hearth::guarded(error, "llama.cpp cannot quantize it", [&]() -> const char * {
        llama_model_quantize_params params = llama_model_quantize_default_params();
        params.ftype = static_cast<llama_ftype>(options->type);
        params.nthread = options->threads;
        params.allow_requantize = options->requantize;
        return llama_model_quantize(source, target, &params) == 0 ? &done : nullptr;
    }) != nullptr;
}

#endif
