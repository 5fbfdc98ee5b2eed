// Prepares scanned pages for cutting.
#pragma once
#include <vector>

#include <opencv2/core.hpp>

#include "include/pictures.h"

namespace hearth {

/// A page in grey with even light, dark ink on white, turned so that its lines are straight.
cv::Mat clean(const cv::Mat &picture, double most_degrees, double *angle);

/// The connected pieces of ink of a cleaned page with at least one side of `least_side` pixels.
/// Throws std::length_error for a page of specks.
std::vector<hearth_ink> find_ink(const cv::Mat &page, int least_side);

} // namespace hearth
