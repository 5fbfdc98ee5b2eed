// OpenCV's codecs in a library of their own, libhearth-codecs.so, which libhearth-pictures.so loads when it needs them.
#pragma once
#include <vector>

#include <opencv2/core.hpp>

struct hearth_codecs {
    /// Decodes one page of a file; empty if it cannot.
    cv::Mat (*decode)(const void *bytes, size_t length, bool is_tiff, size_t page);
    /// Encodes as PNG; false if it cannot.
    bool (*encode)(const cv::Mat &pixels, std::vector<uint8_t> &bytes);
};
