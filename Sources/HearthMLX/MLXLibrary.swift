#if MLX
import CMLX
import HearthBase
import HearthInference

/// The library that computes with MLX, loaded at its first use and kept until the end of the process.
///
/// Unchecked: its table of functions never changes.
struct MLXLibrary: @unchecked Sendable {
    let table: UnsafePointer<hearth_mlx_table>

    /// The bytes that MLX keeps for later allocations: 20 MiB, as seed 004 sets it.
    static let cacheLimit: UInt64 = 20 << 20

    private static let loaded = Locked<MLXLibrary?>(nil)

    /// The library of this process. Blocks the first time.
    /// - Throws: `engine-missing`, with the loader's reason.
    static func load() throws(LLMError) -> MLXLibrary {
        try loaded.withLock { loaded throws(LLMError) in
            if let library = loaded { return library }
            var error = hearth_mlx_error()
            guard let table = hearth_mlx_load(nil, &error) else {
                throw LLMError(
                    .engineMissing, "the library of MLX cannot be loaded: \(error.reason)",
                    context: ErrorContext(remedy: "Install it, or use the model as it is imported."),
                    disposition: .usage)
            }
            table.pointee.limit_cache(cacheLimit)
            let library = MLXLibrary(table: table)
            loaded = library
            return library
        }
    }

    /// The bytes of MLX's arrays, and of the memory that it keeps for later ones.
    var memory: (active: UInt64, cache: UInt64) {
        let memory = table.pointee.memory()
        return (memory.active, memory.cache)
    }
}

extension hearth_mlx_error {
    /// The reason in words.
    var reason: String {
        withUnsafeBytes(of: text) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
#endif
