// The functions that C calls.
#include <cstdio>

#include "model.hpp"

struct hearth_mlx_model {
    hearth::Model model;
};

namespace {

void report(hearth_mlx_error *error, hearth_mlx_failure kind, const char *text) {
    error->kind = kind;
    std::snprintf(error->text, sizeof error->text, "%s", text);
}

/// Runs a body; the reason of a failure is in `error`.
template <class Body> auto guarded(hearth_mlx_error *error, Body body) -> decltype(body()) {
    error->kind = HEARTH_MLX_NONE, error->text[0] = 0;
    try {
        return body();
    } catch (const hearth::Stopped &) {
    } catch (const hearth::Failure &failure) {
        report(error, failure.kind, failure.what());
    } catch (const std::exception &failure) {
        report(error, HEARTH_MLX_FAILED, failure.what());
    } catch (...) {
        report(error, HEARTH_MLX_FAILED, "for an unknown reason");
    }
    return {};
}

const hearth_mlx_table table = {
    HEARTH_MLX_VERSION,
    mlx::core::version(),
    [](const hearth_mlx_plan *plan, bool (*progress)(float, void *), void *user, hearth_mlx_error *error) {
        return guarded(error, [&] { return new hearth_mlx_model{hearth::Model(*plan, progress, user)}; });
    },
    [](hearth_mlx_model *model) { delete model; },
    [](hearth_mlx_model *model, const int32_t *tokens, size_t count, float *logits, bool (*stop)(void *), void *user,
       hearth_mlx_error *error) {
        return guarded(error, [&] {
            model->model.compute(tokens, count, logits, hearth::Stop{stop, user});
            return true;
        });
    },
    [](const hearth_mlx_model *model) { return model->model.count(); },
    [](hearth_mlx_model *model, size_t count) { model->model.truncate(count); },
    [](uint64_t bytes) { mlx::core::set_cache_limit(bytes); },
    [] { mlx::core::clear_cache(); },
    [] {
        return hearth_mlx_memory{
            mlx::core::get_active_memory(), mlx::core::get_cache_memory(), mlx::core::get_peak_memory()};
    },
};

} // namespace

extern "C" __attribute__((visibility("default"))) const hearth_mlx_table *hearth_mlx_functions(void) { return &table; }
