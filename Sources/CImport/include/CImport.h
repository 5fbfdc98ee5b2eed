/// Conversions of weights for HearthImport: from the forms of safetensors files to the blocks of GGUF.
///
/// Every function converts whole rows. The caller has checked that the buffers have the sizes that follow from the shape.
#ifndef HEARTH_IMPORT_H
#define HEARTH_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The types of stored numbers.
enum hearth_import_number {
    HEARTH_IMPORT_F32 = 0,
    HEARTH_IMPORT_F16 = 1,
    HEARTH_IMPORT_BF16 = 2,
};

/// The blocks of GGUF, each of 32 weights.
enum hearth_import_block {
    HEARTH_IMPORT_Q4_1 = 0,
    HEARTH_IMPORT_Q5_1 = 1,
    HEARTH_IMPORT_Q8_0 = 2,
};

/// Rows of a matrix.
struct hearth_import_rows {
    size_t count;
    size_t columns;
    /// The rows of one attention head, whose first half and second half are interleaved; 0 keeps the order of the rows.
    /// `count` is a multiple of it.
    size_t head;
};

/// The losses of a conversion.
struct hearth_import_losses {
    /// Scales and biases that a 16-bit float cannot hold exactly.
    uint64_t rounded_scales;
    /// Blocks whose weights were rounded anew.
    uint64_t rounded_blocks;
};

/// Converts rows of MLX's affine groups.
/// - weights: integers of `bits` (2, 3, 4, 5, 6 or 8) in one stream of bits for each row, least significant first.
/// - scales, biases: one for each `group` (32, 64 or 128) of weights.
/// - block: Q4_1 for up to 4 bits, Q5_1 for up to 5, Q8_0 for all.
/// Returns false if a scale or bias is not finite or too large for a 16-bit float.
bool hearth_import_affine(
    struct hearth_import_rows rows, unsigned bits, unsigned group, enum hearth_import_number number,
    enum hearth_import_block block, const uint8_t *weights, const uint8_t *scales, const uint8_t *biases,
    uint8_t *to, struct hearth_import_losses *losses);

/// Converts rows of MXFP4: groups of 32 codes of 4 bits with an exponent for each group. Nothing is lost.
void hearth_import_mxfp4(
    struct hearth_import_rows rows, const uint8_t *weights, const uint8_t *scales, uint8_t *to);

/// Copies rows of numbers of `size` bytes.
void hearth_import_copy(struct hearth_import_rows rows, size_t size, const uint8_t *from, uint8_t *to);

/// Converts rows to 32-bit floats and adds `shift` to each.
void hearth_import_floats(
    struct hearth_import_rows rows, enum hearth_import_number number, float shift, const uint8_t *from, uint8_t *to);

/// Kernels of a convolution over square patches of pictures, one for each row of the result.
struct hearth_import_patch {
    size_t channels;
    /// The frames of the source, and the one to take.
    size_t frames;
    size_t frame;
    /// The width and height of a patch.
    size_t size;
    /// Whether the channels are the innermost numbers of the source; else they come before its frames.
    bool channels_last;
};

/// Converts `count` kernels to 32-bit floats, with the channels before height and width.
void hearth_import_kernel(
    size_t count, struct hearth_import_patch patch, enum hearth_import_number number, const uint8_t *from, uint8_t *to);

/// Rounds rows to Q8_0. `columns` is a multiple of 32. Returns false if a number is not finite or too large.
bool hearth_import_round(
    struct hearth_import_rows rows, enum hearth_import_number number, const uint8_t *from, uint8_t *to);

/// The nearest 16-bit float of a number; of two equally near ones the even one.
uint16_t hearth_import_half(float number);

/// The number of a 16-bit float.
float hearth_import_number_of_half(uint16_t half);

#endif
