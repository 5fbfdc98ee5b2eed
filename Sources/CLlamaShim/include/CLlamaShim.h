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
struct hearth_call_format;
struct hearth_threads;

/// One turn: a role as the template knows it, and UTF-8 text of a given length.
struct hearth_chat_message {
    const char *role;
    const char *content;
    size_t content_length;
    /// The thinking before it; or NULL.
    const char *thinking;
    /// The calls of tools in it, as a JSON list of objects with `id`, `name` and `arguments`, all of them texts; or NULL.
    const char *calls;
    /// Of a tool's result: which call it answers, and of which tool; or NULL.
    const char *call_id;
    const char *tool_name;
};

/// A conversation that the model is to answer.
struct hearth_chat_request {
    const struct hearth_chat_message *messages;
    size_t count;
    bool enable_thinking;
    /// The tools to choose from, as a JSON list of objects with `name`, `description` and `parameters` (a schema), all of
    /// them texts; or NULL for none.
    const char *tools;
};

void hearth_string_free(char *text);

/// Whether templates run in full (Jinja); otherwise only llama.cpp's fixed list of known templates works.
bool hearth_chat_templates_are_complete(void);

/// Reads `source`, or the chat template out of a model where that is NULL; ChatML when the model has none. NULL and a reason
/// on failure. Templates and a reason where Jinja cannot read it and the fixed list, which knows it by its looks, is used. The model must outlive the templates; with a source it may be NULL.
struct hearth_chat_templates *hearth_chat_templates_new(
    const struct llama_model *model, const char *source, char **error);
void hearth_chat_templates_free(struct hearth_chat_templates *templates);

/// The prompt text of a conversation, `length` bytes that may hold NUL, the last `opening` of which begin the answer (0 where that
/// cannot be told). NULL and a reason on failure.
/// `format` gets how the model writes calls of the tools it was offered, or NULL where that cannot be told.
char *hearth_chat_templates_apply(
    const struct hearth_chat_templates *templates, const struct hearth_chat_request *request,
    struct hearth_call_format **format, size_t *length, size_t *opening, char **error);

/// A JSON object of what the template's model writes around its thinking and its answer, empty where the template knows no thinking:
/// `opening` and `closing` of the thinking, `turn` before an answer, `lead` between it or the thinking and the answer's text, and
/// `trail` after that text. NULL and a reason on failure.
char *hearth_chat_templates_frame(const struct hearth_chat_templates *templates, char **error);

/// Whether the template describes tools and writes their calls.
bool hearth_chat_templates_know_tools(const struct hearth_chat_templates *templates);

/// A JSON object: the `grammar` of calls, the `words` one of which begins them (none: they begin with their JSON), the `marks`
/// (control tokens that are part of calls) and further `stops`. NULL and a reason on failure.
char *hearth_call_format_describe(const struct hearth_call_format *format, char **error);

/// The calls in what a model wrote from their beginning on, as a JSON list like that of a message. NULL and a reason on failure.
/// Recursive: who calls has looked how deep the text may be nested.
char *hearth_call_format_parse(
    const struct hearth_call_format *format, const char *text, size_t length, char **error);
void hearth_call_format_free(struct hearth_call_format *format);

/// Worker threads that stay alive between tokens; without them every graph starts and joins its own. NULL where the CPU back end
/// has none to give, and for fewer than two.
struct hearth_threads *hearth_threads_new(int32_t count);
/// Computes with these from the next graph on, with NULL with none that stay. That graph pauses those used until then: they must
/// be alive until then, and are free of work from then on. So free threads after a graph of every context that used them, computed
/// with others, or after the contexts.
void hearth_threads_use(struct llama_context *context, struct hearth_threads *threads);
/// Has threads sleep until the next graph they compute. They would wait for it spinning, some 0.1 s long, on cores that others
/// need meanwhile.
void hearth_threads_rest(struct hearth_threads *threads);
void hearth_threads_free(struct hearth_threads *threads);

/// Gives ggml the memory of a buffer, which `free` takes back: `posix_memalign` under the name that `scripts/install-llama.sh` has our
/// build of llama.cpp call. A large one begins with a huge page and asks the system for them, where it has some for who asks: prompts
/// are read up to a tenth faster, and a long context is made in a fraction of the time. Another build of llama.cpp never calls it.
int hearth_buffer_allocate(void **memory, size_t alignment, size_t bytes);

/// Has the allocator give what it keeps for later back to the system, where it does not do so unasked (glibc).
void hearth_memory_trim(void);

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
    /// Gives the hidden state of every token, each for itself, rather than the logits of the next.
    bool embeddings;
    /// The sequences, 0 for one. Several share all cells, so that each may be as long as the context.
    uint32_t sequences;
    /// How keys and values are stored: a `ggml_type`. Quantised ones switch flash attention on, which values need.
    int32_t cache_type;
    /// A `llama_flash_attn_type`: -1 leaves it to llama.cpp, 0 switches it off, 1 on.
    int32_t flash_attention;
};

/// A context. NULL on failure, as above.
struct llama_context *hearth_context_new(
    struct llama_model *model, const struct hearth_context_options *options, char **error);

// Vision. Reading and cutting are safe from any thread; encoding and decoding are for the one thread that owns both.

struct hearth_vision;
struct hearth_picture;
struct hearth_pieces;

struct hearth_vision_options {
    int32_t threads;
    bool gpu;
    /// The fewest and most tokens of a picture where a model leaves a choice; 0 for the file's own.
    int32_t minimum_tokens;
    int32_t maximum_tokens;
};

/// Takes the log of the vision library. `level` is a `ggml_log_level`.
void hearth_vision_log(void (*log)(int32_t level, const char *text, void *user), void *user);

/// Opens the projector that makes pictures readable for a model. NULL and a reason on failure. The model must outlive it.
struct hearth_vision *hearth_vision_open(
    const char *path, const struct llama_model *model, const struct hearth_vision_options *options, char **error);
void hearth_vision_free(struct hearth_vision *vision);

/// Whether the tokens of one picture look at each other both ways, so that they have to be computed together.
bool hearth_vision_looks_both_ways(const struct hearth_vision *vision);
/// Whether positions have sections for height and width (M-RoPE), so that a picture has more tokens than positions.
bool hearth_vision_has_grid_positions(const struct hearth_vision *vision);
/// The numbers in the vector of one token.
int32_t hearth_vision_width(const struct hearth_vision *vision);
/// Whether what a picture is cut into depends on where it stands among others.
bool hearth_vision_depends_on_place(const struct hearth_vision *vision);

struct hearth_size {
    uint32_t width;
    uint32_t height;
};

/// The pixels of a JPEG, PNG or BMP file in memory whose header tells of the size `expected`, turned and mirrored by an Exif
/// `orientation` (1...8) and made smaller to `wanted`. NULL and a reason on failure.
struct hearth_picture *hearth_picture_read(
    const uint8_t *bytes, size_t count, struct hearth_size expected, struct hearth_size wanted, int32_t orientation,
    char **error);
/// A picture of a size without pixels, to count its tokens with.
struct hearth_picture *hearth_picture_blank(struct hearth_size size);
void hearth_picture_free(struct hearth_picture *picture);
/// Three bytes a pixel, row by row; NULL for a picture without pixels.
const uint8_t *hearth_picture_pixels(const struct hearth_picture *picture);

/// Cuts a picture into the tokens around it and the parts that are encoded one by one. NULL and a reason on failure.
struct hearth_pieces *hearth_pieces_cut(
    const struct hearth_vision *vision, const struct hearth_picture *picture, char **error);
void hearth_pieces_free(struct hearth_pieces *pieces);
size_t hearth_pieces_count(const struct hearth_pieces *pieces);

struct hearth_piece {
    bool is_picture;
    /// Of text; NULL for a part of a picture. Lives as long as the pieces.
    const int32_t *tokens;
    size_t token_count;
    /// The positions it takes in a sequence.
    int32_t position_count;
};
struct hearth_piece hearth_pieces_get(const struct hearth_pieces *pieces, size_t index);

/// Writes the vectors of a picture's part, `token_count * width` numbers. False and a reason on failure. Cannot be
/// interrupted.
bool hearth_piece_encode(
    struct hearth_vision *vision, const struct hearth_pieces *pieces, size_t index, float *vectors, size_t count,
    char **error);

/// Computes a picture's part at a position of a sequence, `batch` tokens at a time. What `llama_decode` says; -1 where
/// it is no part of a picture.
int32_t hearth_piece_decode(
    struct hearth_vision *vision, struct llama_context *context, const struct hearth_pieces *pieces, size_t index,
    const float *vectors, int32_t position, int32_t sequence, int32_t batch);

/// The grammar (GBNF) of a JSON schema, whose depth the caller has looked at. NULL and a reason on failure.
char *hearth_schema_to_gbnf(const char *schema, char **error);

struct hearth_choice;

/// A seeded choice that takes the tokens llama.cpp's own `temp` and `dist` samplers would take, without the copy, the
/// two divisions and the exponential they spend on every token of the vocabulary. NULL when there is no memory.
struct hearth_choice *hearth_choice_new(uint32_t seed);
void hearth_choice_free(struct hearth_choice *choice);

/// The index of a token drawn from `logits / temperature`; temperature above 0, count above 0.
int32_t hearth_choice_draw(struct hearth_choice *choice, const float *logits, int32_t count, float temperature);

/// The index of the largest logit, the first of equals; count above 0.
int32_t hearth_choice_greedy(const float *logits, int32_t count);

/// The index that a chain of llama.cpp's samplers (a `llama_sampler`) draws, which is not told that it counts; 0 where the chain
/// leaves nothing, -1 when there is no memory.
int32_t hearth_chain_draw(void *chain, const float *logits, int32_t count);

#ifdef __cplusplus
}
#endif
