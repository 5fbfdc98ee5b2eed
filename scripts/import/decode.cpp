// Measures how fast llama.cpp answers, and writes a file's weights with 8 bits: decode FILE TOKENS, or decode FILE -o OUTPUT.
#include <llama.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// The static library takes its buffers from the package, which keeps them in whole pages.
extern "C" int hearth_buffer_allocate(void **memory, size_t alignment, size_t bytes) {
    return posix_memalign(memory, alignment, bytes);
}

static void quiet(ggml_log_level level, const char *text, void *) {
    if (level == GGML_LOG_LEVEL_ERROR) std::fputs(text, stderr);
}

int main(int count, char **arguments) {
    if (count < 3) return 64;
    llama_log_set(quiet, nullptr);
    llama_backend_init();
    if (count == 4 && !std::strcmp(arguments[2], "-o")) {
        llama_model_quantize_params parameters = llama_model_quantize_default_params();
        parameters.ftype = LLAMA_FTYPE_MOSTLY_Q8_0;
        parameters.allow_requantize = true;
        return llama_model_quantize(arguments[1], arguments[3], &parameters) == 0 ? 0 : 1;
    }
    int wanted = std::atoi(arguments[2]);
    llama_model *model = llama_model_load_from_file(arguments[1], llama_model_default_params());
    if (!model) return 1;
    llama_context_params parameters = llama_context_default_params();
    parameters.n_ctx = 1024;
    parameters.n_threads = parameters.n_threads_batch = 1;
    llama_context *context = llama_init_from_model(model, parameters);
    if (!context) return 1;
    int vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(model));
    auto start = std::chrono::steady_clock::now();
    for (int index = 0; index < wanted + 8; index++) {
        // The first tokens also read the weights from the disk.
        if (index == 8) start = std::chrono::steady_clock::now();
        llama_token token = (index * 7919 + 17) % vocabulary;
        if (llama_decode(context, llama_batch_get_one(&token, 1)) != 0) return 1;
        llama_synchronize(context);
    }
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("%.2f\n", wanted / seconds.count());
}
