// Computes the layers of a decoder.
#include "model.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace hearth {

mx::array Matrix::apply(const mx::array &x, int threads, const Stop &stop) const {
    auto y = multiply(x, *this, threads, stop);
    return bias ? y + *bias : y;
}

mx::array Matrix::rows(const mx::array &numbers) const {
    auto take = [&](const mx::array &from) { return mx::take(from, numbers, 0); };
    if (bits == 0) return mx::astype(take(*weight), mx::float32);
    return mx::dequantize(take(*weight), take(*scales), take(*biases), group, bits);
}

mx::array Model::normed(const mx::array &x, const Optional &gain) const {
    return mx::fast::rms_norm(x, gain, plan.epsilon);
}

mx::array Model::rotated(const mx::array &x, const Layer &layer) const {
    int length = plan.head_length;
    if (layer.has_frequencies)
        return mx::fast::rope(x, length, plan.is_traditional, std::nullopt, 1.0f, offset, frequencies);
    return mx::fast::rope(x, length, plan.is_traditional, layer.rope_base, layer.rope_scale, offset);
}

/// Writes new keys or values behind those before. The room grows in steps, and is reused after a step back.
static void store(Optional &kept, const mx::array &added, int offset) {
    const int step = 256;
    int count = added.shape(2);
    auto end = added.shape();
    if (!kept || offset + count > kept->shape(2)) {
        auto room = end;
        room[2] = (offset + count + step - 1) / step * step;
        auto larger = mx::zeros(room, added.dtype());
        if (kept && offset > 0) {
            end[2] = offset;
            larger = mx::slice_update(larger, mx::slice(*kept, mx::Shape(4, 0), end), mx::Shape(4, 0), end);
        }
        kept = larger;
    }
    end[2] = offset + count;
    kept = mx::slice_update(*kept, added, mx::Shape{0, 0, offset, 0}, end);
}

mx::array Model::mixed(
    const Layer &layer, const mx::array &q, const mx::array &k, const mx::array &v, int count) const {
    int total = offset + count;
    Optional mask;
    bool is_windowed = layer.window > 0 && total > layer.window;
    if (is_windowed || (plan.attention_cap > 0 && count > 1)) {
        auto to = mx::reshape(mx::arange(offset, total), {count, 1}), from = mx::reshape(mx::arange(0, total), {1, total});
        mask = to >= from;
        if (is_windowed) mask = *mask && (to < from + mx::array(layer.window));
    }
    if (plan.attention_cap == 0)
        return mx::fast::scaled_dot_product_attention(
            q, k, v, plan.query_scale, mask ? "array" : count > 1 ? "causal" : "", mask);
    auto grouped = mx::reshape(
        q * mx::array(plan.query_scale), {1, plan.key_heads, plan.heads / plan.key_heads, count, plan.head_length});
    auto scores = mx::matmul(grouped, mx::swapaxes(mx::expand_dims(k, 2), -1, -2));
    scores = mx::tanh(scores / mx::array(plan.attention_cap)) * mx::array(plan.attention_cap);
    if (mask) scores = mx::where(*mask, scores, mx::array(std::numeric_limits<float>::lowest()));
    auto out = mx::matmul(mx::softmax(scores, -1, true), mx::expand_dims(v, 2));
    return mx::reshape(out, {1, plan.heads, count, plan.head_length});
}

mx::array Model::attention(Layer &layer, const mx::array &x, const Stop &stop) {
    int count = x.shape(1);
    auto heads = [&](const Matrix &matrix, int number) {
        return mx::reshape(matrix.apply(x, plan.threads, stop), {1, count, number, plan.head_length});
    };
    auto q = heads(layer.query, plan.heads), k = heads(layer.key, plan.key_heads), v = heads(layer.value, plan.key_heads);
    if (layer.query_norm) q = normed(q, layer.query_norm);
    if (layer.key_norm) k = normed(k, layer.key_norm);
    q = rotated(mx::transpose(q, {0, 2, 1, 3}), layer);
    store(layer.keys, rotated(mx::transpose(k, {0, 2, 1, 3}), layer), offset);
    store(layer.values, mx::transpose(v, {0, 2, 1, 3}), offset);
    mx::Shape end{1, plan.key_heads, offset + count, plan.head_length};
    auto out = mixed(
        layer, q, mx::slice(*layer.keys, mx::Shape(4, 0), end), mx::slice(*layer.values, mx::Shape(4, 0), end), count);
    out = mx::reshape(mx::transpose(out, {0, 2, 1, 3}), {1, count, plan.heads * plan.head_length});
    return layer.output.apply(out, plan.threads, stop);
}

mx::array Model::fed(const Layer &layer, const mx::array &x, const Stop &stop) const {
    auto gate = layer.gate.apply(x, plan.threads, stop), up = layer.up.apply(x, plan.threads, stop);
    if (!plan.is_gelu) return layer.down.apply(gate * mx::sigmoid(gate) * up, plan.threads, stop);
    auto inner = mx::array(float(std::sqrt(2 / M_PI))) * (gate + mx::array(0.044715f) * gate * gate * gate);
    auto opened = mx::array(0.5f) * gate * (mx::array(1.0f) + mx::tanh(inner));
    return layer.down.apply(opened * up, plan.threads, stop);
}

mx::array Model::passed(Layer &layer, const mx::array &x, const Stop &stop) {
    auto mixed = attention(layer, normed(x, layer.before_attention), stop);
    auto h = x + (layer.after_attention ? normed(mixed, layer.after_attention) : mixed);
    auto made = fed(layer, normed(h, layer.before_feed), stop);
    return h + (layer.after_feed ? normed(made, layer.after_feed) : made);
}

void Model::compute(const int32_t *tokens, size_t count, float *logits, const Stop &stop) {
    if (count == 0 || count > size_t(plan.context) - size_t(offset))
        throw Failure(HEARTH_MLX_RANGE, "the state has no room for the tokens");
    for (size_t i = 0; i < count; i++)
        if (tokens[i] < 0 || tokens[i] >= plan.vocabulary)
            throw Failure(HEARTH_MLX_RANGE, std::to_string(tokens[i]) + " is no token of the model");
    try {
        auto x = embedding.rows(mx::array(tokens, {1, int(count)}, mx::int32));
        if (plan.embedding_scale != 1) x = x * mx::array(plan.embedding_scale);
        for (auto &layer : layers) {
            x = passed(layer, x, stop);
            // Layer by layer, so that a stop takes effect within one.
            mx::eval(x, *layer.keys, *layer.values);
            if (stop()) throw Stopped{};
        }
        if (logits != nullptr) {
            auto last = mx::reshape(mx::slice(x, {0, int(count) - 1, 0}, {1, int(count), plan.hidden}), {1, plan.hidden});
            auto y = (head ? *head : embedding).apply(normed(last, norm), plan.threads, stop);
            if (plan.final_cap > 0) y = mx::tanh(y / mx::array(plan.final_cap)) * mx::array(plan.final_cap);
            mx::eval(y);
            if (stop()) throw Stopped{};
            std::memcpy(logits, y.data<float>(), size_t(plan.vocabulary) * sizeof(float));
        }
    } catch (const Stopped &) {
        // The keys and values behind the offset are overwritten by the next tokens.
        throw;
    } catch (...) {
        // An array whose computation failed must not be used again.
        truncate(0);
        throw;
    }
    offset += int(count);
}

void Model::truncate(size_t count) {
    offset = int(std::min(count, size_t(offset)));
    if (offset > 0) return;
    for (auto &layer : layers) layer.keys.reset(), layer.values.reset();
}

} // namespace hearth
