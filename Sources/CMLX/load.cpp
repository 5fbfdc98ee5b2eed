// Reads weights from their files into MLX's memory.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "model.hpp"

namespace hearth {

namespace {

/// The open files of a load.
class Reader {
  public:
    Reader(const hearth_mlx_plan &plan, bool (*progress)(float, void *), void *user)
        : plan(plan), progress(progress), user(user) {
        for (size_t i = 0; i < plan.file_count; i++) {
            int file = open(plan.files[i], O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
            if (file < 0) throw Failure(HEARTH_MLX_UNREADABLE, std::strerror(errno));
            files.push_back(file);
        }
    }

    ~Reader() {
        for (int file : files) close(file);
    }
    Reader(const Reader &) = delete;

    /// A part with its own type.
    mx::array stored(const hearth_mlx_part &part, mx::Shape shape) {
        static const mx::Dtype types[] = {mx::float32, mx::float16, mx::bfloat16, mx::uint32};
        if (part.file < 0 || size_t(part.file) >= files.size() || part.type < 0 || part.type > HEARTH_MLX_UINT32)
            throw Failure(HEARTH_MLX_UNSUPPORTED, "a part of the model is missing");
        auto type = types[part.type];
        size_t bytes = mx::size_of(type);
        for (auto length : shape) {
            if (length <= 0 || __builtin_mul_overflow(bytes, size_t(length), &bytes))
                throw Failure(HEARTH_MLX_UNSUPPORTED, "a part of the model has no usable shape");
        }
        // Asked before memory is taken, because a header may name more than the file has.
        struct stat facts;
        if (fstat(files[part.file], &facts) != 0 || facts.st_size < 0 || part.offset > uint64_t(facts.st_size)
            || bytes > uint64_t(facts.st_size) - part.offset)
            throw Failure(HEARTH_MLX_UNREADABLE, "a file ends before its weights");
        auto data = mx::allocator::malloc(bytes);
        read(files[part.file], static_cast<char *>(data.buffer().raw_ptr()), bytes, part.offset);
        return mx::array(std::move(data), std::move(shape), type);
    }

    /// A part as 32-bit floats; nothing for an absent one.
    Optional floats(const hearth_mlx_part &part, mx::Shape shape) {
        if (part.file < 0) return {};
        if (part.type == HEARTH_MLX_UINT32) throw Failure(HEARTH_MLX_UNSUPPORTED, "a part of the model has whole numbers");
        auto numbers = mx::astype(stored(part, std::move(shape)), mx::float32);
        mx::eval(numbers);
        return numbers;
    }

    /// The gain of a norm.
    Optional gain(const hearth_mlx_part &part, int length) {
        auto numbers = floats(part, {length});
        if (!numbers || !plan.adds_one) return numbers;
        auto sum = *numbers + mx::array(1.0f);
        mx::eval(sum);
        return sum;
    }

    Matrix matrix(const hearth_mlx_matrix &given, int rows, int columns) {
        if (given.rows != rows || given.columns != columns)
            throw Failure(HEARTH_MLX_UNSUPPORTED, "a matrix does not fit the model");
        Matrix made;
        if (given.bits == 0) {
            if (given.weight.type == HEARTH_MLX_UINT32 || columns % 16 != 0)
                throw Failure(HEARTH_MLX_UNSUPPORTED, "a matrix cannot be multiplied");
            made.weight = stored(given.weight, {rows, columns});
        } else {
            bool is_known = (given.bits == 4 || given.bits == 8)
                && (given.group == 32 || given.group == 64 || given.group == 128);
            if (!is_known || columns % given.group != 0 || given.weight.type != HEARTH_MLX_UINT32)
                throw Failure(HEARTH_MLX_UNSUPPORTED, "a matrix has groups that do not fit it");
            made.bits = given.bits, made.group = given.group;
            made.weight = stored(given.weight, {rows, columns / (32 / given.bits)});
            made.scales = floats(given.scales, {rows, columns / given.group});
            made.biases = floats(given.biases, {rows, columns / given.group});
            if (!made.scales || !made.biases) throw Failure(HEARTH_MLX_UNSUPPORTED, "a matrix has no scales");
        }
        made.bias = floats(given.bias, {rows});
        if (progress != nullptr && !progress(std::min(1.0f, float(++done) / float(7 * plan.layer_count + 2)), user)) throw Stopped{};
        return made;
    }

  private:
    static void read(int file, char *to, size_t bytes, uint64_t offset) {
        while (bytes > 0) {
            // Linux reads at most 2 GiB in one call.
            ssize_t count = pread(file, to, std::min(bytes, size_t(1) << 30), off_t(offset));
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) throw Failure(HEARTH_MLX_UNREADABLE, std::strerror(errno));
            if (count == 0) throw Failure(HEARTH_MLX_UNREADABLE, "a file ends before its weights");
            to += count, offset += uint64_t(count), bytes -= size_t(count);
        }
    }

    const hearth_mlx_plan &plan;
    bool (*progress)(float, void *);
    void *user;
    std::vector<int> files;
    int done = 0;
};

} // namespace

Model::Model(const hearth_mlx_plan &given, bool (*progress)(float, void *), void *user) : plan(given) {
    const int64_t limit = 1 << 24;
    for (int64_t number : {plan.hidden, plan.heads, plan.key_heads, plan.head_length, plan.vocabulary, plan.context})
        if (number < 1 || number > limit) throw Failure(HEARTH_MLX_UNSUPPORTED, "a size of the model is out of range");
    int64_t width = int64_t(plan.heads) * plan.head_length, key_width = int64_t(plan.key_heads) * plan.head_length;
    if (width > limit || plan.heads % plan.key_heads != 0 || plan.head_length % 2 != 0 || plan.layer_count == 0)
        throw Failure(HEARTH_MLX_UNSUPPORTED, "the heads of the model do not fit it");
    Reader reader(given, progress, user);
    embedding = reader.matrix(plan.embedding, plan.vocabulary, plan.hidden);
    if (plan.head.weight.file >= 0) head = reader.matrix(plan.head, plan.vocabulary, plan.hidden);
    norm = reader.gain(plan.norm, plan.hidden);
    for (size_t i = 0; i < plan.layer_count; i++) {
        auto &from = plan.layers[i];
        int feed = from.gate.rows;
        Layer layer;
        layer.query = reader.matrix(from.query, int(width), plan.hidden);
        layer.key = reader.matrix(from.key, int(key_width), plan.hidden);
        layer.value = reader.matrix(from.value, int(key_width), plan.hidden);
        layer.output = reader.matrix(from.output, plan.hidden, int(width));
        layer.gate = reader.matrix(from.gate, feed, plan.hidden);
        layer.up = reader.matrix(from.up, feed, plan.hidden);
        layer.down = reader.matrix(from.down, plan.hidden, feed);
        layer.before_attention = reader.gain(from.before_attention, plan.hidden);
        layer.after_attention = reader.gain(from.after_attention, plan.hidden);
        layer.before_feed = reader.gain(from.before_feed, plan.hidden);
        layer.after_feed = reader.gain(from.after_feed, plan.hidden);
        layer.query_norm = reader.gain(from.query_norm, plan.head_length);
        layer.key_norm = reader.gain(from.key_norm, plan.head_length);
        if (!layer.before_attention || !layer.before_feed)
            throw Failure(HEARTH_MLX_UNSUPPORTED, "a layer of the model has no norms");
        layer.rope_base = from.rope_base, layer.rope_scale = from.rope_scale;
        layer.has_frequencies = from.has_frequencies && plan.frequencies != nullptr;
        layer.window = from.window;
        layers.push_back(std::move(layer));
    }
    if (!norm) throw Failure(HEARTH_MLX_UNSUPPORTED, "the model has no last norm");
    if (plan.frequencies != nullptr)
        frequencies = mx::array(plan.frequencies, {plan.head_length / 2}, mx::float32);
    // Owned by the caller.
    plan.files = nullptr, plan.layers = nullptr, plan.frequencies = nullptr;
}

} // namespace hearth
