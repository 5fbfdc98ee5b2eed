// Prepares scanned pages for cutting: even light, straight lines, pieces of ink.
#include "pages.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include <opencv2/imgproc.hpp>

namespace hearth {
namespace {

/// The side of the copy in which light and angle are measured, in pixels.
const double measured_side = 1200;
/// The smallest difference between ink and paper, of 255.
const double least_contrast = 40;
/// The most pieces of ink: a page has a few thousand.
const size_t most_pieces = 1 << 22;

cv::Mat grey(const cv::Mat &picture) {
    if (picture.channels() == 1) return picture;
    cv::Mat result;
    cv::cvtColor(picture, result, cv::COLOR_RGB2GRAY);
    return result;
}

cv::Mat shrunk(const cv::Mat &page) {
    double scale = std::min(1.0, measured_side / std::max(page.cols, page.rows));
    if (scale == 1.0) return page.clone();
    cv::Mat small;
    cv::resize(page, small, cv::Size(), scale, scale, cv::INTER_AREA);
    return small;
}

/// Divides by the paper's brightness, which is the brightest in the surroundings.
cv::Mat evened(const cv::Mat &page) {
    cv::Mat paper = shrunk(page);
    int window = std::max(15, std::min(paper.cols, paper.rows) / 16) | 1;
    cv::dilate(paper, paper, cv::getStructuringElement(cv::MORPH_RECT, cv::Size(window, window)));
    cv::blur(paper, paper, cv::Size(window, window));
    cv::Mat result;
    if (paper.size() != page.size()) cv::resize(paper, paper, page.size(), 0, 0, cv::INTER_LINEAR);
    cv::divide(page, paper, result, 255);
    return result;
}

/// The brightness that divides ink from paper (Otsu); -1 without contrast.
double threshold(const cv::Mat &page) {
    cv::Mat ignored;
    double value = cv::threshold(page, ignored, 0, 255, cv::THRESH_BINARY | cv::THRESH_OTSU);
    double paper = cv::mean(page, ignored)[0];
    cv::bitwise_not(ignored, ignored);
    double ink = cv::countNonZero(ignored) > 0 ? cv::mean(page, ignored)[0] : paper;
    return paper - ink >= least_contrast ? value : -1;
}

/// How well points lie in lines of either direction, after turning by an angle.
double alignment(const std::vector<cv::Point> &points, double degrees, int length) {
    double radians = degrees * CV_PI / 180, sine = std::sin(radians), cosine = std::cos(radians);
    std::vector<int> rows(static_cast<size_t>(4 * length + 2)), columns(rows.size());
    for (const cv::Point &point : points) {
        rows[static_cast<size_t>(std::lround(point.y * cosine - point.x * sine) + 2 * length)]++;
        columns[static_cast<size_t>(std::lround(point.x * cosine + point.y * sine) + 2 * length)]++;
    }
    auto squares = [](const std::vector<int> &counts) {
        return std::accumulate(counts.begin(), counts.end(), 0.0, [](double sum, int count) {
            return sum + static_cast<double>(count) * count;
        });
    };
    return squares(rows) + squares(columns);
}

/// By how many degrees the lines of a page run down to the right.
double slant(const cv::Mat &page, double most_degrees) {
    cv::Mat small = shrunk(page);
    double limit = threshold(small);
    if (limit < 0) return 0;
    std::vector<cv::Point> points;
    cv::findNonZero(small <= limit, points);
    const size_t enough = 60000;
    if (points.size() < 50) return 0;
    if (points.size() > enough) {
        size_t step = points.size() / enough + 1;
        std::vector<cv::Point> some;
        for (size_t index = 0; index < points.size(); index += step) some.push_back(points[index]);
        points = some;
    }
    int length = std::max(small.cols, small.rows);
    double best = 0, best_alignment = alignment(points, 0, length);
    auto search = [&](double from, double to, double step) {
        for (double degrees = from; degrees <= to + step / 2; degrees += step) {
            double found = alignment(points, degrees, length);
            if (found > best_alignment) best = degrees, best_alignment = found;
        }
    };
    search(-most_degrees, most_degrees, 0.25);
    search(best - 0.2, best + 0.2, 0.05);
    return best;
}

/// Turns a page, on a canvas that holds all of it.
cv::Mat turned(const cv::Mat &page, double degrees) {
    cv::Point2f middle(static_cast<float>(page.cols - 1) / 2, static_cast<float>(page.rows - 1) / 2);
    cv::Mat motion = cv::getRotationMatrix2D(middle, degrees, 1);
    double cosine = std::abs(motion.at<double>(0, 0)), sine = std::abs(motion.at<double>(0, 1));
    int width = static_cast<int>(std::ceil(page.cols * cosine + page.rows * sine));
    int height = static_cast<int>(std::ceil(page.cols * sine + page.rows * cosine));
    motion.at<double>(0, 2) += (width - page.cols) / 2.0;
    motion.at<double>(1, 2) += (height - page.rows) / 2.0;
    cv::Mat result;
    cv::warpAffine(page, result, motion, cv::Size(width, height), cv::INTER_LINEAR, cv::BORDER_CONSTANT,
                   cv::Scalar::all(255));
    return result;
}

/// Joins the dark runs of rows to pieces. Keeps the runs of two rows and the pieces, no picture of labels.
class pieces {
public:
    struct run {
        int start, end;
        size_t piece;
    };

    void add(const uint8_t *row, int width, int y, double limit) {
        std::vector<run> runs;
        size_t above = 0;
        for (int x = 0; x < width; x++) {
            if (row[x] > limit) continue;
            int start = x;
            while (x < width && row[x] <= limit) x++;
            // Pixels that touch at a corner belong together.
            while (above < previous.size() && previous[above].end < start) above++;
            size_t piece = none;
            for (size_t index = above; index < previous.size() && previous[index].start <= x; index++) {
                piece = piece == none ? root(previous[index].piece) : join(piece, previous[index].piece);
            }
            if (piece == none) piece = begin();
            grow(piece, start, x, y);
            runs.push_back({start, x, piece});
        }
        previous.swap(runs);
    }

    std::vector<hearth_ink> found(int least_side) {
        std::vector<hearth_ink> result;
        for (size_t index = 0; index < parents.size(); index++) {
            const hearth_ink &box = boxes[index];
            if (parents[index] == index && std::max(box.width, box.height) >= least_side) result.push_back(box);
        }
        return result;
    }

private:
    static const size_t none = SIZE_MAX;
    std::vector<run> previous;
    std::vector<size_t> parents;
    std::vector<hearth_ink> boxes;

    size_t begin() {
        if (parents.size() >= most_pieces) throw std::length_error("it has more specks than a page has");
        parents.push_back(parents.size());
        boxes.push_back({0, 0, 0, 0, 0});
        return parents.size() - 1;
    }

    size_t root(size_t piece) {
        while (parents[piece] != piece) piece = parents[piece] = parents[parents[piece]];
        return piece;
    }

    size_t join(size_t left, size_t right) {
        left = root(left), right = root(right);
        if (left == right) return left;
        if (right < left) std::swap(left, right);
        parents[right] = left;
        const hearth_ink &other = boxes[right];
        include(boxes[left], other.x, other.y, other.x + other.width, other.y + other.height, other.area);
        return left;
    }

    void grow(size_t piece, int start, int end, int y) {
        include(boxes[root(piece)], start, y, end, y + 1, end - start);
    }

    static void include(hearth_ink &box, int left, int top, int right, int bottom, int area) {
        if (box.area > 0) {
            left = std::min(left, box.x), top = std::min(top, box.y);
            right = std::max(right, box.x + box.width), bottom = std::max(bottom, box.y + box.height);
        }
        box = {left, top, right - left, bottom - top, box.area + area};
    }
};

} // namespace

cv::Mat clean(const cv::Mat &picture, double most_degrees, double *angle) {
    cv::Mat page = grey(picture);
    // White on black, as on a blackboard or a negative.
    if (cv::mean(page)[0] < 96) {
        cv::Mat inverted;
        cv::bitwise_not(page, inverted);
        page = inverted;
    }
    page = evened(page);
    *angle = most_degrees > 0 ? slant(page, most_degrees) : 0;
    if (std::abs(*angle) < 0.1) {
        *angle = 0;
        return page;
    }
    return turned(page, *angle);
}

std::vector<hearth_ink> find_ink(const cv::Mat &page, int least_side) {
    CV_Assert(page.type() == CV_8UC1);
    double limit = threshold(page);
    if (limit < 0) return {};
    pieces all;
    for (int row = 0; row < page.rows; row++) all.add(page.ptr<uint8_t>(row), page.cols, row, limit);
    return all.found(least_side);
}

} // namespace hearth
