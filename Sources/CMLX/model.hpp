// A decoder of one sequence on MLX's arrays: its weights, and the state of the tokens so far.
#pragma once
#include <mlx/mlx.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "include/table.h"

namespace hearth {

namespace mx = mlx::core;

/// A failure with its kind.
struct Failure : std::runtime_error {
    hearth_mlx_failure kind;
    Failure(hearth_mlx_failure kind, const std::string &text) : std::runtime_error(text), kind(kind) {}
};

/// Ends a load or a computation without a failure.
struct Stopped {};

/// A question whether to stop.
struct Stop {
    bool (*ask)(void *user);
    void *user;
    bool operator()() const { return ask != nullptr && ask(user); }
};

using Optional = std::optional<mx::array>;

/// A matrix as its file has it; products are 32-bit floats.
struct Matrix {
    Optional weight, scales, biases, bias;
    int bits = 0;
    int group = 0;

    /// x · transposed matrix, in 32-bit floats.
    mx::array apply(const mx::array &x, int threads, const Stop &stop) const;
    /// The rows of the given numbers.
    mx::array rows(const mx::array &numbers) const;
};

/// x · transposed weight. `x` has 32-bit floats. After a stop the result is unfinished.
mx::array multiply(const mx::array &x, const Matrix &matrix, int threads, const Stop &stop);

struct Layer {
    Matrix query, key, value, output, gate, up, down;
    Optional before_attention, after_attention, before_feed, after_feed, query_norm, key_norm;
    float rope_base, rope_scale;
    bool has_frequencies;
    int window;
    /// The state: keys and values of the tokens so far, with room for more.
    Optional keys, values;
};

class Model {
  public:
    Model(const hearth_mlx_plan &plan, bool (*progress)(float, void *), void *user);

    void compute(const int32_t *tokens, size_t count, float *logits, const Stop &stop);
    size_t count() const { return offset; }
    void truncate(size_t count);

  private:
    mx::array normed(const mx::array &x, const Optional &gain) const;
    mx::array rotated(const mx::array &x, const Layer &layer) const;
    mx::array attention(Layer &layer, const mx::array &x, const Stop &stop);
    mx::array mixed(const Layer &layer, const mx::array &q, const mx::array &k, const mx::array &v, int count) const;
    mx::array fed(const Layer &layer, const mx::array &x, const Stop &stop) const;
    mx::array passed(Layer &layer, const mx::array &x, const Stop &stop);

    hearth_mlx_plan plan;
    Matrix embedding;
    std::optional<Matrix> head;
    Optional norm, frequencies;
    std::vector<Layer> layers;
    int offset = 0;
};

} // namespace hearth
