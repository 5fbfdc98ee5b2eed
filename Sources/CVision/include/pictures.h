// The functions of libhearth-pictures.so, which scripts/install-vision.sh builds from pictures.cpp and OpenCV.
// No function throws an exception.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hearth_vision_failure {
    HEARTH_VISION_NONE = 0,
    /// A library is missing or of another version.
    HEARTH_VISION_MISSING = 1,
    /// The model or picture cannot be read.
    HEARTH_VISION_UNREADABLE = 2,
    /// The model or picture can be read and not be used.
    HEARTH_VISION_UNSUPPORTED = 3,
    HEARTH_VISION_FAILED = 4,
};

/// The reason of a failure.
struct hearth_vision_error {
    enum hearth_vision_failure kind;
    /// The library's own words, cut off, ended by NUL.
    char text[1000];
};

/// Pixels of 8 bits: grey, or red, green and blue. Never changed after its creation.
struct hearth_picture;

enum hearth_colours { HEARTH_GREY = 0, HEARTH_RGB = 1, HEARTH_BGR = 2 };

/// The input that a model wants.
struct hearth_picture_input {
    size_t width;
    size_t height;
    enum hearth_colours colours;
    /// Whether the colours of a pixel lie beside each other; otherwise each colour is a plane.
    bool is_interleaved;
    /// A number of the input is (byte - mean) * scale, for each colour.
    float mean[3];
    float scale[3];
};

/// The rectangle of one piece of ink.
struct hearth_ink {
    int32_t x, y, width, height;
    /// The number of its dark pixels.
    int32_t area;
};

enum { HEARTH_PICTURES_VERSION = 1 };

struct hearth_pictures {
    uint32_t version;

    /// Decodes one page of a JPEG, PNG, WebP, BMP or TIFF file. Transparent pixels are laid over white, 16 bits become 8.
    /// - orientation: Exif's, 1 to 8; ignored for TIFF, whose decoder applies it.
    /// - most_pixels: a picture with more is refused, whatever its header said.
    struct hearth_picture *(*decode)(
        const void *bytes, size_t length, bool is_tiff, size_t page, int orientation, bool is_grey,
        uint64_t most_pixels, struct hearth_vision_error *error);
    /// A picture of rows from top to bottom, with 1 or 3 bytes for a pixel.
    struct hearth_picture *(*make)(
        const uint8_t *pixels, size_t width, size_t height, size_t colours, struct hearth_vision_error *error);
    void (*free)(struct hearth_picture *picture);
    void (*measure)(const struct hearth_picture *picture, size_t *width, size_t *height, size_t *colours);
    /// Writes the bytes of all rows.
    void (*copy)(const struct hearth_picture *picture, uint8_t *pixels);
    /// A part of a picture; white where the rectangle leaves it.
    struct hearth_picture *(*cut)(
        const struct hearth_picture *picture, int64_t x, int64_t y, size_t width, size_t height,
        struct hearth_vision_error *error);
    /// Writes a model's input: the largest centred part with the input's proportions, scaled to its size.
    bool (*fill)(
        const struct hearth_picture *picture, const struct hearth_picture_input *input, float *numbers,
        struct hearth_vision_error *error);
    /// Encodes as PNG. The caller frees the bytes with `release`.
    uint8_t *(*encode)(const struct hearth_picture *picture, size_t *length, struct hearth_vision_error *error);
    void (*release)(uint8_t *bytes);
    /// A page in grey with even light, dark ink on white, turned so that its lines are straight. `angle` receives by how many
    /// degrees it was turned counter-clockwise. `most_degrees` is 0 for a page that must not be turned.
    struct hearth_picture *(*clean)(
        const struct hearth_picture *picture, double most_degrees, double *angle, struct hearth_vision_error *error);
    /// Finds the connected pieces of ink of a cleaned page that are at least `least_side` pixels wide or high, the first
    /// `capacity` of them; `count` receives how many there are. A page without contrast has none.
    bool (*find_ink)(
        const struct hearth_picture *page, int32_t least_side, struct hearth_ink *pieces, size_t capacity,
        size_t *count, struct hearth_vision_error *error);
};
