import HearthBase

/// A GGUF file that can be written: its header, and where the bytes of each tensor come from.
package struct PlannedFile: Sendable {
    let fileSystem: any FileSystem
    let shards: [OpenFile]
    /// Tensors of constants.
    let factors: [[Float]]
    let items: [PlannedTensor]
    /// The tensors of ``factors``, then those of ``items``.
    let layout: GGUFWriter
    /// All that decides the file besides the version, the shards and ``layout``.
    let settings: String

    /// The bytes of the file.
    package var expectedSize: UInt64 { layout.fileSize }

    /// Lays out a file.
    init(
        metadata: [(key: String, value: GGUFValue)], factors: [(name: String, values: [Float])] = [],
        items: [PlannedTensor], shards: [OpenFile], settings: String, fileSystem: any FileSystem
    ) throws {
        let constants = factors.map {
            GGUFWriter.Tensor(name: $0.name, shape: [UInt64($0.values.count)], storage: .f32)
        }
        layout = try GGUFWriter(metadata: metadata, tensors: constants + items.map(\.output))
        (self.factors, self.items, self.shards) = (factors.map(\.values), items, shards)
        (self.settings, self.fileSystem) = (settings, fileSystem)
    }
}
