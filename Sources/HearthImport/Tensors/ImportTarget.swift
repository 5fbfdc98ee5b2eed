/// How large matrices of 16-bit and 32-bit floats are stored.
package enum ImportTarget: String, Sendable, Hashable, Codable, CaseIterable {
    /// Floats stay as they are.
    case asStored = "as-stored"
    /// Floats become blocks of 8 bits.
    case q8_0
}
