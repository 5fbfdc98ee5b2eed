// Reads, cuts and scales pictures with OpenCV. No part of the package's build: scripts/install-vision.sh makes
// libhearth-pictures.so of it, which is loaded at first use.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgproc.hpp>

#include "codecs.h"
#include "include/pictures.h"
#include "pages.hpp"
#include "png.hpp"

struct hearth_picture {
    cv::Mat pixels;
};

namespace {

/// A failure with its kind.
struct failure : std::runtime_error {
    hearth_vision_failure kind;
    failure(hearth_vision_failure kind, const std::string &text) : std::runtime_error(text), kind(kind) {}
};

void report(hearth_vision_error *error, hearth_vision_failure kind, const char *text) {
    error->kind = kind;
    snprintf(error->text, sizeof error->text, "%s", text);
}

/// Runs a body, and reports what it throws.
template <typename Result, typename Body>
Result guarded(hearth_vision_error *error, hearth_vision_failure kind, Result failed, Body body) {
    try {
        return body();
    } catch (const failure &caught) {
        report(error, caught.kind, caught.what());
    } catch (const std::bad_alloc &) {
        report(error, HEARTH_VISION_FAILED, "there is not enough memory");
    } catch (const cv::Exception &caught) {
        report(error, caught.code == cv::Error::StsNoMem ? HEARTH_VISION_FAILED : kind, caught.err.c_str());
    } catch (const std::exception &caught) {
        report(error, kind, caught.what());
    } catch (...) {
        report(error, HEARTH_VISION_FAILED, "no reason is given");
    }
    return failed;
}

/// OpenCV's codecs, loaded at their first use: with the hundred libraries behind them that takes a tenth of a second.
const hearth_codecs &codecs() {
    static const hearth_codecs *const loaded = [] {
        // Beside this library, by its RUNPATH.
        void *library = dlopen("libhearth-codecs.so", RTLD_LAZY | RTLD_LOCAL);
        const hearth_codecs *(*functions)(void) = nullptr;
        if (library != nullptr) functions = reinterpret_cast<decltype(functions)>(dlsym(library, "hearth_codecs_table"));
        if (functions == nullptr) throw failure(HEARTH_VISION_MISSING, dlerror());
        return functions();
    }();
    return *loaded;
}

cv::Mat read(const void *bytes, size_t length, bool is_tiff, size_t page, uint64_t most_pixels) {
    cv::Mat pixels;
    if (!is_tiff) pixels = hearth::decode_png(bytes, length, most_pixels);
    return pixels.empty() ? codecs().decode(bytes, length, is_tiff, page) : pixels;
}

/// Lays a picture with transparency over white.
cv::Mat over_white(const cv::Mat &picture) {
    cv::Mat flat(picture.rows, picture.cols, CV_8UC3);
    for (int row = 0; row < picture.rows; row++) {
        const uint8_t *from = picture.ptr<uint8_t>(row);
        uint8_t *to = flat.ptr<uint8_t>(row);
        for (int column = 0; column < picture.cols; column++, from += 4, to += 3) {
            for (int colour = 0; colour < 3; colour++) {
                to[colour] = static_cast<uint8_t>((from[colour] * from[3] + 255 * (255 - from[3]) + 127) / 255);
            }
        }
    }
    return flat;
}

/// The pixels as seen, for Exif's orientations.
cv::Mat oriented(cv::Mat picture, int orientation) {
    cv::Mat turned;
    switch (orientation) {
    case 2: cv::flip(picture, turned, 1); return turned;
    case 3: cv::flip(picture, turned, -1); return turned;
    case 4: cv::flip(picture, turned, 0); return turned;
    case 5: cv::transpose(picture, turned); return turned;
    case 6: cv::rotate(picture, turned, cv::ROTATE_90_CLOCKWISE); return turned;
    case 7:
        cv::transpose(picture, turned);
        cv::flip(turned, turned, -1);
        return turned;
    case 8: cv::rotate(picture, turned, cv::ROTATE_90_COUNTERCLOCKWISE); return turned;
    default: return picture;
    }
}

hearth_picture *decode(
    const void *bytes, size_t length, bool is_tiff, size_t page, int orientation, bool is_grey, uint64_t most_pixels,
    hearth_vision_error *error) {
    return guarded<hearth_picture *>(error, HEARTH_VISION_UNREADABLE, nullptr, [&] {
        if (length == 0 || length > INT32_MAX) throw failure(HEARTH_VISION_UNREADABLE, "its length is not usable");
        cv::Mat pixels = read(bytes, length, is_tiff, page, most_pixels);
        if (pixels.empty()) throw failure(HEARTH_VISION_UNREADABLE, "it cannot be decoded");
        if (static_cast<uint64_t>(pixels.rows) * static_cast<uint64_t>(pixels.cols) > most_pixels) {
            throw failure(HEARTH_VISION_UNSUPPORTED, "it has too many pixels");
        }
        if (pixels.depth() == CV_16U) {
            pixels.convertTo(pixels, CV_8U, 1.0 / 257);
        } else if (pixels.depth() != CV_8U) {
            throw failure(HEARTH_VISION_UNSUPPORTED, "its pixels are not numbers of 8 or 16 bits");
        }
        switch (pixels.channels()) {
        case 1: break;
        case 4: pixels = over_white(pixels); [[fallthrough]];
        case 3: cv::cvtColor(pixels, pixels, is_grey ? cv::COLOR_BGR2GRAY : cv::COLOR_BGR2RGB); break;
        default: throw failure(HEARTH_VISION_UNSUPPORTED, "it has an unusual number of colours");
        }
        return new hearth_picture{is_tiff ? pixels : oriented(pixels, orientation)};
    });
}

hearth_picture *make(
    const uint8_t *pixels, size_t width, size_t height, size_t colours, hearth_vision_error *error) {
    return guarded<hearth_picture *>(error, HEARTH_VISION_UNREADABLE, nullptr, [&] {
        if (width == 0 || height == 0 || width > INT32_MAX || height > INT32_MAX || (colours != 1 && colours != 3)) {
            throw failure(HEARTH_VISION_UNREADABLE, "its size is not usable");
        }
        cv::Mat view(static_cast<int>(height), static_cast<int>(width), CV_8UC(static_cast<int>(colours)),
                     const_cast<uint8_t *>(pixels));
        return new hearth_picture{view.clone()};
    });
}

void destroy(hearth_picture *picture) { delete picture; }

void measure(const hearth_picture *picture, size_t *width, size_t *height, size_t *colours) {
    *width = static_cast<size_t>(picture->pixels.cols);
    *height = static_cast<size_t>(picture->pixels.rows);
    *colours = static_cast<size_t>(picture->pixels.channels());
}

void copy(const hearth_picture *picture, uint8_t *pixels) {
    const cv::Mat &from = picture->pixels;
    size_t row_bytes = static_cast<size_t>(from.cols) * from.elemSize();
    for (int row = 0; row < from.rows; row++, pixels += row_bytes) memcpy(pixels, from.ptr(row), row_bytes);
}

hearth_picture *cut(
    const hearth_picture *picture, int64_t x, int64_t y, size_t width, size_t height, hearth_vision_error *error) {
    return guarded<hearth_picture *>(error, HEARTH_VISION_FAILED, nullptr, [&] {
        const cv::Mat &from = picture->pixels;
        const int64_t most = 1 << 24;
        if (width == 0 || height == 0 || width > static_cast<size_t>(most) || height > static_cast<size_t>(most) ||
            x < -most || y < -most || x > most || y > most) {
            throw failure(HEARTH_VISION_FAILED, "the part is not usable");
        }
        cv::Mat part(static_cast<int>(height), static_cast<int>(width), from.type(), cv::Scalar::all(255));
        cv::Rect wanted(static_cast<int>(x), static_cast<int>(y), part.cols, part.rows);
        cv::Rect present = wanted & cv::Rect(0, 0, from.cols, from.rows);
        if (present.area() > 0) {
            from(present).copyTo(part(cv::Rect(present.x - wanted.x, present.y - wanted.y, present.width, present.height)));
        }
        return new hearth_picture{part};
    });
}

/// The largest centred part with the given proportions.
cv::Rect centre(const cv::Mat &picture, size_t width, size_t height) {
    int64_t cols = picture.cols, rows = picture.rows;
    int64_t wide = static_cast<int64_t>(width), high = static_cast<int64_t>(height);
    int64_t part_width = cols, part_height = rows;
    if (cols * high > rows * wide) {
        part_width = std::max<int64_t>(1, (rows * wide + high / 2) / high);
    } else {
        part_height = std::max<int64_t>(1, (cols * high + wide / 2) / wide);
    }
    return cv::Rect(
        static_cast<int>((cols - part_width) / 2), static_cast<int>((rows - part_height) / 2),
        static_cast<int>(part_width), static_cast<int>(part_height));
}

bool fill(
    const hearth_picture *picture, const hearth_picture_input *input, float *numbers, hearth_vision_error *error) {
    return guarded<bool>(error, HEARTH_VISION_FAILED, false, [&] {
        cv::Mat part = picture->pixels(centre(picture->pixels, input->width, input->height));
        int colours = input->colours == HEARTH_GREY ? 1 : 3;
        cv::Mat wanted = part;
        // Into pixels of their own: a conversion in place would change the picture.
        auto convert = [&wanted](int code) {
            cv::Mat converted;
            cv::cvtColor(wanted, converted, code);
            wanted = converted;
        };
        if (colours == 1 && part.channels() == 3) convert(cv::COLOR_RGB2GRAY);
        cv::Size size(static_cast<int>(input->width), static_cast<int>(input->height));
        if (wanted.size() != size) {
            cv::Mat scaled;
            // The mean over an area when shrinking, so that thin strokes do not vanish between two samples.
            cv::resize(wanted, scaled, size, 0, 0, wanted.cols > size.width ? cv::INTER_AREA : cv::INTER_LINEAR);
            wanted = scaled;
        }
        if (colours == 3) {
            if (wanted.channels() == 1) convert(cv::COLOR_GRAY2RGB);
            if (input->colours == HEARTH_BGR) convert(cv::COLOR_RGB2BGR);
        }
        size_t plane = input->width * input->height;
        for (int row = 0; row < wanted.rows; row++) {
            const uint8_t *bytes = wanted.ptr<uint8_t>(row);
            for (int column = 0; column < wanted.cols; column++) {
                size_t pixel = static_cast<size_t>(row) * input->width + static_cast<size_t>(column);
                for (int colour = 0; colour < colours; colour++) {
                    size_t place = input->is_interleaved ? pixel * static_cast<size_t>(colours) + static_cast<size_t>(colour)
                                                         : static_cast<size_t>(colour) * plane + pixel;
                    numbers[place] = (static_cast<float>(*bytes++) - input->mean[colour]) * input->scale[colour];
                }
            }
        }
        return true;
    });
}

uint8_t *encode(const hearth_picture *picture, size_t *length, hearth_vision_error *error) {
    return guarded<uint8_t *>(error, HEARTH_VISION_FAILED, nullptr, [&] {
        // Into pixels of their own: a conversion in place would change the picture.
        cv::Mat pixels = picture->pixels;
        if (picture->pixels.channels() == 3) {
            cv::Mat converted;
            cv::cvtColor(picture->pixels, converted, cv::COLOR_RGB2BGR);
            pixels = converted;
        }
        std::vector<uint8_t> bytes;
        if (!codecs().encode(pixels, bytes) || bytes.empty()) {
            throw failure(HEARTH_VISION_FAILED, "it cannot be encoded");
        }
        uint8_t *copied = static_cast<uint8_t *>(malloc(bytes.size()));
        if (copied == nullptr) throw std::bad_alloc();
        memcpy(copied, bytes.data(), bytes.size());
        *length = bytes.size();
        return copied;
    });
}

void release(uint8_t *bytes) { free(bytes); }

hearth_picture *clean(
    const hearth_picture *picture, double most_degrees, double *angle, hearth_vision_error *error) {
    return guarded<hearth_picture *>(error, HEARTH_VISION_FAILED, nullptr, [&] {
        return new hearth_picture{hearth::clean(picture->pixels, most_degrees, angle)};
    });
}

bool find_ink(
    const hearth_picture *page, int32_t least_side, hearth_ink *pieces, size_t capacity, size_t *count,
    hearth_vision_error *error) {
    return guarded<bool>(error, HEARTH_VISION_UNSUPPORTED, false, [&] {
        std::vector<hearth_ink> found = hearth::find_ink(page->pixels, least_side);
        *count = found.size();
        size_t copied = std::min(capacity, found.size());
        if (copied > 0) memcpy(pieces, found.data(), copied * sizeof *pieces);
        return true;
    });
}

/// Keeps OpenCV from writing failures to the standard error output; their exceptions say the same.
int ignore(int, const char *, const char *, const char *, int, void *) { return 0; }

const hearth_pictures table = {HEARTH_PICTURES_VERSION, decode, make, destroy, measure, copy, cut, fill, encode, release,
                               clean, find_ink};

} // namespace

extern "C" __attribute__((visibility("default"))) const hearth_pictures *hearth_pictures_table(void) {
    // One thread, the caller's: a pool of OpenCV's own would compete with the model's.
    cv::setNumThreads(1);
    cv::redirectError(ignore);
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    return &table;
}
