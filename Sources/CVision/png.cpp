// Decodes the usual kinds of PNG files with libpng alone: OpenCV's codecs bring a hundred libraries with them, whose loading takes
// longer than a classification.
#include "png.hpp"

#include <csetjmp>
#include <cstring>
#include <new>
#include <stdexcept>
#include <vector>

#include <png.h>

namespace hearth {
namespace {

struct source {
    const uint8_t *bytes;
    size_t left;
};

/// A reader of libpng, freed with its scope.
struct reader {
    png_structp png = nullptr;
    png_infop info = nullptr;

    reader(png_error_ptr fail, png_error_ptr warn)
        : png(png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, fail, warn)) {
        if (png != nullptr) info = png_create_info_struct(png);
        if (info == nullptr) {
            png_destroy_read_struct(&png, nullptr, nullptr);
            throw std::bad_alloc();
        }
    }
    ~reader() { png_destroy_read_struct(&png, &info, nullptr); }
    reader(const reader &) = delete;
    reader &operator=(const reader &) = delete;
};

void read(png_structp png, png_bytep to, size_t count) {
    auto *from = static_cast<source *>(png_get_io_ptr(png));
    if (count > from->left) png_error(png, "it is cut off");
    memcpy(to, from->bytes, count);
    from->bytes += count;
    from->left -= count;
}

[[noreturn]] void fail(png_structp png, png_const_charp) { png_longjmp(png, 1); }

void ignore(png_structp, png_const_charp) {}

// libpng leaves these two by a jump. Nothing that has a destructor is made in them, and what they write to belongs to their caller.

bool read_header(const reader &file, png_uint_32 *width, png_uint_32 *height, int *depth, int *colours) {
    if (setjmp(png_jmpbuf(file.png)) != 0) return false;
    png_read_info(file.png, file.info);
    png_get_IHDR(file.png, file.info, width, height, depth, colours, nullptr, nullptr, nullptr);
    return true;
}

bool read_rows(const reader &file, png_bytepp rows, bool is_coloured) {
    if (setjmp(png_jmpbuf(file.png)) != 0) return false;
    if (is_coloured) png_set_bgr(file.png);
    png_set_interlace_handling(file.png);
    png_read_update_info(file.png, file.info);
    png_read_image(file.png, rows);
    png_read_end(file.png, nullptr);
    return true;
}

} // namespace

cv::Mat decode_png(const void *bytes, size_t length, uint64_t most_pixels) {
    const auto *begin = static_cast<const uint8_t *>(bytes);
    if (length < 8 || png_sig_cmp(begin, 0, 8) != 0) return cv::Mat();
    reader file(fail, ignore);
    source from{begin, length};
    png_set_read_fn(file.png, &from, read);
    png_uint_32 width = 0, height = 0;
    int depth = 0, colours = 0;
    if (!read_header(file, &width, &height, &depth, &colours)) throw std::runtime_error("it cannot be decoded");
    bool is_coloured = colours == PNG_COLOR_TYPE_RGB;
    bool is_usual = depth == 8 && (is_coloured || colours == PNG_COLOR_TYPE_GRAY);
    if (!is_usual || png_get_valid(file.png, file.info, PNG_INFO_tRNS) != 0) return cv::Mat();
    if (static_cast<uint64_t>(width) * height > most_pixels) throw std::length_error("it has too many pixels");
    cv::Mat pixels(static_cast<int>(height), static_cast<int>(width), is_coloured ? CV_8UC3 : CV_8UC1);
    std::vector<png_bytep> rows(height);
    for (png_uint_32 row = 0; row < height; row++) rows[row] = pixels.ptr(static_cast<int>(row));
    if (!read_rows(file, rows.data(), is_coloured)) throw std::runtime_error("it cannot be decoded");
    return pixels;
}

} // namespace hearth
