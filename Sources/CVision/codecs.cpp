// Decodes and encodes picture files with OpenCV's codecs. scripts/install-vision.sh makes libhearth-codecs.so of it.
#include "codecs.h"

#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include <opencv2/imgcodecs.hpp>

namespace {

/// A file in memory under a path, since OpenCV 4.6 reads single pages of files only.
class memory_file {
public:
    memory_file(const void *bytes, size_t length) : descriptor(memfd_create("hearth", MFD_CLOEXEC)) {
        if (descriptor < 0) throw std::runtime_error("no file in memory can be made");
        const char *rest = static_cast<const char *>(bytes);
        while (length > 0) {
            ssize_t count = write(descriptor, rest, length);
            if (count <= 0) {
                close(descriptor);
                throw std::runtime_error("a file in memory cannot be written");
            }
            rest += count;
            length -= static_cast<size_t>(count);
        }
    }
    ~memory_file() { close(descriptor); }
    memory_file(const memory_file &) = delete;
    memory_file &operator=(const memory_file &) = delete;
    std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor); }

private:
    int descriptor;
};

cv::Mat decode(const void *bytes, size_t length, bool is_tiff, size_t page) {
    if (is_tiff) {
        memory_file file(bytes, length);
        std::vector<cv::Mat> pages;
        cv::imreadmulti(file.path(), pages, static_cast<int>(page), 1, cv::IMREAD_UNCHANGED);
        return pages.empty() ? cv::Mat() : pages[0];
    }
    cv::Mat file(1, static_cast<int>(length), CV_8UC1, const_cast<void *>(bytes));
    return cv::imdecode(file, cv::IMREAD_UNCHANGED);
}

bool encode(const cv::Mat &pixels, std::vector<uint8_t> &bytes) { return cv::imencode(".png", pixels, bytes); }

const hearth_codecs table = {decode, encode};

} // namespace

extern "C" __attribute__((visibility("default"))) const hearth_codecs *hearth_codecs_table(void) { return &table; }
