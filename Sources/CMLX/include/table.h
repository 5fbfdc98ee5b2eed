// The functions of libhearth-mlx.so, which scripts/install-mlx.sh builds from model.cpp, multiply.cpp and table.cpp on MLX's
// own library. No function throws an exception, and no type of MLX is in these structures.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hearth_mlx_failure {
    HEARTH_MLX_NONE = 0,
    /// The library is missing, of another version, or needs another one that is missing.
    HEARTH_MLX_MISSING = 1,
    /// A file ends before its weights, or cannot be read.
    HEARTH_MLX_UNREADABLE = 2,
    /// The parts of a model do not fit together.
    HEARTH_MLX_UNSUPPORTED = 3,
    /// A number that is no token, or more tokens than the state has room for.
    HEARTH_MLX_RANGE = 4,
    HEARTH_MLX_FAILED = 5,
};

/// The reason of a failure.
struct hearth_mlx_error {
    enum hearth_mlx_failure kind;
    /// Cut off, ended by NUL.
    char text[500];
};

enum hearth_mlx_type {
    HEARTH_MLX_FLOAT32 = 0,
    HEARTH_MLX_FLOAT16 = 1,
    HEARTH_MLX_BFLOAT16 = 2,
    HEARTH_MLX_UINT32 = 3,
};

/// Numbers in one of a model's files, row by row. Their count follows from the place where the part is used.
struct hearth_mlx_part {
    /// The place in the list of files; negative for a part that the model does not have.
    int32_t file;
    enum hearth_mlx_type type;
    uint64_t offset;
};

/// A matrix of `rows` outputs and `columns` inputs.
struct hearth_mlx_matrix {
    struct hearth_mlx_part weight;
    /// Of a quantized matrix: one number for each group of a row.
    struct hearth_mlx_part scales;
    struct hearth_mlx_part biases;
    /// Added to the outputs; may be absent.
    struct hearth_mlx_part bias;
    int32_t rows;
    int32_t columns;
    /// 4 or 8; 0 for a matrix that is not quantized.
    int32_t bits;
    /// The columns of a group: 32, 64 or 128.
    int32_t group;
};

struct hearth_mlx_layer {
    struct hearth_mlx_matrix query, key, value, output, gate, up, down;
    /// Gains of norms, each of the hidden length; `after` may be absent.
    struct hearth_mlx_part before_attention, after_attention, before_feed, after_feed;
    /// Gains of norms of the length of a head; may be absent.
    struct hearth_mlx_part query_norm, key_norm;
    float rope_base;
    float rope_scale;
    /// Whether the model's own frequencies replace the base.
    bool has_frequencies;
    /// The number of tokens that a token sees, with itself; 0 for all.
    int32_t window;
};

struct hearth_mlx_plan {
    const char *const *files;
    size_t file_count;
    const struct hearth_mlx_layer *layers;
    size_t layer_count;
    struct hearth_mlx_matrix embedding;
    /// Without weights, the embedding serves as the head.
    struct hearth_mlx_matrix head;
    struct hearth_mlx_part norm;
    int32_t hidden, heads, key_heads, head_length, vocabulary;
    float epsilon;
    /// Multiplies embeddings.
    float embedding_scale;
    /// Multiplies the products of queries and keys.
    float query_scale;
    /// Bounds of logits by tanh; 0 for none.
    float attention_cap, final_cap;
    /// Whether 1 is added to the gains of norms.
    bool adds_one;
    /// Whether the gate is the tanh approximation of GELU, otherwise SiLU.
    bool is_gelu;
    /// Whether the rotated pairs are neighbours, otherwise halves.
    bool is_traditional;
    /// `head_length / 2` wave lengths by position, for layers with frequencies; may be NULL.
    const float *frequencies;
    /// The tokens whose state is kept.
    int32_t context;
    int32_t threads;
};

struct hearth_mlx_memory {
    uint64_t active;
    uint64_t cache;
    uint64_t peak;
};

struct hearth_mlx_model;

enum { HEARTH_MLX_VERSION = 1 };

struct hearth_mlx_table {
    uint32_t version;
    /// MLX's own version.
    const char *library;

    /// Reads the weights. `progress` receives 0...1 after each part and ends the load by returning false; then the result is
    /// NULL without a failure. The files are closed when it returns. All calls of a model come from one thread.
    struct hearth_mlx_model *(*load)(
        const struct hearth_mlx_plan *plan, bool (*progress)(float value, void *user), void *user,
        struct hearth_mlx_error *error);
    void (*free)(struct hearth_mlx_model *model);

    /// Computes tokens after those whose state is kept. `logits` receives a number for each token of the vocabulary, for the
    /// last of the tokens; NULL computes none.
    /// - stop: asked several times in each layer; true ends the computation, and the kept state is that of before.
    /// Returns whether all were computed. False without a failure after a stop.
    bool (*compute)(
        struct hearth_mlx_model *model, const int32_t *tokens, size_t count, float *logits, bool (*stop)(void *user),
        void *user, struct hearth_mlx_error *error);
    /// The tokens whose state is kept.
    size_t (*count)(const struct hearth_mlx_model *model);
    /// Forgets the state after the first `count` tokens.
    void (*truncate)(struct hearth_mlx_model *model, size_t count);

    /// Limits the bytes that MLX keeps for later allocations, in the whole process.
    void (*limit_cache)(uint64_t bytes);
    /// Frees the bytes that MLX keeps for later allocations.
    void (*clear_cache)(void);
    struct hearth_mlx_memory (*memory)(void);
};
