#include "CLlamaShim.h"
#include "guarded.hpp"
#include "loading.hpp"

#ifdef HEARTH_LLAMA

#include <fcntl.h>
#include <ggml.h>
#include <gguf.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

/// About the bytes of one read.
constexpr size_t piece_size = 1 << 20;

struct Closing {
    int descriptor;
    ~Closing() { close(descriptor); }
};

/// Reads `count` bytes from an offset.
void read_all(int file, char *bytes, size_t count, off_t offset) {
    while (count > 0) {
        const ssize_t got = pread(file, bytes, count, offset);
        if (got <= 0) throw std::runtime_error("its file cannot be read to its end");
        bytes += got;
        count -= got;
        offset += got;
    }
}

}  // namespace

bool hearth_weights_check(
    const char *path, bool (*progress)(float, void *), void *user, char **tensor, char **error) {
    const hearth::Loading loading;
    static const char done = 0;
    return hearth::guarded(error, "llama.cpp cannot read it", [&]() -> const char * {
        const std::unique_ptr<gguf_context, decltype(&gguf_free)> header(
            gguf_init_from_file(path, {/* .no_alloc = */ true, /* .ctx = */ nullptr}), gguf_free);
        const Closing file = {open(path, O_RDONLY | O_CLOEXEC)};
        if (!header || file.descriptor < 0) throw std::runtime_error("its file cannot be opened");
        const int64_t count = gguf_get_n_tensors(header.get());
        const off_t start = gguf_get_data_offset(header.get());
        std::vector<char> piece;
        for (int64_t index = 0; index < count; index++) {
            const ggml_type type = gguf_get_tensor_type(header.get(), index);
            const size_t block = ggml_type_size(type), size = gguf_get_tensor_size(header.get(), index);
            if (block == 0) continue;
            piece.resize(std::max(block, piece_size / block * block));
            for (size_t at = 0; at < size; at += piece.size()) {
                if (progress && !progress(1, user)) throw std::runtime_error("it was stopped");
                const size_t part = std::min(piece.size(), size - at);
                read_all(
                    file.descriptor, piece.data(), part, start + gguf_get_tensor_offset(header.get(), index) + at);
                if (!ggml_validate_row_data(type, piece.data(), part)) {
                    const char *name = gguf_get_tensor_name(header.get(), index);
                    if (tensor) *tensor = hearth::copied(name);
                    throw std::runtime_error(name);
                }
            }
        }
        return &done;
    });
}

#endif
