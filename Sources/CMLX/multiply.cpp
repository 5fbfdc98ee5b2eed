// Products with the rows of a matrix as an MLX primitive: libmlx's own kernel for quantized weights is scalar, and would
// want dense weights as 32-bit floats.
#include <mlx/allocator.h>
#include <mlx/backend/cpu/encoder.h>
#include <mlx/primitives.h>

#include <memory>
#include <numeric>

#include "model.hpp"
#include "team.hpp"

namespace hearth {

namespace {

// One clone for each instruction set, chosen when the library is loaded; the vectors below become its registers.
#define HEARTH_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define HEARTH_INLINE __attribute__((always_inline)) static inline

constexpr int lanes = 16;
typedef float Floats __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t Words __attribute__((vector_size(64), aligned(4), may_alias));
typedef uint8_t Bytes __attribute__((vector_size(16), aligned(1), may_alias));
typedef _Float16 Halves __attribute__((vector_size(32), aligned(2), may_alias));
typedef uint16_t Shorts __attribute__((vector_size(32), aligned(2), may_alias));

enum class Kind { four, eight, whole, half, brain };

/// A product's operands.
struct Job {
    Kind kind;
    const float *x;
    const char *weight;
    const float *scales, *biases;
    /// The sums of the groups of one input.
    const float *sums;
    float *y;
    int m, n, k, group, threads;
    Stop stop;

    size_t row_bytes() const {
        return kind == Kind::four ? size_t(k) / 2 : kind == Kind::eight ? size_t(k) : size_t(k) * (kind == Kind::whole ? 4 : 2);
    }
    int groups() const { return group > 0 ? k / group : 0; }
};

HEARTH_INLINE float total(Floats v) {
    float sum = 0;
    for (int i = 0; i < lanes; i++) sum += v[i];
    return sum;
}

HEARTH_INLINE Floats wide(Bytes bytes) { return __builtin_convertvector(__builtin_convertvector(bytes, Words), Floats); }

HEARTH_INLINE Floats every(float value) { return Floats{} + value; }

/// A vector at any address. The type is named here at each use: `auto` would take it with the alignment of its registers, and
/// weights in a file begin at any address.
#define HEARTH_AT(type, address) (*reinterpret_cast<const type *>(address))

/// The columns `at ..< at + 32` of a row. Of 4 bits, columns 2i and 2i + 1 lie in one byte: first come the even ones, then
/// the odd ones, and ``arranged(_:)`` orders the inputs likewise.
template <Kind kind> HEARTH_INLINE void pair(const char *row, int at, Floats &first, Floats &second) {
    if constexpr (kind == Kind::four) {
        auto place = row + at / 2;
        first = wide(HEARTH_AT(Bytes, place) & 15), second = wide(HEARTH_AT(Bytes, place) >> 4);
    } else if constexpr (kind == Kind::eight) {
        auto place = row + at;
        first = wide(HEARTH_AT(Bytes, place)), second = wide(HEARTH_AT(Bytes, place + lanes));
    } else if constexpr (kind == Kind::whole) {
        auto place = row + size_t(at) * 4;
        first = HEARTH_AT(Floats, place), second = HEARTH_AT(Floats, place + lanes * 4);
    } else if constexpr (kind == Kind::half) {
        auto place = row + size_t(at) * 2;
        first = __builtin_convertvector(HEARTH_AT(Halves, place), Floats);
        second = __builtin_convertvector(HEARTH_AT(Halves, place + lanes * 2), Floats);
    } else {
        auto place = row + size_t(at) * 2;
        first = (Floats)(__builtin_convertvector(HEARTH_AT(Shorts, place), Words) << 16);
        second = (Floats)(__builtin_convertvector(HEARTH_AT(Shorts, place + lanes * 2), Words) << 16);
    }
}

void arrange(const Job &job, const float *x, float *to) {
    if (job.kind != Kind::four) return void(std::copy(x, x + job.k, to));
    for (int block = 0; block < job.k; block += 32)
        for (int i = 0; i < lanes; i++) to[block + i] = x[block + 2 * i], to[block + lanes + i] = x[block + 2 * i + 1];
}

/// Products of rows with one input. `sums` are the sums of the input's groups.
template <Kind kind> HEARTH_INLINE void dots(const Job &job, const float *x, const float *sums, int from, int to, float *y) {
    int groups = job.groups(), group = groups > 0 ? job.group : job.k;
    for (int row = from; row < to; row++) {
        auto bytes = job.weight + row * job.row_bytes();
        auto scales = job.scales + size_t(row) * groups, biases = job.biases + size_t(row) * groups;
        Floats sum = {}, first, second;
        float rest = 0;
        for (int start = 0, g = 0; start < job.k; start += group, g++) {
            Floats part = {}, other = {};
            for (int at = start; at < start + group; at += 32) {
                pair<kind>(bytes, at, first, second);
                part += first * *reinterpret_cast<const Floats *>(x + at);
                other += second * *reinterpret_cast<const Floats *>(x + at + lanes);
            }
            part += other;
            if constexpr (kind == Kind::four || kind == Kind::eight) sum += part * every(scales[g]), rest += biases[g] * sums[g];
            else sum += part;
        }
        y[row] = total(sum) + rest;
    }
}

template <Kind kind> HEARTH_INLINE void expand(const Job &job, int row, float *to) {
    Floats first, second;
    auto bytes = job.weight + row * job.row_bytes();
    for (int at = 0; at < job.k; at += 32) {
        pair<kind>(bytes, at, first, second);
        if constexpr (kind == Kind::four || kind == Kind::eight) {
            auto g = size_t(row) * job.groups() + at / job.group;
            auto scale = every(job.scales[g]), bias = every(job.biases[g]);
            first = first * scale + bias, second = second * scale + bias;
        }
        *reinterpret_cast<Floats *>(to + at) = first, *reinterpret_cast<Floats *>(to + at + lanes) = second;
    }
}

#define HEARTH_BY_KIND(call, ...)                                                                                      \
    switch (job.kind) {                                                                                                \
    case Kind::four: return call<Kind::four>(__VA_ARGS__);                                                             \
    case Kind::eight: return call<Kind::eight>(__VA_ARGS__);                                                           \
    case Kind::whole: return call<Kind::whole>(__VA_ARGS__);                                                           \
    case Kind::half: return call<Kind::half>(__VA_ARGS__);                                                             \
    case Kind::brain: return call<Kind::brain>(__VA_ARGS__);                                                           \
    }

HEARTH_CLONES void dot_rows(const Job &job, int from, int to) { HEARTH_BY_KIND(dots, job, job.x, job.sums, from, to, job.y) }

HEARTH_CLONES void expand_row(const Job &job, int row, float *to) { HEARTH_BY_KIND(expand, job, row, to) }

/// Products of all inputs with `count` expanded rows, four by four.
HEARTH_CLONES void tile(const float *x, int m, const float *rows, int count, float *y, int n, int k) {
    auto at = [&](const float *from, int row, int column) { return *reinterpret_cast<const Floats *>(from + size_t(row) * k + column); };
    for (int i = 0; i < m; i += 4) for (int j = 0; j < count; j += 4) {
        int height = std::min(4, m - i), width = std::min(4, count - j);
        Floats sums[4][4] = {};
        if (height == 4 && width == 4) {
            for (int c = 0; c < k; c += lanes) {
                Floats a[4], b[4];
                for (int r = 0; r < 4; r++) a[r] = at(x, i + r, c), b[r] = at(rows, j + r, c);
                for (int r = 0; r < 4; r++) for (int s = 0; s < 4; s++) sums[r][s] += a[r] * b[s];
            }
        } else {
            for (int r = 0; r < height; r++) for (int s = 0; s < width; s++)
                for (int c = 0; c < k; c += lanes) sums[r][s] += at(x, i + r, c) * at(rows, j + s, c);
        }
        for (int r = 0; r < height; r++) for (int s = 0; s < width; s++) y[size_t(i + r) * n + j + s] = total(sums[r][s]);
    }
}

void multiply_many(const Job &job, int from, int to) {
    constexpr int block = 16;
    auto rows = std::make_unique<float[]>(size_t(block) * job.k);
    for (int row = from; row < to; row += block) {
        // Asked here too, because a layer may take longer than a caller may wait.
        if (job.stop()) return;
        int count = std::min(block, to - row);
        for (int i = 0; i < count; i++) expand_row(job, row + i, rows.get() + size_t(i) * job.k);
        tile(job.x, job.m, rows.get(), count, job.y + row, job.n, job.k);
    }
}

void run(const Job &given) {
    // One at a time; its threads last as long as the process.
    static auto &team = *new Team<Job>;
    auto arranged = std::make_unique<float[]>(size_t(given.m) * given.k);
    for (int i = 0; i < given.m; i++) arrange(given, given.x + size_t(i) * given.k, arranged.get() + size_t(i) * given.k);
    Job job = given;
    job.x = arranged.get();
    if (job.m > 2) return team.run(job, job.n, 32, job.threads, multiply_many);
    std::vector<float> sums(job.groups());
    for (int i = 0; i < given.m; i++) {
        job.x = arranged.get() + size_t(i) * job.k, job.y = given.y + size_t(i) * job.n, job.sums = sums.data();
        for (int g = 0; g < job.groups(); g++) sums[g] = std::accumulate(job.x + g * job.group, job.x + (g + 1) * job.group, 0.0f);
        bool is_small = size_t(job.n) * job.k < 200000;
        team.run(job, job.n, std::max(16, job.n / 16), is_small ? 1 : job.threads, dot_rows);
    }
}

class Product : public mx::UnaryPrimitive {
  public:
    Product(mx::Stream stream, int bits, int group, int threads, const Stop &stop)
        : UnaryPrimitive(stream), bits(bits), group(group), threads(threads), stop(stop) {}

    void eval_cpu(const std::vector<mx::array> &in, mx::array &out) override {
        out.set_data(mx::allocator::malloc(out.nbytes()));
        Job job{};
        auto type = in[1].dtype();
        job.kind = bits == 4 ? Kind::four : bits == 8 ? Kind::eight
            : type == mx::float16 ? Kind::half : type == mx::bfloat16 ? Kind::brain : Kind::whole;
        job.x = in[0].data<float>(), job.weight = in[1].data<char>(), job.y = out.data<float>();
        if (bits != 0) job.scales = in[2].data<float>(), job.biases = in[3].data<float>();
        job.k = in[0].shape(-1), job.m = int(in[0].size() / job.k), job.n = in[1].shape(0);
        job.group = group, job.threads = threads, job.stop = stop;
        mx::cpu::get_command_encoder(this->stream()).dispatch([job] { run(job); });
    }

    void eval_gpu(const std::vector<mx::array> &, mx::array &) override {
        throw Failure(HEARTH_MLX_UNSUPPORTED, "a product is for the processor only");
    }

    const char *name() const override { return "HearthProduct"; }

  private:
    int bits, group, threads;
    Stop stop;
};

} // namespace

mx::array multiply(const mx::array &x, const Matrix &matrix, int threads, const Stop &stop) {
    auto shape = x.shape();
    shape.back() = matrix.weight->shape(0);
    std::vector<mx::array> in{mx::contiguous(x), *matrix.weight};
    if (matrix.bits != 0) in.push_back(*matrix.scales), in.push_back(*matrix.biases);
    auto stream = mx::default_stream(mx::Device::cpu);
    return mx::array(
        shape, mx::float32, std::make_shared<Product>(stream, matrix.bits, matrix.group, threads, stop), std::move(in));
}

} // namespace hearth
