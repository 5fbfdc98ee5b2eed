import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTransfer
import Testing

@testable import Hearth

/// The models the tests talk about.
enum Models {
    static let text = model("diary", memory: 4 << 30)
    static let other = model("poet", memory: 2 << 30)
    static let vision = model("eyes", role: .vision, memory: 1 << 30)

    static func model(
        _ family: String, version: String = "1.0.0", role: ModelRole = .text, size: UInt64 = 98_400_000,
        memory: UInt64 = 1 << 30, isVerified: Bool = true
    ) -> ModelInfo {
        // Literals of this file that are valid names.
        guard let family = Family(family), let version = ReleaseVersion(version) else {
            preconditionFailure("no family or version")
        }
        return ModelInfo(
            identity: ReleaseIdentity(family: family, version: version, variant: Variant("q4_1")), role: role,
            size: size, requiredMemory: memory, isVerified: isVerified)
    }

    static func weights(_ model: ModelInfo) -> Path { Path("/models/\(model.identity)") }

    static func arrived(_ model: ModelInfo) -> LocalDelivery {
        LocalDelivery(local: LocalModel(model), weights: weights(model))
    }
}

extension ModelInfo {
    /// The same model in another version.
    func at(_ version: String) -> ModelInfo {
        Models.model(id.name, version: version, role: role, size: size, memory: requiredMemory, isVerified: isVerified)
    }
}
