import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery

extension ModelManager {
    /// The recommended model of the catalog, or one that sees.
    /// - Throws: ``CommandError`` with `no-model` if there is none; `CancellationError`.
    func recommended(seeing: Bool = false) async throws -> ModelReference {
        let models = try await suggestions().models
        guard let model = SuggestedModel.recommended(in: models, seeing: seeing) else {
            throw CommandError(
                .noModel,
                models.isEmpty
                    ? "no model is named, and the catalog is off" : "no model of the catalog fits this device",
                context: ErrorContext(remedy: "Name one: 'hearth search WORDS' finds models of the Hub."))
        }
        return .family(model.model.family, version: nil, variant: nil)
    }
}

extension CommandContext {
    /// The error of a command without a model where no person can be asked, naming the recommended one.
    func modelNeeded(_ declaration: CommandDeclaration) async throws -> UsageError {
        let manager = try await hearth().manager
        let models = try await manager.suggestions().models
        let what = "\(declaration.commandLine) needs a model, as no person can be asked"
        guard let model = SuggestedModel.recommended(in: models) else {
            return UsageError(what, hint: declaration.hint())
        }
        return UsageError(
            what,
            hint: "Recommended for this device: '\(declaration.commandLine) \(model.model.family)', about "
                + "\(ByteCount(model.size)).")
    }

    /// Looks up a model at its source, and asks the person with its size.
    /// - Returns: `nil` after a no.
    /// - Throws: why the model cannot be had; `CancellationError`.
    func confirmed(
        _ reference: ModelReference, isRecommended: Bool = false, from manager: ModelManager, _ options: PullOptions
    ) async throws -> Offer? {
        console.showBar("asking the Hub")
        defer { console.showBar(nil) }
        let offer = try await manager.resolve(reference, options: options)
        console.showBar(nil)
        if let objection = offer.objection { throw objection.failure }
        let release = offer.release
        let name = release.name ?? release.identity.family.name
        if isRecommended {
            let facts = [release.summary, release.license.map { "License: \($0)." }].compactMap(\.self)
            console.say("Recommended for this device: \(release.identity.family). \(facts.joined(separator: " "))")
        }
        let question = "\(name) is not on this device. Download \(ByteCount(release.totalSize)) now?"
        return try await confirms(question) ? offer : nil
    }
}
