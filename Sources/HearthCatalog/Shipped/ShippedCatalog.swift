import Foundation
import HearthBase

/// The models to begin with: a list compiled into the program, and where a newer one may be.
package struct ShippedCatalog: Sendable, Hashable {
    /// The list of the program.
    package let catalog: Catalog
    /// The address of a newer list, with its keys; `nil` for none.
    package let origin: Origin?

    /// - Parameter origin: an origin whose list has `hubModels`.
    /// - Throws: ``CatalogError`` with `manifest-invalid` if the compiled list is malformed, which a test excludes.
    package init(origin: Origin? = nil) throws {
        catalog = try Self.compiled.get()
        self.origin = origin
    }

    private static let compiled = Result {
        try Catalog(manifest: Data(ShippedList.json.utf8), url: URL(filePath: "/catalog/models.json"))
    }

    /// The list to use: a newer one of the origin, else that of the program.
    package func newest(_ other: Catalog?) -> [HubModel] {
        guard let other, !other.hubModels.isEmpty else { return catalog.hubModels }
        // A program that was updated after the list has the newer one.
        if let issued = other.issued, let own = catalog.issued, issued < own { return catalog.hubModels }
        return other.hubModels
    }
}

/// A model of the catalog, judged for a device.
package struct SuggestedModel: Sendable, Hashable {
    package let model: HubModel
    /// The quantization that the device would get; the nearest one if the repository has others.
    package let quantization: QuantizationLabel
    /// The bytes to download, about.
    package let size: UInt64
    /// Whether the memory has room.
    package let fits: Bool
    /// Whether only a quantization of fewer than four bits has room.
    package let isCoarse: Bool
    /// The tokens of an answer in a second, about; `nil` if the speed of the memory is unknown.
    package let tokensPerSecond: Double?
    /// Whether this is the one to begin with on the device.
    package fileprivate(set) var isRecommended = false

    /// Judges a model for a device.
    fileprivate init(_ model: HubModel, memory: UInt64, bandwidth: Double?) {
        self.model = model
        let rule = QuantizationRule(memory: memory, bandwidth: bandwidth, activeShare: model.activeShare)
        let labels = model.quantization.map { [$0] } ?? Self.usual
        let builds = labels.map {
            QuantizationRule.Candidate(label: $0, parameters: model.parameters, companions: model.projectorBytes)
        }
        let chosen = rule.choose(among: builds)
        let build = builds[chosen?.index ?? 0]
        quantization = labels[chosen?.index ?? 0]
        size = build.total
        fits = chosen != nil
        isCoarse = chosen?.isCoarse ?? false
        tokensPerSecond = rule.tokensPerSecond(build)
    }

    /// The quantizations that repositories usually have, the first one where none has room.
    private static let usual = ["Q4_K_M", "Q5_K_M", "Q6_K", "Q8_0", "Q3_K_M", "Q2_K"].compactMap {
        QuantizationLabel($0)
    }

    /// Judges the models of a list, and recommends one.
    ///
    /// The recommended one is the largest that has room and answers at a speed for talking; if none does, the fastest that
    /// has room.
    package static func list(_ models: [HubModel], memory: UInt64, bandwidth: Double?) -> [SuggestedModel] {
        var list = models.map { SuggestedModel($0, memory: memory, bandwidth: bandwidth) }
        let able = list.indices.filter { list[$0].fits && !list[$0].isCoarse && list[$0].model.isRecommendable }
        let fast = able.filter { list[$0].tokensPerSecond.map { $0 >= QuantizationRule.talkingSpeed } ?? true }
        let best =
            fast.max { list[$0].model.parameters < list[$1].model.parameters }
            ?? able.min { list[$0].model.activeParameters < list[$1].model.activeParameters }
        if let best { list[best].isRecommended = true }
        return list
    }

    /// The recommended model of a list; with `seeing`, the largest that sees, has room and is fast enough.
    package static func recommended(in list: [SuggestedModel], seeing: Bool = false) -> SuggestedModel? {
        guard seeing else { return list.first(where: \.isRecommended) }
        return list.filter { model in
            model.model.kind == .vision && model.fits && !model.isCoarse
                && (model.tokensPerSecond.map { $0 >= QuantizationRule.talkingSpeed } ?? true)
        }.max { $0.model.parameters < $1.model.parameters }
    }
}

extension HubModel {
    /// The part of the weights that is read for a token.
    package var activeShare: Double { Double(activeParameters) / Double(parameters) }
}
