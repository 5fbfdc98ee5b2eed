#include "CLlamaShim.h"
#include "guarded.hpp"
#include "loading.hpp"

#ifdef HEARTH_LLAMA

#include <ggml.h>
#include <gguf.h>
#include <llama.h>

#include <cstdio>
#include <memory>
#include <mutex>
#include <stdexcept>

// The parameter structures change from release to release, and no compiler reports a moved field.
static_assert(
    sizeof(void *) != 8 || (sizeof(llama_model_params) == 80 && sizeof(llama_context_params) == 160),
    "this shim is written for llama.cpp " HEARTH_LLAMA_VERSION ": see docs/dependencies.md");
static_assert(
    LLAMA_SESSION_VERSION == 10 && LLAMA_STATE_SEQ_VERSION == 3,
    "saved states of conversations carry a version of their own, to be raised together with these");

namespace {

/// Whether this thread loads a file or reads with its vocabulary: then a failed assertion is a fault of the file and not of
/// the program.
thread_local bool is_loading = false;
ggml_abort_callback_t previous = nullptr;

/// llama.cpp calls this before it ends the process. During a load it throws an exception instead: all code between here
/// and the loader's own `catch` is C++ that unwinds, or C with unwind tables and nothing to clean up.
void on_abort(const char *message) {
    if (is_loading) throw std::runtime_error(message);
    if (previous) {
        previous(message);
    } else {
        std::fprintf(stderr, "%s\n", message);
    }
}

}  // namespace

hearth::Loading::Loading() {
    static std::once_flag once;
    std::call_once(once, [] { previous = ggml_set_abort_callback(on_abort); });
    was_loading = is_loading;
    is_loading = true;
}

hearth::Loading::~Loading() { is_loading = was_loading; }

llama_model *hearth_model_load(const char *path, const hearth_model_options *options, char **error) {
    const hearth::Loading loading;
    return hearth::guarded(error, "llama.cpp cannot read it", [&]() -> llama_model * {
        llama_model_params params = llama_model_default_params();
        params.n_gpu_layers = options->gpu_layers;
        params.progress_callback = options->progress;
        params.progress_callback_user_data = options->user;
        return llama_model_load_from_file(path, params);
    });
}

llama_model *hearth_vocabulary_load(const void *bytes, size_t length, char **error) {
    const hearth::Loading loading;
    return hearth::guarded(error, "llama.cpp cannot read it", [&]() -> llama_model * {
        gguf_init_params reading = {true, nullptr};
        const std::unique_ptr<gguf_context, decltype(&gguf_free)> header(
            gguf_init_from_buffer(bytes, length, reading), gguf_free);
        if (!header) return nullptr;
        llama_model_params params = llama_model_default_params();
        params.vocab_only = true;
        return llama_model_init_from_user(header.get(), [](ggml_tensor *, void *) {}, nullptr, params);
    });
}

llama_context *hearth_context_new(llama_model *model, const hearth_context_options *options, char **error) {
    const hearth::Loading loading;
    return hearth::guarded(error, "llama.cpp cannot make a context for it", [&]() -> llama_context * {
        llama_context_params params = llama_context_default_params();
        params.n_ctx = options->length;
        params.n_batch = options->batch;
        params.n_ubatch = options->chunk;
        params.n_seq_max = options->sequences > 1 ? options->sequences : 1;
        params.kv_unified = options->sequences > 1 && !options->own_cells;
        params.n_threads = options->threads;
        params.n_threads_batch = options->threads;
        params.no_perf = true;
        params.type_k = static_cast<ggml_type>(options->cache_type);
        params.type_v = params.type_k;
        params.flash_attn_type = ggml_is_quantized(params.type_k)
            ? LLAMA_FLASH_ATTN_TYPE_ENABLED
            : static_cast<llama_flash_attn_type>(options->flash_attention);
        // One token of each conversation is answered at a time; the logits of a whole batch would need most of the
        // working memory.
        if (!options->embeddings) params.n_outputs_max = params.n_seq_max;
        params.embeddings = options->embeddings;
        if (options->embeddings) {
            params.pooling_type = options->ranks ? LLAMA_POOLING_TYPE_RANK : LLAMA_POOLING_TYPE_NONE;
        }
        return llama_init_from_model(model, params);
    });
}

#endif
