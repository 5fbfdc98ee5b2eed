// What llama.cpp offers in C++ only, or as symbols that only some of its builds export, behind plain C.
// No function lets an exception out. Strings given back are freed with hearth_string_free.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct llama_model;
struct llama_context;
struct hearth_chat_templates;
struct hearth_threads;

/// One turn: a role as the template knows it, and UTF-8 text of a given length.
struct hearth_chat_message {
    const char *role;
    const char *content;
    size_t content_length;
};

void hearth_string_free(char *text);

/// Whether templates run in full (Jinja); otherwise only llama.cpp's fixed list of known templates works.
bool hearth_chat_templates_are_complete(void);

/// Reads the chat template out of a model; ChatML when the model has none. NULL and a reason on failure.
/// The model must outlive the templates.
struct hearth_chat_templates *hearth_chat_templates_new(const struct llama_model *model, char **error);
void hearth_chat_templates_free(struct hearth_chat_templates *templates);

/// The prompt text of a conversation, `length` bytes that may hold NUL. NULL and a reason on failure.
char *hearth_chat_templates_apply(
    const struct hearth_chat_templates *templates, const struct hearth_chat_message *messages, size_t count,
    bool add_generation_prompt, bool enable_thinking, size_t *length, char **error);

/// Worker threads that stay alive between tokens; without them every graph starts and joins its own.
/// Attached to the context until freed; NULL where the CPU back end has none to give. Free after the context.
struct hearth_threads *hearth_threads_attach(struct llama_context *context, int32_t count);
void hearth_threads_free(struct hearth_threads *threads);
/// Ends the threads of a context that goes on without them, or with a pool of another size: threads of a larger pool that
/// have nothing to do spin for the time of a token.
void hearth_threads_detach(struct hearth_threads *threads);

/// The version of llama.cpp this shim was written for. load.cpp does not compile against another's structures.
#define HEARTH_LLAMA_VERSION "0.5.0-dev"

/// How to load weights. Ours, because llama.cpp's own structure changes from release to release.
struct hearth_model_options {
    /// Layers on the GPU, negative for all.
    int32_t gpu_layers;
    /// Called with 0...1; false ends loading. May be NULL.
    bool (*progress)(float value, void *user);
    void *user;
};

/// Reads a GGUF file. NULL on failure, with a reason where there is one beyond llama.cpp's log.
/// A file that breaks one of llama.cpp's assertions is such a failure instead of the end of the process.
struct llama_model *hearth_model_load(const char *path, const struct hearth_model_options *options, char **error);

/// How to store weights in fewer bits.
struct hearth_quantize_options {
    /// A value of `llama_ftype`.
    int32_t type;
    int32_t threads;
    /// Whether a file that was quantised before is taken.
    bool requantize;
    /// Called before each tensor with 0...1; false ends it. May be NULL.
    bool (*progress)(float value, void *user);
    void *user;
};

/// Writes a GGUF file of another. False on failure, with a reason where there is one beyond llama.cpp's log.
bool hearth_model_quantize(
    const char *source, const char *target, const struct hearth_quantize_options *options, char **error);

/// What a context needs.
struct hearth_context_options {
    uint32_t length;
    uint32_t batch;
    /// The tokens computed together, at most `batch`: the compute buffers grow with it.
    uint32_t chunk;
    int32_t threads;
    /// Gives the hidden state of every token, each for itself, rather than the odds of the next.
    bool embeddings;
    /// The sequences, 0 for one. Several share all cells, so that each may be as long as the context.
    uint32_t sequences;
};

/// A context. NULL on failure, as above.
struct llama_context *hearth_context_new(
    struct llama_model *model, const struct hearth_context_options *options, char **error);

struct hearth_choice;

/// A seeded choice that takes the tokens llama.cpp's own `temp` and `dist` samplers would take, without the copy, the
/// two divisions and the exponential they spend on every token of the vocabulary. NULL when there is no memory.
struct hearth_choice *hearth_choice_new(uint32_t seed);
void hearth_choice_free(struct hearth_choice *choice);

/// The index of a token drawn from `logits / temperature`; temperature above 0, count above 0.
int32_t hearth_choice_draw(struct hearth_choice *choice, const float *logits, int32_t count, float temperature);

/// The index of the largest logit, the first of equals; count above 0.
int32_t hearth_choice_greedy(const float *logits, int32_t count);

#ifdef __cplusplus
}
#endif
