import Foundation
import HearthBase

/// A family of a catalog whose files are in a repository of the Hub. The files are chosen when the model is pulled.
package struct HubModel: Sendable, Hashable {
    /// The task of the model.
    package enum Kind: String, Sendable, Hashable, Codable, CaseIterable { case chat, vision, code, embeddings }

    /// How well the model calls tools, as its maker says.
    package enum Tools: String, Sendable, Hashable, Codable, CaseIterable { case yes, weak, no }

    package var family: Family
    /// The name shown to people.
    package var name: String
    /// The repository, under the name of the family.
    package var repository: HubReference
    /// The only quantization of the repository; `nil` if the device's memory decides.
    package var quantization: QuantizationLabel?
    package var parameters: UInt64
    /// The parameters read for each token; fewer than all in a mixture of experts.
    package var activeParameters: UInt64
    /// The size of the projector, 0 without one.
    package var projectorBytes: UInt64
    package var kind: Kind
    package var tools: Tools
    package var license: String
    package var summary: String
    /// Whether the model may be the recommended one: its maker allows any use, and it answers in general.
    package var isRecommendable: Bool
}
