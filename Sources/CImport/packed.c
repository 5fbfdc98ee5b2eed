#include "numbers.h"

#include <math.h>

/// Spreads eight values of 4 bits over eight bytes.
static inline uint64_t spread(uint32_t packed) {
    uint64_t value = packed;
    value = (value | value << 16) & 0x0000FFFF0000FFFF;
    value = (value | value << 8) & 0x00FF00FF00FF00FF;
    return (value | value << 4) & 0x0F0F0F0F0F0F0F0F;
}

/// Writes 32 values of 4 bits in GGUF's order: value i in the low half of byte i, value i + 16 in its high half.
static inline void nibbles(const uint8_t *from, uint8_t *to) {
    write64(to, spread(read32(from)) | spread(read32(from + 8)) << 4);
    write64(to + 8, spread(read32(from + 4)) | spread(read32(from + 12)) << 4);
}

/// Unpacks 32 values of a stream of bits.
static inline void unpack(unsigned bits, const uint8_t *from, uint8_t *to) {
    if (bits == 8) {
        memcpy(to, from, 32);
        return;
    }
    uint64_t mask = (1u << bits) - 1;
    // Eight values have as many bytes as one has bits.
    for (unsigned part = 0; part < 4; part++) {
        uint64_t stream = 0;
        for (unsigned byte = 0; byte < bits; byte++) stream |= (uint64_t)from[part * bits + byte] << (8 * byte);
        for (unsigned value = 0; value < 8; value++) to[part * 8 + value] = (uint8_t)(stream >> (value * bits) & mask);
    }
}

/// Writes 32 values of at most 5 bits: the low four as `nibbles` does, and before them the fifth as a word if there is one.
static inline void fives(bool has_fifth, const uint8_t *values, uint8_t *to) {
    if (has_fifth) {
        uint32_t fifth = 0;
        for (unsigned i = 0; i < 32; i++) fifth |= (uint32_t)(values[i] >> 4) << i;
        memcpy(to, &fifth, sizeof fifth);
        to += sizeof fifth;
    }
    for (unsigned i = 0; i < 16; i++) to[i] = (uint8_t)((values[i] & 15) | values[i + 16] << 4);
}

/// Rounds `scale * value + bias` to a block of Q8_0. Returns false if the block's scale is too large for a 16-bit float.
static bool eights(
    const uint8_t *values, float scale, float bias, uint8_t *to, struct hearth_import_losses *losses
) {
    uint8_t least = 255, most = 0;
    for (unsigned i = 0; i < 32; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    float low = fabsf(scale * least + bias), high = fabsf(scale * most + bias), largest = low > high ? low : high;
    // MLX chooses the bias as about a whole number of scales, so that zero stays zero. If the integers moved by that
    // number fit, only the difference of the bias is lost.
    uint16_t half = hearth_import_half(scale);
    float zero = scale != 0 ? rintf(-bias / scale) : -1;
    if (zero >= 0 && zero <= 255 && least - zero >= -128 && most - zero <= 127) {
        float kept = hearth_import_number_of_half(half), error = fabsf(bias + zero * kept) + fabsf(scale - kept) * most;
        if (error <= largest / 508) {
            losses->rounded_blocks += error != 0;
            write16(to, half);
            for (unsigned i = 0; i < 32; i++) to[2 + i] = (uint8_t)(values[i] - (int)zero);
            return true;
        }
    }
    float step = largest / 127, inverse = step > 0 ? 1 / step : 0;
    if (!(step <= 65504)) return false;
    losses->rounded_blocks += step > 0;
    write16(to, hearth_import_half(step));
    float factor = scale * inverse, addend = bias * inverse;
    for (unsigned i = 0; i < 32; i++) {
        // The sum has no fraction left: it is the nearest whole number.
        float moved = values[i] * factor + addend + 12582912.0f;
        to[2 + i] = (uint8_t)bits_of_float(moved);
    }
    return true;
}

bool hearth_import_affine(
    struct hearth_import_rows rows, unsigned bits, unsigned group, enum hearth_import_number number,
    enum hearth_import_block block, const uint8_t *weights, const uint8_t *scales, const uint8_t *biases,
    uint8_t *to, struct hearth_import_losses *losses
) {
    size_t groups = rows.columns / group, row_bytes = rows.columns / 8 * bits, size = number_size(number);
    for (size_t row = 0; row < rows.count; row++) {
        size_t from = source_row(row, rows.head);
        const uint8_t *packed = weights + from * row_bytes;
        for (size_t index = 0; index < groups; index++) {
            float scale = read_number(number, scales + from * groups * size, index);
            float bias = read_number(number, biases + from * groups * size, index);
            if (!(fabsf(scale) <= 65504 && fabsf(bias) <= 65504)) return false;
            uint16_t scale_half = hearth_import_half(scale), bias_half = hearth_import_half(bias);
            losses->rounded_scales += (hearth_import_number_of_half(scale_half) != scale)
                + (hearth_import_number_of_half(bias_half) != bias);
            for (unsigned part = 0; part < group; part += 32, packed += 4 * bits) {
                if (block != HEARTH_IMPORT_Q8_0) {
                    write16(to, scale_half);
                    write16(to + 2, bias_half);
                    to += 4;
                    if (block == HEARTH_IMPORT_Q4_1 && bits == 4) {
                        nibbles(packed, to);
                        to += 16;
                        continue;
                    }
                }
                uint8_t values[32];
                unpack(bits, packed, values);
                if (block == HEARTH_IMPORT_Q8_0) {
                    if (!eights(values, scale, bias, to, losses)) return false;
                    to += 34;
                } else {
                    fives(block == HEARTH_IMPORT_Q5_1, values, to);
                    to += block == HEARTH_IMPORT_Q5_1 ? 20 : 16;
                }
            }
        }
    }
    return true;
}

void hearth_import_mxfp4(
    struct hearth_import_rows rows, const uint8_t *weights, const uint8_t *scales, uint8_t *to
) {
    size_t groups = rows.columns / 32;
    for (size_t row = 0; row < rows.count; row++) {
        size_t from = source_row(row, rows.head) * groups;
        for (size_t index = from; index < from + groups; index++, to += 17) {
            to[0] = scales[index];
            nibbles(weights + index * 16, to + 1);
        }
    }
}
