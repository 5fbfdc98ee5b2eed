import Foundation
import HearthBase
import HearthCatalog
import HearthClassification
import HearthDelivery
import HearthStore
import HearthTransfer

extension Hearth {
    /// A classifier by its reference: `family`, or the path of an `.onnx` file with `classifier.json` and a list of classes
    /// beside it.
    ///
    /// Fetches the classifier of a family if it is not on this device, and loads it. A family's classifier follows updates:
    /// calls under way end on the old one.
    /// - Parameters:
    ///   - policy: whether to use the installed release or ask for updates.
    ///   - progress: takes the progress of a download.
    /// - Throws: `CatalogError`, `StoreError`, `DeliveryError` or `TransferError` if it cannot be found or fetched;
    ///   `ClassificationError` if it cannot be loaded; `CancellationError`.
    public func classifier(
        _ reference: String, policy: ModelPolicy = .localWithBackgroundUpdate,
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> ClassifierProxy {
        if !reference.contains("://"), Path(reference).fileExtension == "onnx" {
            let files = try await blocking { try ClassifierFiles(local: Path(reference)) }
            return ClassifierProxy(try await WorkerClassifier.load(files, program: workerProgram))
        }
        switch try ModelReference(parsing: reference) {
        case .family(let family, nil, nil):
            return try await classifiers.proxy(family, policy: policy, options: options, progress: progress)
        case .family(let family, let version, let variant):
            let release = try await manager.installed(family, version: version, variant: variant)
            let files = ClassifierFiles(release, weights: try release.requireWeights())
            return ClassifierProxy(try await WorkerClassifier.load(files, program: workerProgram))
        case .file(let path):
            throw ClassificationError(
                .unsupportedModel, "\(path) is no classifier: a .gguf file is a model that answers with text",
                context: ErrorContext(
                    file: path.string, expected: "a family, or the path of an .onnx file", found: "a .gguf file",
                    remedy: "Give the path of an .onnx file, or the family of an installed classifier."),
                disposition: .usage)
        case .manifest, .hub, .registry:
            throw ClassificationError(
                .unsupportedModel, "\(reference.quoted) is no classifier",
                context: ErrorContext(
                    expected: "a family, or the path of an .onnx file", found: reference.quoted,
                    remedy: "Pull the model first, then name its family."), disposition: .usage)
        }
    }

    /// The only installed classifier.
    /// - Throws: `ClassificationError` with `classifier-not-ready` if there is none or if there are several; as
    ///   ``classifier(_:policy:progress:)``.
    package func onlyClassifier() async throws -> ClassifierProxy {
        let installed = try await manager.installed().filter { $0.receipt.role == .classifier }
        let families = Set(installed.map(\.identity.family)).sorted()
        guard let family = families.first, families.count == 1 else {
            throw ClassificationError(
                .notReady,
                families.isEmpty
                    ? "no classifier is installed"
                    : "several classifiers are installed: \(families.map(\.name).joined(separator: ", "))",
                context: ErrorContext(remedy: families.isEmpty ? "Install one first." : "Name one of them."))
        }
        return try await classifier(family.name, policy: .localOnly)
    }
}
