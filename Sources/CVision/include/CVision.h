// Plain C functions for classifiers (OpenVINO) and pictures (OpenCV). Both libraries are loaded at first use, so that
// programs that classify nothing start without them.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pictures.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The functions of a loaded OpenVINO. Never unloaded.
struct hearth_openvino;
/// A compiled model.
struct hearth_network;
/// A computation with buffers of its own; one thread uses it at a time.
struct hearth_computation;

/// Whether this program was built with OpenVINO's headers and the trait Vision.
bool hearth_vision_is_built(void);

/// The library of OpenVINO that set-up laid beside its plugins; NULL in a build without it.
const char *hearth_vision_library(void);

/// Loads OpenVINO's C library. NULL and a reason on failure.
/// `path` is the file of the library; NULL for the one that set-up brought, else the system's.
struct hearth_openvino *hearth_openvino_load(const char *path, struct hearth_vision_error *error);

enum { HEARTH_NETWORK_RANK = 6 };

/// The shape of a model's input or output. A dimension that a request chooses is -1.
struct hearth_network_shape {
    size_t rank;
    int64_t dimensions[HEARTH_NETWORK_RANK];
    bool is_float;
};

struct hearth_network_facts {
    size_t inputs;
    size_t outputs;
    /// Of the first input and the first output.
    struct hearth_network_shape input;
    struct hearth_network_shape output;
    /// Whether the model takes any number of pictures: then it was compiled for the number that was asked for.
    bool has_free_batch;
};

/// Compiles a model in ONNX's format for the processor, with results of 32-bit precision. NULL and a reason on failure.
/// Nothing else is read from the disk. `batch` is the pictures of one computation; a model may have a number of its own.
/// `streams` is the computations that run side by side; they share the threads.
struct hearth_network *hearth_network_new(
    struct hearth_openvino *library, const void *model, size_t length, size_t batch, unsigned streams, unsigned threads,
    struct hearth_network_facts *facts, struct hearth_vision_error *error);
/// Frees a model. Its computations must have been freed.
void hearth_network_free(struct hearth_network *network);

struct hearth_computation *hearth_computation_new(struct hearth_network *network, struct hearth_vision_error *error);
void hearth_computation_free(struct hearth_computation *computation);

/// Computes the first output of an input with the given shape. At most `capacity` numbers are written; `count` receives
/// how many the output has. Blocks.
bool hearth_computation_run(
    struct hearth_computation *computation, const int64_t *shape, size_t rank, float *input, float *output,
    size_t capacity, size_t *count, struct hearth_vision_error *error);

/// Loads the library of pictures, which set-up builds. NULL and a reason on failure. Never unloaded.
/// `path` is its file; NULL for the one that set-up built.
const struct hearth_pictures *hearth_pictures_load(const char *path, struct hearth_vision_error *error);

#ifdef __cplusplus
}
#endif
