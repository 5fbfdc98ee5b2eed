// Plain C functions for the parts of llama.cpp that exist only in C++, or as symbols of only some builds.
// No function throws an exception. Free returned strings with hearth_string_free.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct llama_model;
struct llama_context;
struct llama_vocab;
struct llama_batch;
struct hearth_chat_templates;
struct hearth_call_format;
struct hearth_threads;

/// One turn: a role by the template's name, and UTF-8 text of a given length.
struct hearth_chat_message {
    const char *role;
    const char *content;
    size_t content_length;
    /// The thinking before the text; or NULL.
    const char *thinking;
    /// The tool calls of the turn, as a JSON list of objects with `id`, `name` and `arguments`, all of them texts; or
    /// NULL.
    const char *calls;
    /// In a tool's result: the id of the call and the name of the tool; or NULL.
    const char *call_id;
    const char *tool_name;
};

/// A conversation that the model is to answer.
struct hearth_chat_request {
    const struct hearth_chat_message *messages;
    size_t count;
    bool enable_thinking;
    /// The offered tools, as a JSON list of objects with `name`, `description` and `parameters` (a schema), all of them
    /// texts; or NULL for none.
    const char *tools;
};

void hearth_string_free(char *text);

/// Whether templates run completely (Jinja); otherwise only llama.cpp's fixed list of known templates is available.
bool hearth_chat_templates_are_complete(void);

/// Reads `source`, or the chat template of a model if `source` is NULL; ChatML if the model has none. NULL and a reason
/// on failure, such as the place of a syntax error. The model must outlive the templates; with a source it may be NULL.
struct hearth_chat_templates *hearth_chat_templates_new(
    const struct llama_model *model, const char *source, char **error);
void hearth_chat_templates_free(struct hearth_chat_templates *templates);

/// The prompt text of a conversation: `length` bytes, which may contain NUL. The last `opening` bytes begin the answer
/// (0 if that cannot be determined). NULL and a reason on failure.
char *hearth_chat_templates_apply(
    const struct hearth_chat_templates *templates, const struct hearth_chat_request *request, size_t *length,
    size_t *opening, char **error);

/// The format of calls of a request's tools. NULL and a reason on failure.
struct hearth_call_format *hearth_call_format_new(
    const struct hearth_chat_templates *templates, const struct hearth_chat_request *request, char **error);

/// A JSON object with the texts around the model's thinking and answer, empty if the template has no thinking:
/// `opening` and `closing` of the thinking, `turn` before an answer, `lead` between that or the thinking and the
/// answer's text, and `trail` after that text. NULL and a reason on failure.
char *hearth_chat_templates_frame(const struct hearth_chat_templates *templates, char **error);

/// Whether the template describes tools and writes their calls.
bool hearth_chat_templates_know_tools(const struct hearth_chat_templates *templates);

/// A JSON object: the `grammar` of calls; the `words` with which calls begin (empty: they begin with their JSON); the
/// `marks` (control tokens in calls); and further `stops`. NULL and a reason on failure.
char *hearth_call_format_describe(const struct hearth_call_format *format, char **error);

/// The calls in a model's text from their beginning on, as a JSON list like that of a message. NULL and a reason on
/// failure. Recursive: the caller must check the text's depth first.
char *hearth_call_format_parse(
    const struct hearth_call_format *format, const char *text, size_t length, char **error);
void hearth_call_format_free(struct hearth_call_format *format);

/// Worker threads that stay alive between tokens; without them every graph starts and joins its own. NULL if the CPU
/// back end offers none, and for fewer than two.
struct hearth_threads *hearth_threads_new(int32_t count);
/// Uses these threads from the next graph on; NULL starts new ones for each graph. The next graph pauses the threads
/// used before: they must be alive until then, and are unused afterwards. So free threads only after every context that
/// used them has computed a graph with others, or after the contexts are freed.
void hearth_threads_use(struct llama_context *context, struct hearth_threads *threads);
/// Puts threads to sleep until their next graph. Otherwise they would spin for about 0.1 s, on cores that other threads
/// need.
void hearth_threads_rest(struct hearth_threads *threads);
void hearth_threads_free(struct hearth_threads *threads);

/// Allocates the memory of a ggml buffer, which `free` releases: `posix_memalign` under the name that
/// `scripts/install-llama.sh` makes our build of llama.cpp call. A large buffer begins at a huge page and requests huge
/// pages, where the system grants them on request: prompts are computed up to a tenth faster, and a long context is
/// allocated in a fraction of the time. Other builds of llama.cpp never call it.
int hearth_buffer_allocate(void **memory, size_t alignment, size_t bytes);

/// Returns the allocator's free memory to the system, where the allocator would keep it (glibc).
void hearth_memory_trim(void);

/// The version of llama.cpp for which this shim is written. load.cpp does not compile with the structures of another.
#define HEARTH_LLAMA_VERSION "0.5.0-dev"

/// The options of a load. This structure is our own, because llama.cpp's changes from release to release.
struct hearth_model_options {
    /// Layers on the GPU, negative for all.
    int32_t gpu_layers;
    /// Called with 0...1; false ends loading. May be NULL.
    bool (*progress)(float value, void *user);
    void *user;
};

/// Reads a GGUF file. NULL on failure, with a reason if there is one beyond llama.cpp's log.
/// A file that violates one of llama.cpp's assertions is such a failure and does not end the process.
struct llama_model *hearth_model_load(const char *path, const struct hearth_model_options *options, char **error);

/// Reads the vocabulary and the chat template out of the bytes of a GGUF file without tensors. NULL on failure, as above.
struct llama_model *hearth_vocabulary_load(const void *bytes, size_t length, char **error);

/// Reads all tensors of one GGUF file. False if one has a value that is NaN or infinite: its name is then in `tensor`. False
/// with a reason in `error` alone if the file cannot be read, or if `progress`, called with 1 about once a megabyte, returned
/// false.
bool hearth_weights_check(
    const char *path, bool (*progress)(float value, void *user), void *user, char **tensor, char **error);

/// The options of a quantization.
struct hearth_quantize_options {
    /// A value of `llama_ftype`.
    int32_t type;
    int32_t threads;
    /// Whether a file that is already quantized is accepted.
    bool requantize;
    /// Called before each tensor with 0...1; false ends the quantization. May be NULL.
    bool (*progress)(float value, void *user);
    void *user;
};

/// Quantizes a GGUF file into another. False on failure, with a reason if there is one beyond llama.cpp's log.
bool hearth_model_quantize(
    const char *source, const char *target, const struct hearth_quantize_options *options, char **error);

/// The options of a context.
struct hearth_context_options {
    uint32_t length;
    uint32_t batch;
    /// The tokens computed together, at most `batch`: the compute buffers grow with it.
    uint32_t chunk;
    int32_t threads;
    /// Gives the hidden state of each token instead of the logits for the next token.
    bool embeddings;
    /// Gives the score of a whole text instead, for models that rank texts.
    bool ranks;
    /// The number of sequences, 0 for one.
    uint32_t sequences;
    /// Whether each sequence has an equal part of the cells for itself, and its tokens are compared with no other cells.
    /// Otherwise the sequences share all cells, so that each may be as long as the context.
    bool own_cells;
    /// The type of keys and values: a `ggml_type`. Quantized values need flash attention, so such a type switches it
    /// on.
    int32_t cache_type;
    /// A `llama_flash_attn_type`: -1 leaves it to llama.cpp, 0 switches it off, 1 on.
    int32_t flash_attention;
};

/// Makes a context. NULL on failure, with a reason if there is one beyond llama.cpp's log.
struct llama_context *hearth_context_new(
    struct llama_model *model, const struct hearth_context_options *options, char **error);

/// The tokens of texts of one vocabulary. Any thread may use it. The model must outlive it.
struct hearth_tokenizer;

struct hearth_text_changes {
    /// Other bytes, for `free`, for letters between cut out tokens, FF where they are cut; NULL for no change.
    char *(*letters)(const struct hearth_text_changes *changes, const char *text, size_t length, size_t *changed);
    bool composes, cuts;
    /// A whole text begins with a blank or a cut out token.
    bool first_blank;
};

/// NULL and a reason for a model without a vocabulary.
struct hearth_tokenizer *hearth_tokenizer_new(
    const struct llama_vocab *vocab, const struct hearth_text_changes *changes, char **error);
void hearth_tokenizer_free(struct hearth_tokenizer *tokenizer);

/// The fewest tokens that a text can have, known without cutting it. Reads no further than the text can reach with
/// `limit` tokens; a longer text has `limit + 1`. 0 for vocabularies in which one token can stand for any number of
/// bytes.
size_t hearth_tokens_fewest(const struct hearth_tokenizer *tokenizer, const char *text, size_t length, size_t limit);

/// The `count` tokens of a text, for `hearth_tokens_free`. With more than `limit` of them the list may end early, behind
/// the token `limit`. NULL and a reason on failure, also when the vocabulary or the memory does not suffice.
/// The options are those of `llama_tokenize`, whose time grows with the square of the control tokens in a text.
int32_t *hearth_tokenize(
    const struct hearth_tokenizer *tokenizer, const char *text, size_t length, bool add_special, bool parse_special,
    size_t limit, size_t *count, char **error);
void hearth_tokens_free(int32_t *tokens);

/// Computes a batch (`llama_decode`). An exception is the status -1 with a reason.
int32_t hearth_decode(struct llama_context *context, const struct llama_batch *batch, char **error);

// Vision. Any thread may read and cut pictures; only the one thread that owns the context and the projector may encode
// and decode them.

struct hearth_vision;
struct hearth_picture;
struct hearth_pieces;

struct hearth_vision_options {
    int32_t threads;
    bool gpu;
    /// The fewest and most tokens of a picture, if the model offers a choice; 0 for the file's own limits.
    int32_t minimum_tokens;
    int32_t maximum_tokens;
};

/// Sets the log callback of the vision library. `level` is a `ggml_log_level`.
void hearth_vision_log(void (*log)(int32_t level, const char *text, void *user), void *user);

/// Opens the projector that encodes pictures for a model. NULL and a reason on failure. The model must outlive it.
struct hearth_vision *hearth_vision_open(
    const char *path, const struct llama_model *model, const struct hearth_vision_options *options, char **error);
void hearth_vision_free(struct hearth_vision *vision);

/// Whether the tokens of a picture attend to each other in both directions, so that one call must compute all of them.
bool hearth_vision_looks_both_ways(const struct hearth_vision *vision);
/// Whether positions have sections for height and width (M-RoPE), so that a picture has more tokens than positions.
bool hearth_vision_has_grid_positions(const struct hearth_vision *vision);
/// The numbers in the vector of one token.
int32_t hearth_vision_width(const struct hearth_vision *vision);
/// Whether the tokens around a picture depend on its place among other pictures.
bool hearth_vision_depends_on_place(const struct hearth_vision *vision);

struct hearth_size {
    uint32_t width;
    uint32_t height;
};

/// Reads the pixels of a JPEG, PNG or BMP file in memory whose header declares the size `expected`, turns and mirrors
/// them by an Exif `orientation` (1...8), and scales them down to `wanted`. NULL and a reason on failure.
struct hearth_picture *hearth_picture_read(
    const uint8_t *bytes, size_t count, struct hearth_size expected, struct hearth_size wanted, int32_t orientation,
    char **error);
/// A picture of a size without pixels, to count its tokens.
struct hearth_picture *hearth_picture_blank(struct hearth_size size);
void hearth_picture_free(struct hearth_picture *picture);
/// The pixels, three bytes each, row by row; NULL for a picture without pixels.
const uint8_t *hearth_picture_pixels(const struct hearth_picture *picture);

/// Cuts a picture into the tokens around it and the parts that are encoded one by one. NULL and a reason on failure.
struct hearth_pieces *hearth_pieces_cut(
    const struct hearth_vision *vision, const struct hearth_picture *picture, char **error);
void hearth_pieces_free(struct hearth_pieces *pieces);
size_t hearth_pieces_count(const struct hearth_pieces *pieces);

struct hearth_piece {
    bool is_picture;
    /// The tokens of a text; NULL for a part of a picture. They live as long as the pieces.
    const int32_t *tokens;
    size_t token_count;
    /// The number of positions in a sequence.
    int32_t position_count;
};
struct hearth_piece hearth_pieces_get(const struct hearth_pieces *pieces, size_t index);

/// Writes the vectors of a picture's part, `token_count * width` numbers. False and a reason on failure. Cannot be
/// interrupted.
bool hearth_piece_encode(
    struct hearth_vision *vision, const struct hearth_pieces *pieces, size_t index, float *vectors, size_t count,
    char **error);

/// Computes a picture's part at a position of a sequence, `batch` tokens at a time. Returns the status of
/// `llama_decode`; -1 if it is no part of a picture.
int32_t hearth_piece_decode(
    struct hearth_vision *vision, struct llama_context *context, const struct hearth_pieces *pieces, size_t index,
    const float *vectors, int32_t position, int32_t sequence, int32_t batch);

struct hearth_choice;

/// A seeded choice of the same tokens as llama.cpp's `temp` and `dist` samplers, without their copy, two divisions and
/// exponential for every token of the vocabulary. NULL when there is no memory.
struct hearth_choice *hearth_choice_new(uint32_t seed);
void hearth_choice_free(struct hearth_choice *choice);

/// The index of a token drawn from `logits / temperature`; temperature above 0, count above 0.
int32_t hearth_choice_draw(struct hearth_choice *choice, const float *logits, int32_t count, float temperature);

/// Whether a token can be chosen: no logit is NaN or positive infinity, and one is above negative infinity; count above 0.
bool hearth_logits_usable(const float *logits, int32_t count);

/// The index of the largest logit, the first of equals; count above 0.
int32_t hearth_choice_greedy(const float *logits, int32_t count);

/// The index that a chain of llama.cpp's samplers (a `llama_sampler`) draws. The chain does not record it as accepted.
/// 0 if the chain leaves no token, -1 when there is no memory.
int32_t hearth_chain_draw(void *chain, const float *logits, int32_t count);

/// The tokens with the largest logits, in falling order, at most `capacity`; `log_sum` is the logarithm of the sum of all
/// exponentials of `logits * scale`. Count above 0. Returns the number of tokens.
int32_t hearth_logits_best(
    const float *logits, int32_t count, float scale, int32_t *tokens, int32_t capacity, double *log_sum);

/// The tokens that a chain leaves, with the logarithms of their probabilities, in falling order; room for `count`. The
/// chain does not change. Returns the number of tokens, -1 when there is no memory.
int32_t hearth_chain_chances(
    void *chain, const float *logits, int32_t count, int32_t *tokens, float *log_probabilities);

#ifdef __cplusplus
}
#endif
