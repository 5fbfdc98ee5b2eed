import HearthBase

/// The sizes of a vision model's projector file (`mmproj`).
package struct ProjectorShape: Sendable, Hashable {
    /// The bytes of all weights.
    package var weightBytes: UInt64
    /// The patches of a picture of the model's own size.
    package var patches: Int
    package var width: Int
    package var innerWidth: Int
    package var heads: Int

    /// Reads the shape from a header; `nil` if it is no projector or a size is missing.
    package init?(_ header: GGUFHeader, fileBytes: UInt64) {
        func number(_ key: String, _ range: ClosedRange<Int>) -> Int? {
            header.metadata["clip.vision." + key]?.integer.flatMap { range.contains($0) ? $0 : nil }
        }
        guard header.architecture == "clip", let image = number("image_size", 1...16_384),
            let patch = number("patch_size", 1...1024), let width = number("embedding_length", 1...1_048_576)
        else { return nil }
        weightBytes = header.tensors?.byteCount ?? fileBytes
        let side = max(1, image / patch)
        patches = side * side
        self.width = width
        innerWidth = number("feed_forward_length", 1...16_777_216) ?? 4 * width
        heads = number("attention.head_count", 1...65_536) ?? 1
    }

    /// A projector whose header tells too little: its weights alone count.
    package init(fileBytes: UInt64) { (weightBytes, patches, width, innerWidth, heads) = (fileBytes, 0, 0, 0, 0) }

    /// The weights and the memory for encoding one picture: the hidden states, and the scores between all patches for
    /// all heads, in F32.
    package var bytes: UInt64 {
        let pieces = UInt64(patches)
        let states = pieces.multipliedClamped(by: 4 * (4 * UInt64(width) + 2 * UInt64(innerWidth)))
        let scores = pieces.multipliedClamped(by: pieces).multipliedClamped(by: 4 * UInt64(heads))
        return weightBytes.addingClamped(states).addingClamped(scores)
    }
}
