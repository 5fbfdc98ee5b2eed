// A small stable interface to libmtmd, whose own interface changes from release to release.
#include "CLlamaShim.h"
#include "guarded.hpp"
#include "loading.hpp"

#ifdef HEARTH_LLAMA

#include <llama.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// A system-wide libllama may come without libmtmd.
#if __has_include("mtmd.h") && __has_include("mtmd-helper.h")
#define HEARTH_HAS_VISION 1
#include <mtmd-helper.h>
#include <mtmd.h>
#else
#define HEARTH_HAS_VISION 0
#endif

using hearth::guarded;

#if HEARTH_HAS_VISION

static_assert(
    sizeof(void *) != 8 || sizeof(mtmd_context_params) == 96,
    "this shim is written for llama.cpp " HEARTH_LLAMA_VERSION ": see docs/dependencies.md");

struct hearth_vision {
    mtmd::context_ptr context;
    int32_t width = 0;
    bool depends_on_place = false;
};

struct hearth_picture {
    mtmd::bitmap_ptr bitmap;
};

struct hearth_pieces {
    mtmd::input_chunks_ptr chunks{mtmd_input_chunks_init()};
};

namespace {

struct Sink {
    void (*log)(int32_t, const char *, void *) = nullptr;
    void *user = nullptr;
};

void pass_on(ggml_log_level level, const char *text, void *sink) {
    const auto *target = static_cast<const Sink *>(sink);
    target->log(static_cast<int32_t>(level), text, target->user);
}

/// Turns an abort in `body` into an exception. Only for code that runs entirely on this thread.
template <typename Body>
auto unwinding(char **error, const char *vague, Body body) -> decltype(body()) {
    const hearth::Loading loading;
    return guarded(error, vague, body);
}

/// Scales pixels down; a new pixel is the mean of the old pixels in its area.
std::vector<unsigned char> shrunk(const unsigned char *pixels, size_t width, size_t height, size_t new_width, size_t new_height) {
    std::vector<unsigned char> result(new_width * new_height * 3);
    std::vector<uint64_t> sums(new_width * 3);
    for (size_t y = 0; y < new_height; y++) {
        const size_t top = y * height / new_height;
        const size_t bottom = std::max(top + 1, (y + 1) * height / new_height);
        std::fill(sums.begin(), sums.end(), 0);
        for (size_t row = top; row < bottom; row++) {
            const unsigned char *line = pixels + row * width * 3;
            for (size_t x = 0; x < new_width; x++) {
                const size_t left = x * width / new_width;
                const size_t right = std::max(left + 1, (x + 1) * width / new_width);
                for (size_t column = left; column < right; column++) {
                    for (size_t channel = 0; channel < 3; channel++) sums[x * 3 + channel] += line[column * 3 + channel];
                }
            }
        }
        for (size_t x = 0; x < new_width; x++) {
            const size_t left = x * width / new_width;
            const size_t count = (bottom - top) * (std::max(left + 1, (x + 1) * width / new_width) - left);
            for (size_t channel = 0; channel < 3; channel++) {
                result[(y * new_width + x) * 3 + channel] =
                    static_cast<unsigned char>((sums[x * 3 + channel] + count / 2) / count);
            }
        }
    }
    return result;
}

/// Turns the pixels upright, of a picture that is `width` and `height` in the file.
std::vector<unsigned char> upright(const unsigned char *pixels, size_t width, size_t height, int32_t orientation) {
    std::vector<unsigned char> result(width * height * 3);
    const bool is_sideways = orientation > 4;
    const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    const bool from_below = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    const size_t columns = is_sideways ? height : width, rows = is_sideways ? width : height;
    for (size_t y = 0; y < rows; y++) {
        for (size_t x = 0; x < columns; x++) {
            size_t column = is_sideways ? y : x, row = is_sideways ? x : y;
            if (from_right) column = width - 1 - column;
            if (from_below) row = height - 1 - row;
            std::copy_n(pixels + (row * width + column) * 3, 3, result.data() + (y * columns + x) * 3);
        }
    }
    return result;
}

/// Compares the parts of two equal pictures with a word between them, in all properties that the encoding depends on.
bool differ_by_place(const mtmd_context *context) {
    const mtmd::bitmap_ptr bitmap(mtmd_bitmap_init(64, 64, nullptr));
    const mtmd_input_text word{"a", 1, false, false};
    const mtmd_input_part picture_part{nullptr, bitmap.get()};
    const mtmd_input_part word_part{&word, nullptr};
    const mtmd_input_part *parts[] = {&picture_part, &word_part, &picture_part};
    const mtmd::input_chunks_ptr chunks(mtmd_input_chunks_init());
    if (mtmd_tokenize_from_parts(context, chunks.get(), parts, 3, false) != 0) {
        throw std::runtime_error("it cannot cut a picture into parts");
    }
    std::vector<std::vector<char>> seen;
    for (size_t index = 0; index < mtmd_input_chunks_size(chunks.get()); index++) {
        const mtmd_input_chunk *chunk = mtmd_input_chunks_get(chunks.get(), index);
        if (mtmd_input_chunk_get_type(chunk) != MTMD_INPUT_CHUNK_TYPE_IMAGE) continue;
        size_t length = 0;
        mtmd_input_chunk_save(chunk, nullptr, 0, &length);
        std::vector<char> bytes(length);
        if (mtmd_input_chunk_save(chunk, bytes.data(), length, &length) != 0) return true;
        seen.push_back(std::move(bytes));
    }
    if (seen.empty() || seen.size() % 2 != 0) return true;
    const size_t half = seen.size() / 2;
    return !std::equal(seen.begin(), seen.begin() + half, seen.begin() + half);
}

const mtmd_input_chunk *picture_part(const hearth_pieces *pieces, size_t index) {
    if (index >= mtmd_input_chunks_size(pieces->chunks.get())) return nullptr;
    const mtmd_input_chunk *chunk = mtmd_input_chunks_get(pieces->chunks.get(), index);
    return mtmd_input_chunk_get_type(chunk) == MTMD_INPUT_CHUNK_TYPE_IMAGE ? chunk : nullptr;
}

}  // namespace

void hearth_vision_log(void (*log)(int32_t, const char *, void *), void *user) {
    static Sink sink;
    sink = {log, user};
    mtmd_helper_log_set(pass_on, &sink);
}

hearth_vision *hearth_vision_open(
    const char *path, const llama_model *model, const hearth_vision_options *options, char **error) {
    return unwinding(error, "it is no projector that this engine knows", [&]() -> hearth_vision * {
        mtmd_context_params params = mtmd_context_params_default();
        params.use_gpu = options->gpu;
        params.n_threads = options->threads;
        params.print_timings = false;
        params.warmup = false;
        if (options->minimum_tokens > 0) params.image_min_tokens = options->minimum_tokens;
        if (options->maximum_tokens > 0) params.image_max_tokens = options->maximum_tokens;
        auto vision = std::make_unique<hearth_vision>();
        vision->context.reset(mtmd_init_from_file(path, model, params));
        // The reason is in the log.
        if (!vision->context) return nullptr;
        if (!mtmd_support_vision(vision->context.get())) throw std::runtime_error("it reads sound, not pictures");
        vision->width = llama_model_n_embd_inp(model);
        vision->depends_on_place = differ_by_place(vision->context.get());
        return vision.release();
    });
}

void hearth_vision_free(hearth_vision *vision) { delete vision; }

bool hearth_vision_looks_both_ways(const hearth_vision *vision) {
    return mtmd_decode_use_non_causal(vision->context.get(), nullptr);
}

bool hearth_vision_has_grid_positions(const hearth_vision *vision) {
    return mtmd_decode_use_mrope(vision->context.get());
}

int32_t hearth_vision_width(const hearth_vision *vision) { return vision->width; }

bool hearth_vision_depends_on_place(const hearth_vision *vision) { return vision->depends_on_place; }

hearth_picture *hearth_picture_read(
    const uint8_t *bytes, size_t count, hearth_size expected, hearth_size wanted, int32_t orientation, char **error) {
    return guarded(error, "its pixels cannot be read", [&]() -> hearth_picture * {
        // No context is passed: only sound needs one, and its formats are refused earlier.
        mtmd::bitmap_ptr bitmap(
            mtmd_helper_bitmap_init_from_buf(nullptr, bytes, count, false, mtmd_helper_init_opt_default()).bitmap);
        if (!bitmap) throw std::runtime_error("its pixels cannot be read");
        if (mtmd_bitmap_get_nx(bitmap.get()) != expected.width || mtmd_bitmap_get_ny(bitmap.get()) != expected.height) {
            throw std::runtime_error("it has another size than its header says");
        }
        // The size before the orientation is applied.
        hearth_size size = wanted;
        if (orientation > 4) std::swap(size.width, size.height);
        if (size.width != expected.width || size.height != expected.height) {
            const auto pixels = shrunk(
                mtmd_bitmap_get_data(bitmap.get()), expected.width, expected.height, size.width, size.height);
            bitmap.reset(mtmd_bitmap_init(size.width, size.height, pixels.data()));
        }
        if (orientation > 1) {
            const auto pixels = upright(mtmd_bitmap_get_data(bitmap.get()), size.width, size.height, orientation);
            bitmap.reset(mtmd_bitmap_init(wanted.width, wanted.height, pixels.data()));
        }
        return new hearth_picture{std::move(bitmap)};
    });
}

hearth_picture *hearth_picture_blank(hearth_size size) {
    return guarded(nullptr, "", [&]() -> hearth_picture * {
        return new hearth_picture{mtmd::bitmap_ptr(mtmd_bitmap_init(size.width, size.height, nullptr))};
    });
}

void hearth_picture_free(hearth_picture *picture) { delete picture; }

const uint8_t *hearth_picture_pixels(const hearth_picture *picture) {
    return mtmd_bitmap_get_n_bytes(picture->bitmap.get()) > 0 ? mtmd_bitmap_get_data(picture->bitmap.get()) : nullptr;
}

hearth_pieces *hearth_pieces_cut(const hearth_vision *vision, const hearth_picture *picture, char **error) {
    return unwinding(error, "it cannot be cut into parts", [&]() -> hearth_pieces * {
        auto pieces = std::make_unique<hearth_pieces>();
        // Parts instead of a text with markers: a marker in the user's text must not stand for a picture.
        const mtmd_input_part part{nullptr, picture->bitmap.get()};
        const mtmd_input_part *parts[] = {&part};
        if (mtmd_tokenize_from_parts(vision->context.get(), pieces->chunks.get(), parts, 1, false) != 0) {
            throw std::runtime_error("it cannot be cut into parts");
        }
        return pieces.release();
    });
}

void hearth_pieces_free(hearth_pieces *pieces) { delete pieces; }

size_t hearth_pieces_count(const hearth_pieces *pieces) { return mtmd_input_chunks_size(pieces->chunks.get()); }

hearth_piece hearth_pieces_get(const hearth_pieces *pieces, size_t index) {
    hearth_piece piece{};
    if (index >= mtmd_input_chunks_size(pieces->chunks.get())) return piece;
    const mtmd_input_chunk *chunk = mtmd_input_chunks_get(pieces->chunks.get(), index);
    piece.is_picture = mtmd_input_chunk_get_type(chunk) != MTMD_INPUT_CHUNK_TYPE_TEXT;
    piece.token_count = mtmd_input_chunk_get_n_tokens(chunk);
    piece.position_count = mtmd_input_chunk_get_n_pos(chunk);
    if (!piece.is_picture) piece.tokens = mtmd_input_chunk_get_tokens_text(chunk, &piece.token_count);
    return piece;
}

bool hearth_piece_encode(
    hearth_vision *vision, const hearth_pieces *pieces, size_t index, float *vectors, size_t count, char **error) {
    // Not unwound, because worker threads take part.
    const char *done = guarded(error, "the engine cannot encode it", [&]() -> const char * {
        const mtmd_input_chunk *chunk = picture_part(pieces, index);
        const size_t expected = chunk ? mtmd_input_chunk_get_n_tokens(chunk) * static_cast<size_t>(vision->width) : 0;
        if (!chunk || expected != count) throw std::runtime_error("it has other parts than was said");
        if (mtmd_encode_chunk(vision->context.get(), chunk) != 0) throw std::runtime_error("the engine cannot encode it");
        const float *made = mtmd_get_output_embd(vision->context.get());
        std::copy(made, made + count, vectors);
        return "done";
    });
    return done != nullptr;
}

int32_t hearth_piece_decode(
    hearth_vision *vision, llama_context *context, const hearth_pieces *pieces, size_t index, const float *vectors,
    int32_t position, int32_t sequence, int32_t batch) {
    const mtmd_input_chunk *chunk = picture_part(pieces, index);
    if (!chunk || batch < 1) return -1;
    llama_pos next = position;
    try {
        // The vectors are only read.
        return mtmd_helper_decode_image_chunk(
            vision->context.get(), context, chunk, const_cast<float *>(vectors), position, sequence, batch, &next, nullptr,
            nullptr);
    } catch (...) {
        return -3;
    }
}

#else

void hearth_vision_log(void (*)(int32_t, const char *, void *), void *) {}

hearth_vision *hearth_vision_open(const char *, const llama_model *, const hearth_vision_options *, char **error) {
    return guarded(error, "", []() -> hearth_vision * {
        throw std::runtime_error("this build of llama.cpp has no vision library");
    });
}

void hearth_vision_free(hearth_vision *) {}
bool hearth_vision_looks_both_ways(const hearth_vision *) { return false; }
bool hearth_vision_has_grid_positions(const hearth_vision *) { return false; }
int32_t hearth_vision_width(const hearth_vision *) { return 0; }
bool hearth_vision_depends_on_place(const hearth_vision *) { return false; }
hearth_picture *hearth_picture_read(const uint8_t *, size_t, hearth_size, hearth_size, int32_t, char **) { return nullptr; }
hearth_picture *hearth_picture_blank(hearth_size) { return nullptr; }
void hearth_picture_free(hearth_picture *) {}
const uint8_t *hearth_picture_pixels(const hearth_picture *) { return nullptr; }
hearth_pieces *hearth_pieces_cut(const hearth_vision *, const hearth_picture *, char **) { return nullptr; }
void hearth_pieces_free(hearth_pieces *) {}
size_t hearth_pieces_count(const hearth_pieces *) { return 0; }
hearth_piece hearth_pieces_get(const hearth_pieces *, size_t) { return {}; }
bool hearth_piece_encode(hearth_vision *, const hearth_pieces *, size_t, float *, size_t, char **) { return false; }
int32_t hearth_piece_decode(
    hearth_vision *, llama_context *, const hearth_pieces *, size_t, const float *, int32_t, int32_t, int32_t) {
    return -1;
}

#endif

#endif
