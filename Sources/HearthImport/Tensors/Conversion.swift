import CImport
import HearthBase

/// The conversion of a tensor's rows.
enum Conversion: Sendable, Hashable {
    /// The numbers stay as they are.
    case copy(byteCount: Int)
    /// To 32-bit floats, each with a number added.
    case floats(Number, shift: Float)
    /// To blocks of 8 bits.
    case round(Number)
    /// Kernels of patches to 32-bit floats, in PyTorch's order.
    case kernel(Number, Patch)
    /// MLX's affine groups to GGUF's blocks.
    case affine(bits: Int, groupSize: Int, scales: Number, storage: GGUFStorage)
    /// MXFP4 to GGUF's order of it.
    case mxfp4

    /// A type of floating-point numbers.
    enum Number: Sendable, Hashable {
        case float32, float16, bfloat16

        /// The type of a tensor; `nil` for other types.
        init?(_ type: SafetensorsType) {
            switch type {
            case .float32: self = .float32
            case .float16: self = .float16
            case .bfloat16: self = .bfloat16
            default: return nil
            }
        }

        var byteCount: Int { self == .float32 ? 4 : 2 }

        /// GGUF's type of the same numbers.
        var storage: GGUFStorage {
            switch self {
            case .float32: .f32
            case .float16: .f16
            case .bfloat16: .bf16
            }
        }

        var code: hearth_import_number {
            switch self {
            case .float32: HEARTH_IMPORT_F32
            case .float16: HEARTH_IMPORT_F16
            case .bfloat16: HEARTH_IMPORT_BF16
            }
        }
    }

    /// The form of a convolution's kernels, and the frame that is taken of them.
    struct Patch: Sendable, Hashable {
        var channels = 3
        var frames = 1
        var frame = 0
        let size: Int
        /// Whether the channels are the innermost numbers, as MLX has them.
        var channelsAreLast = false
    }

    /// The bytes of a row: its weights, its scales (and as many for its biases).
    func rowBytes(columns: Int) -> (weights: Int, scales: Int) {
        switch self {
        case .copy(let byteCount): (columns * byteCount, 0)
        case .floats(let number, _), .round(let number): (columns * number.byteCount, 0)
        case .kernel(let number, let patch): (columns * patch.frames * number.byteCount, 0)
        case .affine(let bits, let group, let number, _): (columns / 8 * bits, columns / group * number.byteCount)
        case .mxfp4: (columns / 2, columns / 32)
        }
    }
}

/// The numbers that a conversion could not keep exactly.
struct ConversionLosses: Sendable, Hashable, Codable {
    /// Scales and biases rounded to 16-bit floats.
    var roundedScales: UInt64 = 0
    /// Blocks of 32 weights rounded anew.
    var roundedBlocks: UInt64 = 0

    static func += (left: inout Self, right: Self) {
        left.roundedScales += right.roundedScales
        left.roundedBlocks += right.roundedBlocks
    }
}

/// The buffers of some rows: what is read, and what is written.
struct RowBuffers {
    let weights: UnsafeMutableRawBufferPointer
    let scales: UnsafeMutableRawBufferPointer
    let biases: UnsafeMutableRawBufferPointer
    let output: UnsafeMutableRawBufferPointer
}

extension Conversion {
    /// Converts rows that are in the buffers.
    /// - Parameters:
    ///   - head: the rows of an attention head whose halves are interleaved; 0 for none.
    /// - Returns: `nil` if a number is not finite or too large for its new form.
    func run(rows: Int, columns: Int, head: Int, _ buffers: RowBuffers) -> ConversionLosses? {
        func bytes(_ buffer: UnsafeMutableRawBufferPointer) -> UnsafeMutablePointer<UInt8>? {
            buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
        }
        let shape = hearth_import_rows(count: rows, columns: columns, head: head)
        let (weights, output) = (bytes(buffers.weights), bytes(buffers.output))
        var losses = hearth_import_losses(rounded_scales: 0, rounded_blocks: 0)
        switch self {
        case .copy(let byteCount): hearth_import_copy(shape, byteCount, weights, output)
        case .floats(let number, let shift): hearth_import_floats(shape, number.code, shift, weights, output)
        case .round(let number):
            guard hearth_import_round(shape, number.code, weights, output) else { return nil }
        case .kernel(let number, let patch):
            let form = hearth_import_patch(
                channels: patch.channels, frames: patch.frames, frame: patch.frame, size: patch.size,
                channels_last: patch.channelsAreLast)
            hearth_import_kernel(rows, form, number.code, weights, output)
        case .affine(let bits, let group, let number, let storage):
            let block =
                switch storage {
                case .q4_1: HEARTH_IMPORT_Q4_1
                case .q5_1: HEARTH_IMPORT_Q5_1
                default: HEARTH_IMPORT_Q8_0
                }
            let isDone = hearth_import_affine(
                shape, UInt32(bits), UInt32(group), number.code, block, weights, bytes(buffers.scales),
                bytes(buffers.biases), output, &losses)
            guard isDone else { return nil }
        case .mxfp4: hearth_import_mxfp4(shape, weights, bytes(buffers.scales), output)
        }
        return ConversionLosses(roundedScales: losses.rounded_scales, roundedBlocks: losses.rounded_blocks)
    }
}
