// Decodes the usual kinds of PNG files without OpenCV's codecs.
#pragma once
#include <cstddef>
#include <cstdint>

#include <opencv2/core.hpp>

namespace hearth {

/// The pixels of a PNG file of 8-bit grey or colour without transparency, as OpenCV decodes them (grey, or blue, green, red).
/// Empty for any other file, for which OpenCV's codecs are wanted. Throws std::runtime_error for a damaged file, and
/// std::length_error for more than `most_pixels`.
cv::Mat decode_png(const void *bytes, size_t length, uint64_t most_pixels);

} // namespace hearth
