#include "numbers.h"

#include <float.h>
#include <math.h>

void hearth_import_copy(struct hearth_import_rows rows, size_t size, const uint8_t *from, uint8_t *to) {
    size_t bytes = rows.columns * size;
    if (rows.head == 0) {
        memcpy(to, from, rows.count * bytes);
        return;
    }
    for (size_t row = 0; row < rows.count; row++) {
        memcpy(to + row * bytes, from + source_row(row, rows.head) * bytes, bytes);
    }
}

void hearth_import_floats(
    struct hearth_import_rows rows, enum hearth_import_number number, float shift, const uint8_t *from, uint8_t *to
) {
    size_t bytes = rows.columns * number_size(number);
    for (size_t row = 0; row < rows.count; row++) {
        const uint8_t *source = from + source_row(row, rows.head) * bytes;
        for (size_t i = 0; i < rows.columns; i++, to += 4) {
            uint32_t bits = bits_of_float(read_number(number, source, i) + shift);
            memcpy(to, &bits, sizeof bits);
        }
    }
}

void hearth_import_kernel(
    size_t count, struct hearth_import_patch patch, enum hearth_import_number number, const uint8_t *from, uint8_t *to
) {
    size_t area = patch.size * patch.size, frame = area * (patch.channels_last ? patch.channels : 1);
    for (size_t kernel = 0; kernel < count; kernel++, from += patch.channels * patch.frames * area * number_size(number)) {
        for (size_t channel = 0; channel < patch.channels; channel++) {
            for (size_t i = 0; i < area; i++, to += 4) {
                size_t index = patch.frame * frame
                    + (patch.channels_last ? i * patch.channels + channel : channel * patch.frames * area + i);
                uint32_t bits = bits_of_float(read_number(number, from, index));
                memcpy(to, &bits, sizeof bits);
            }
        }
    }
}

bool hearth_import_round(
    struct hearth_import_rows rows, enum hearth_import_number number, const uint8_t *from, uint8_t *to
) {
    size_t bytes = rows.columns * number_size(number);
    for (size_t row = 0; row < rows.count; row++) {
        const uint8_t *source = from + source_row(row, rows.head) * bytes;
        for (size_t block = 0; block < rows.columns; block += 32, to += 34) {
            float values[32], largest = 0;
            bool finite = true;
            for (unsigned i = 0; i < 32; i++) {
                values[i] = read_number(number, source, block + i);
                float size = fabsf(values[i]);
                // False for NaN and infinity.
                finite &= size <= FLT_MAX;
                largest = size > largest ? size : largest;
            }
            float step = largest / 127, inverse = step > 0 ? 1 / step : 0;
            if (!finite || step > 65504) return false;
            write16(to, hearth_import_half(step));
            for (unsigned i = 0; i < 32; i++) {
                to[2 + i] = (uint8_t)bits_of_float(values[i] * inverse + 12582912.0f);
            }
        }
    }
    return true;
}

uint16_t hearth_import_half(float number) {
    uint32_t bits = bits_of_float(number), magnitude = bits & 0x7FFFFFFF;
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    if (magnitude > 0x7F800000) return sign | 0x7E00;
    // 65520 and above are rounded to infinity.
    if (magnitude >= 0x477FF000) return sign | 0x7C00;
    if (magnitude < 0x38800000) {
        // The sum's last bit is 2^-24, the step of the smallest 16-bit floats.
        float rounded = float_of_bits(magnitude) + 0.5f;
        return sign | (uint16_t)(bits_of_float(rounded) - 0x3F000000);
    }
    uint32_t rounded = magnitude - 0x38000000 + 0xFFF + (magnitude >> 13 & 1);
    return sign | (uint16_t)(rounded >> 13);
}

float hearth_import_number_of_half(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, magnitude = half & 0x7FFF;
    if (magnitude >= 0x7C00) return float_of_bits(sign | 0x7F800000 | (magnitude & 0x3FF) << 13);
    if (magnitude < 0x400) return float_of_bits(sign | bits_of_float((float)magnitude * 0x1p-24f));
    return float_of_bits(sign | ((magnitude << 13) + 0x38000000));
}
