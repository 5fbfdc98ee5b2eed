import HearthBase

/// The result of an import.
package struct ImportReport: Sendable, Hashable {
    /// The bytes of the GGUF file.
    package let fileSize: UInt64
    /// The number of tensors.
    package let tensorCount: Int
    /// The bytes that an earlier, interrupted import had written.
    package let resumedBytes: UInt64
    /// The number of scales and biases that a 16-bit float cannot hold exactly.
    package let roundedScales: UInt64
    /// The number of blocks of 32 weights that were rounded anew.
    package let roundedBlocks: UInt64
    /// The losses, each a sentence for people.
    package var notes: [String] {
        guard roundedScales > 0 else { return [] }
        return ["\(roundedScales) scales were rounded to 16-bit floats."]
    }
}
