#include "CLlamaShim.h"

#ifdef HEARTH_LLAMA

#include <llama.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <random>
#include <vector>

struct hearth_choice {
    std::mt19937 generator;
    std::vector<int32_t> tokens;
    std::vector<float> weights;
};

namespace {

constexpr int32_t lanes = 16;

/// Computes several maxima side by side, so that the compiler can use vector instructions.
float largest(const float *values, int32_t count) {
    float best[lanes];
    std::fill(best, best + lanes, values[0]);
    int32_t index = 0;
    for (; index + lanes <= count; index += lanes)
        for (int32_t lane = 0; lane < lanes; lane++)
            best[lane] = best[lane] < values[index + lane] ? values[index + lane] : best[lane];
    for (; index < count; index++) best[0] = best[0] < values[index] ? values[index] : best[0];
    return *std::max_element(best, best + lanes);
}

/// Whether any of the next `lanes` values reaches the limit.
bool any_reaches(const float *values, float limit) {
    int32_t found = 0;
    for (int32_t lane = 0; lane < lanes; lane++) found |= values[lane] >= limit;
    return found != 0;
}

}  // namespace

hearth_choice *hearth_choice_new(uint32_t seed) {
    return new (std::nothrow) hearth_choice{std::mt19937(seed), {}, {}};
}

void hearth_choice_free(hearth_choice *choice) { delete choice; }

bool hearth_logits_usable(const float *logits, int32_t count) {
    // A comparison with NaN is false. Counting without a branch lets the compiler use vector instructions.
    int32_t usable = 0, finite = 0;
    for (int32_t index = 0; index < count; index++) {
        usable += logits[index] <= std::numeric_limits<float>::max();
        finite += logits[index] >= std::numeric_limits<float>::lowest();
    }
    return usable == count && finite > 0;
}

int32_t hearth_choice_greedy(const float *logits, int32_t count) {
    const float best = largest(logits, count);
    for (int32_t index = 0; index < count; index++)
        if (logits[index] == best) return index;
    return 0;
}

int32_t hearth_choice_draw(hearth_choice *choice, const float *logits, int32_t count, float temperature) {
    // A token e^40 times less likely than the best does not change a double-precision sum of all. Leaving it out
    // changes one choice in about 10^12.
    constexpr float invisible = 40.0f;
    const float best = largest(logits, count);
    const float scaled_best = best / temperature;
    const float limit = best - invisible * temperature;

    std::uniform_real_distribution<double> unit(0.0, 1.0);
    const double random = unit(choice->generator);
    double sum = 0;
    choice->tokens.clear();
    choice->weights.clear();
    try {
        for (int32_t start = 0; start < count; start += lanes) {
            const int32_t end = std::min(count, start + lanes);
            if (end - start == lanes && !any_reaches(logits + start, limit)) continue;
            for (int32_t index = start; index < end; index++) {
                if (!(logits[index] >= limit)) continue;
                const float weight = std::exp(logits[index] / temperature - scaled_best);
                choice->tokens.push_back(index);
                choice->weights.push_back(weight);
                sum += weight;
            }
        }
    } catch (const std::bad_alloc &) {
        return hearth_choice_greedy(logits, count);
    }
    const double target = sum * random;
    double running = 0;
    for (size_t index = 0; index < choice->tokens.size(); index++) {
        running += choice->weights[index];
        if (running >= target) return choice->tokens[index];
    }
    // If all logits are NaN, no token remains.
    return choice->tokens.empty() ? hearth_choice_greedy(logits, count) : choice->tokens.back();
}

int32_t hearth_chain_draw(void *chain, const float *logits, int32_t count) {
    // Reused for each draw: a constrained answer draws several times for each token.
    thread_local std::vector<llama_token_data> tokens;
    try {
        tokens.resize(count);
    } catch (const std::bad_alloc &) {
        return -1;
    }
    for (int32_t index = 0; index < count; index++) tokens[index] = {index, logits[index], 0};
    llama_token_data_array candidates = {tokens.data(), static_cast<size_t>(count), -1, false};
    llama_sampler_apply(static_cast<llama_sampler *>(chain), &candidates);
    return candidates.selected >= 0 ? candidates.data[candidates.selected].id : 0;
}

int32_t hearth_logits_best(
    const float *logits, int32_t count, float scale, int32_t *tokens, int32_t capacity, double *log_sum) {
    const double best = static_cast<double>(largest(logits, count)) * scale;
    double sum = 0;
    for (int32_t index = 0; index < count; index++) sum += std::exp(static_cast<double>(logits[index]) * scale - best);
    *log_sum = best + std::log(sum);
    // Insertion into a short sorted list: almost every logit is below its last one.
    int32_t found = 0;
    for (int32_t index = 0; index < count; index++) {
        const float value = logits[index];
        if (found == capacity && (capacity == 0 || !(value > logits[tokens[found - 1]]))) continue;
        int32_t place = found == capacity ? found - 1 : found++;
        for (; place > 0 && value > logits[tokens[place - 1]]; place--) tokens[place] = tokens[place - 1];
        tokens[place] = index;
    }
    return found;
}

int32_t hearth_chain_chances(
    void *chain, const float *logits, int32_t count, int32_t *tokens, float *log_probabilities) {
    std::vector<llama_token_data> data;
    try {
        data.resize(count);
    } catch (const std::bad_alloc &) {
        return -1;
    }
    for (int32_t index = 0; index < count; index++) data[index] = {index, logits[index], 0};
    llama_token_data_array candidates = {data.data(), static_cast<size_t>(count), -1, false};
    // A copy, because the choice at the end of the chain uses up random numbers.
    llama_sampler *copy = llama_sampler_clone(static_cast<llama_sampler *>(chain));
    if (!copy) return -1;
    llama_sampler_apply(copy, &candidates);
    llama_sampler_free(copy);
    std::sort(candidates.data, candidates.data + candidates.size, [](const auto &left, const auto &right) {
        return left.logit > right.logit;
    });
    double sum = 0;
    for (size_t index = 0; index < candidates.size; index++)
        sum += std::exp(static_cast<double>(candidates.data[index].logit) - candidates.data[0].logit);
    int32_t found = 0;
    for (size_t index = 0; index < candidates.size; index++) {
        const double value = candidates.data[index].logit - candidates.data[0].logit - std::log(sum);
        if (!std::isfinite(value)) break;
        tokens[found] = candidates.data[index].id;
        log_probabilities[found++] = static_cast<float>(value);
    }
    return found;
}

#endif
