/// Numbers of safetensors and GGUF files: unaligned reading and writing, little endian.
#ifndef HEARTH_IMPORT_NUMBERS_H
#define HEARTH_IMPORT_NUMBERS_H

#include "CImport.h"

#include <string.h>

static inline uint16_t read16(const uint8_t *from) {
    uint16_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

static inline uint32_t read32(const uint8_t *from) {
    uint32_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

static inline void write16(uint8_t *to, uint16_t value) { memcpy(to, &value, sizeof value); }
static inline void write64(uint8_t *to, uint64_t value) { memcpy(to, &value, sizeof value); }

static inline float float_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t bits_of_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/// The bytes of a number.
static inline size_t number_size(enum hearth_import_number number) { return number == HEARTH_IMPORT_F32 ? 4 : 2; }

/// The number at an index.
static inline float read_number(enum hearth_import_number number, const uint8_t *from, size_t index) {
    switch (number) {
    case HEARTH_IMPORT_F32: return float_of_bits(read32(from + 4 * index));
    case HEARTH_IMPORT_F16: return hearth_import_number_of_half(read16(from + 2 * index));
    default: return float_of_bits((uint32_t)read16(from + 2 * index) << 16);
    }
}

/// The row of the source that becomes a row of the result. llama.cpp rotates neighbours where the source rotates the two
/// halves of a head.
static inline size_t source_row(size_t row, size_t head) {
    if (head == 0) return row;
    size_t within = row % head;
    return row - within + (within % 2) * (head / 2) + within / 2;
}

#endif
