// Writes the logits of llama.cpp for every token of a text: engine FILE TOKENS LOGITS.
#include <llama.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

// The static library takes its buffers from the package, which keeps them in whole pages.
extern "C" int hearth_buffer_allocate(void **memory, size_t alignment, size_t bytes) {
    return posix_memalign(memory, alignment, bytes);
}

static void quiet(ggml_log_level level, const char *text, void *) {
    if (level == GGML_LOG_LEVEL_ERROR) std::fputs(text, stderr);
}

int main(int count, char **arguments) {
    if (count != 4) return 64;
    llama_log_set(quiet, nullptr);
    llama_backend_init();
    llama_model *model = llama_model_load_from_file(arguments[1], llama_model_default_params());
    if (!model) return 1;
    std::ifstream file(arguments[2]);
    std::vector<llama_token> tokens{std::istream_iterator<llama_token>(file), {}};
    llama_context_params parameters = llama_context_default_params();
    parameters.n_ctx = (tokens.size() + 255) / 256 * 256;
    parameters.n_batch = parameters.n_ubatch = 512;
    parameters.n_threads = parameters.n_threads_batch = 2;
    // The cache rounds to 16 bits otherwise, which is no difference of the weights.
    parameters.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    parameters.type_k = parameters.type_v = GGML_TYPE_F32;
    llama_context *context = llama_init_from_model(model, parameters);
    if (!context) return 1;
    int vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(model));
    std::FILE *out = std::fopen(arguments[3], "wb");
    if (!out) return 1;
    for (size_t start = 0; start < tokens.size(); start += 512) {
        size_t end = start + 512 < tokens.size() ? start + 512 : tokens.size();
        llama_batch batch = llama_batch_init(512, 0, 1);
        batch.n_tokens = int32_t(end - start);
        for (size_t i = start; i < end; i++) {
            batch.token[i - start] = tokens[i];
            batch.pos[i - start] = llama_pos(i);
            batch.n_seq_id[i - start] = 1;
            batch.seq_id[i - start][0] = 0;
            batch.logits[i - start] = true;
        }
        if (llama_decode(context, batch) != 0) return 1;
        for (size_t i = start; i < end; i++) {
            std::fwrite(llama_get_logits_ith(context, int32_t(i - start)), sizeof(float), size_t(vocabulary), out);
        }
        llama_batch_free(batch);
    }
    bool good = std::fclose(out) == 0;
    llama_free(context);
    llama_model_free(model);
    return good ? 0 : 1;
}
