// Compiles and runs models with OpenVINO's C library, which is loaded at its first use.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "failure.h"

#include <stdlib.h>

#if defined(HEARTH_VISION) && __has_include(<hearth-vision.h>)

#include <dlfcn.h>
#include <hearth-vision.h>
#include <limits.h>
#include <openvino/c/openvino.h>
#include <string.h>

#include "own.h"

#define HEARTH_OPENVINO_FUNCTIONS(use)                                                                                 \
    use(ov_core_create) use(ov_core_read_model_from_memory_buffer) use(ov_core_compile_model)                          \
    use(ov_model_free) use(ov_model_inputs_size) use(ov_model_const_input) use(ov_model_reshape_single_input)           \
    use(ov_compiled_model_free) use(ov_compiled_model_inputs_size) use(ov_compiled_model_outputs_size)                 \
    use(ov_compiled_model_input_by_index)                                                                              \
    use(ov_compiled_model_output_by_index) use(ov_compiled_model_create_infer_request)                                 \
    use(ov_output_const_port_free) use(ov_port_get_partial_shape) use(ov_port_get_element_type)                        \
    use(ov_partial_shape_free) use(ov_infer_request_set_input_tensor_by_index)                                         \
    use(ov_infer_request_get_output_tensor_by_index) use(ov_infer_request_infer)                                        \
    use(ov_infer_request_free) use(ov_tensor_create_from_host_ptr) use(ov_tensor_free) use(ov_tensor_data)             \
    use(ov_tensor_get_size) use(ov_shape_create) use(ov_shape_free) use(ov_get_last_err_msg) use(ov_free)

struct hearth_openvino {
    ov_core_t *core;
#define HEARTH_MEMBER(name) __typeof__(&name) name;
    HEARTH_OPENVINO_FUNCTIONS(HEARTH_MEMBER)
};

struct hearth_network {
    struct hearth_openvino *library;
    ov_compiled_model_t *model;
};

struct hearth_computation {
    struct hearth_openvino *library;
    ov_infer_request_t *request;
};

/// Reports OpenVINO's own words.
static void fail(struct hearth_openvino *library, enum hearth_vision_failure kind, struct hearth_vision_error *error) {
    const char *text = library->ov_get_last_err_msg();
    hearth_fail(error, kind, "%s", text != NULL && *text != 0 ? text : "no reason is given");
    if (text != NULL) library->ov_free(text);
}

/// Finds the functions of a loaded library.
static bool find(struct hearth_openvino *library, void *handle, struct hearth_vision_error *error) {
#define HEARTH_FIND(name)                                                                                              \
    *(void **)&library->name = dlsym(handle, #name);                                                                   \
    if (library->name == NULL) {                                                                                       \
        hearth_fail(error, HEARTH_VISION_MISSING, "OpenVINO has no %s", #name);                                        \
        return false;                                                                                                  \
    }
    HEARTH_OPENVINO_FUNCTIONS(HEARTH_FIND)
    return true;
}

bool hearth_vision_is_built(void) { return true; }

const char *hearth_vision_library(void) { return HEARTH_OPENVINO_PATH; }

/// Opens the library at `path`; without one, that of an installed program, of set-up, or of the system.
static void *open_library(const char *path) {
    if (path != NULL) return dlopen(path, RTLD_NOW | RTLD_LOCAL);
    char own[PATH_MAX];
    void *handle = NULL;
    if (hearth_own_library(HEARTH_OPENVINO_NAME, own, sizeof own)) handle = dlopen(own, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) handle = dlopen(HEARTH_OPENVINO_PATH, RTLD_NOW | RTLD_LOCAL);
    return handle != NULL ? handle : dlopen(HEARTH_OPENVINO_NAME, RTLD_NOW | RTLD_LOCAL);
}

struct hearth_openvino *hearth_openvino_load(const char *path, struct hearth_vision_error *error) {
    void *handle = open_library(path);
    if (handle == NULL) {
        hearth_fail(error, HEARTH_VISION_MISSING, "%s", dlerror());
        return NULL;
    }
    struct hearth_openvino *library = calloc(1, sizeof *library);
    if (library == NULL || !find(library, handle, error)) {
        if (library == NULL) hearth_fail(error, HEARTH_VISION_FAILED, "no memory");
        free(library);
        dlclose(handle);
        return NULL;
    }
    ov_status_e status = library->ov_core_create(&library->core);
    if (status != OK) {
        // The library stays loaded: it may have started threads.
        fail(library, HEARTH_VISION_MISSING, error);
        free(library);
        return NULL;
    }
    return library;
}

/// Reads the shape of a port, and frees it. A rank or type that no request can have is told as such.
static bool describe(struct hearth_openvino *library, ov_output_const_port_t *port, struct hearth_network_shape *shape,
                     struct hearth_vision_error *error) {
    ov_partial_shape_t partial = {0};
    ov_element_type_e type = DYNAMIC;
    ov_status_e status = library->ov_port_get_partial_shape(port, &partial);
    bool has_shape = status == OK;
    if (has_shape) status = library->ov_port_get_element_type(port, &type);
    if (status == OK) {
        bool has_rank = partial.rank.min == partial.rank.max && partial.rank.min >= 0 &&
                        partial.rank.min <= HEARTH_NETWORK_RANK;
        shape->rank = has_rank ? (size_t)partial.rank.min : 0;
        shape->is_float = type == F32;
        for (size_t index = 0; index < shape->rank; index++) {
            ov_dimension_t dimension = partial.dims[index];
            shape->dimensions[index] = dimension.min == dimension.max && dimension.min > 0 ? dimension.min : -1;
        }
    } else {
        fail(library, HEARTH_VISION_UNSUPPORTED, error);
    }
    if (has_shape) library->ov_partial_shape_free(&partial);
    library->ov_output_const_port_free(port);
    return status == OK;
}

static bool describe_all(struct hearth_network *network, struct hearth_network_facts *facts,
                         struct hearth_vision_error *error) {
    struct hearth_openvino *library = network->library;
    memset(facts, 0, sizeof *facts);
    ov_status_e status = library->ov_compiled_model_inputs_size(network->model, &facts->inputs);
    if (status == OK) status = library->ov_compiled_model_outputs_size(network->model, &facts->outputs);
    ov_output_const_port_t *port = NULL;
    if (status == OK && facts->inputs > 0) {
        status = library->ov_compiled_model_input_by_index(network->model, 0, &port);
        if (status == OK && !describe(library, port, &facts->input, error)) return false;
    }
    if (status == OK && facts->outputs > 0) {
        status = library->ov_compiled_model_output_by_index(network->model, 0, &port);
        if (status == OK && !describe(library, port, &facts->output, error)) return false;
    }
    if (status != OK) fail(library, HEARTH_VISION_UNSUPPORTED, error);
    return status == OK;
}

/// Fixes the first dimension of the only input, if requests may choose it: a model of fixed shapes is computed faster.
static ov_status_e set_batch(struct hearth_openvino *library, ov_model_t *model, int64_t batch, bool *has_free_batch) {
    size_t inputs = 0;
    ov_status_e status = library->ov_model_inputs_size(model, &inputs);
    // Other models are refused when they are described.
    if (status != OK || inputs != 1) return status;
    ov_output_const_port_t *port = NULL;
    status = library->ov_model_const_input(model, &port);
    if (status != OK) return status;
    ov_partial_shape_t shape = {0};
    status = library->ov_port_get_partial_shape(port, &shape);
    if (status == OK) {
        bool has_rank = shape.rank.min == shape.rank.max && shape.rank.min > 0;
        if (has_rank && shape.dims[0].min != shape.dims[0].max) {
            *has_free_batch = true;
            shape.dims[0] = (ov_dimension_t){batch, batch};
            status = library->ov_model_reshape_single_input(model, shape);
        }
        library->ov_partial_shape_free(&shape);
    }
    library->ov_output_const_port_free(port);
    return status;
}

struct hearth_network *hearth_network_new(
    struct hearth_openvino *library, const void *model, size_t length, size_t batch, unsigned streams, unsigned threads,
    struct hearth_network_facts *facts, struct hearth_vision_error *error) {
    ov_model_t *read = NULL;
    ov_status_e status = library->ov_core_read_model_from_memory_buffer(library->core, model, length, NULL, &read);
    if (status != OK) {
        fail(library, HEARTH_VISION_UNREADABLE, error);
        return NULL;
    }
    bool has_free_batch = false;
    status = set_batch(library, read, (int64_t)batch, &has_free_batch);
    if (status != OK) {
        fail(library, HEARTH_VISION_UNSUPPORTED, error);
        library->ov_model_free(read);
        return NULL;
    }
    struct hearth_network *network = calloc(1, sizeof *network);
    if (network == NULL) {
        hearth_fail(error, HEARTH_VISION_FAILED, "no memory");
        library->ov_model_free(read);
        return NULL;
    }
    network->library = library;
    char count[16], lanes[16];
    snprintf(count, sizeof count, "%u", threads);
    snprintf(lanes, sizeof lanes, "%u", streams);
    // By default the processor's plugin may compute in 16 bits, where results differ by a tenth.
    status = library->ov_core_compile_model(
        library->core, read, "CPU", 8, &network->model, "INFERENCE_NUM_THREADS", count, "NUM_STREAMS", lanes,
        "PERFORMANCE_HINT", "LATENCY", "INFERENCE_PRECISION_HINT", "f32");
    library->ov_model_free(read);
    if (status != OK) {
        fail(library, HEARTH_VISION_UNSUPPORTED, error);
        free(network);
        return NULL;
    }
    if (!describe_all(network, facts, error)) {
        hearth_network_free(network);
        return NULL;
    }
    facts->has_free_batch = has_free_batch;
    return network;
}

void hearth_network_free(struct hearth_network *network) {
    if (network == NULL) return;
    network->library->ov_compiled_model_free(network->model);
    free(network);
}

struct hearth_computation *hearth_computation_new(struct hearth_network *network, struct hearth_vision_error *error) {
    struct hearth_computation *computation = calloc(1, sizeof *computation);
    if (computation == NULL) {
        hearth_fail(error, HEARTH_VISION_FAILED, "no memory");
        return NULL;
    }
    computation->library = network->library;
    ov_status_e status =
        network->library->ov_compiled_model_create_infer_request(network->model, &computation->request);
    if (status != OK) {
        fail(network->library, HEARTH_VISION_FAILED, error);
        free(computation);
        return NULL;
    }
    return computation;
}

void hearth_computation_free(struct hearth_computation *computation) {
    if (computation == NULL) return;
    computation->library->ov_infer_request_free(computation->request);
    free(computation);
}

/// Copies the first output.
static ov_status_e copy_output(struct hearth_computation *computation, float *output, size_t capacity, size_t *count) {
    struct hearth_openvino *library = computation->library;
    ov_tensor_t *tensor = NULL;
    ov_status_e status = library->ov_infer_request_get_output_tensor_by_index(computation->request, 0, &tensor);
    if (status != OK) return status;
    void *numbers = NULL;
    status = library->ov_tensor_get_size(tensor, count);
    if (status == OK) status = library->ov_tensor_data(tensor, &numbers);
    if (status == OK) memcpy(output, numbers, (*count < capacity ? *count : capacity) * sizeof *output);
    library->ov_tensor_free(tensor);
    return status;
}

bool hearth_computation_run(
    struct hearth_computation *computation, const int64_t *shape, size_t rank, float *input, float *output,
    size_t capacity, size_t *count, struct hearth_vision_error *error) {
    struct hearth_openvino *library = computation->library;
    ov_shape_t dimensions = {0};
    ov_tensor_t *tensor = NULL;
    ov_status_e status = library->ov_shape_create((int64_t)rank, shape, &dimensions);
    bool has_shape = status == OK;
    if (status == OK) status = library->ov_tensor_create_from_host_ptr(F32, dimensions, input, &tensor);
    if (status == OK) status = library->ov_infer_request_set_input_tensor_by_index(computation->request, 0, tensor);
    if (status == OK) status = library->ov_infer_request_infer(computation->request);
    if (status == OK) status = copy_output(computation, output, capacity, count);
    if (status != OK) fail(library, HEARTH_VISION_FAILED, error);
    if (tensor != NULL) library->ov_tensor_free(tensor);
    if (has_shape) library->ov_shape_free(&dimensions);
    return status == OK;
}

#else

bool hearth_vision_is_built(void) { return false; }

const char *hearth_vision_library(void) { return NULL; }

struct hearth_openvino *hearth_openvino_load(const char *path, struct hearth_vision_error *error) {
    (void)path;
    hearth_fail(error, HEARTH_VISION_MISSING, "this program was built without OpenVINO");
    return NULL;
}

struct hearth_network *hearth_network_new(
    struct hearth_openvino *library, const void *model, size_t length, size_t batch, unsigned streams, unsigned threads,
    struct hearth_network_facts *facts, struct hearth_vision_error *error) {
    (void)library, (void)model, (void)length, (void)batch, (void)streams, (void)threads, (void)facts;
    hearth_fail(error, HEARTH_VISION_MISSING, "this program was built without OpenVINO");
    return NULL;
}

void hearth_network_free(struct hearth_network *network) { (void)network; }

struct hearth_computation *hearth_computation_new(struct hearth_network *network, struct hearth_vision_error *error) {
    (void)network;
    hearth_fail(error, HEARTH_VISION_MISSING, "this program was built without OpenVINO");
    return NULL;
}

void hearth_computation_free(struct hearth_computation *computation) { (void)computation; }

bool hearth_computation_run(
    struct hearth_computation *computation, const int64_t *shape, size_t rank, float *input, float *output,
    size_t capacity, size_t *count, struct hearth_vision_error *error) {
    (void)computation, (void)shape, (void)rank, (void)input, (void)output, (void)capacity, (void)count;
    hearth_fail(error, HEARTH_VISION_MISSING, "this program was built without OpenVINO");
    return false;
}

#endif
