import Foundation
import HearthBase

/// The contents of a classifier's files, checked against each other before the model is compiled.
struct LoadedClassifier {
    let model: [UInt8]
    let facts: ONNXFacts
    let settings: ClassifierSettings
    let labels: ClassLabels
    /// The publisher's picture, with its class.
    let canary: (bytes: [UInt8], label: String)?

    /// Reads the files. Blocks.
    /// - Throws: ``ClassificationError``: `classifier-unreadable`, `classifier-unsupported`, `classifier-undescribed`,
    ///   `classifier-settings-unusable`, `class-list-unusable`, `classifier-mismatched`; `FileError`.
    init(_ files: ClassifierFiles, fileSystem: any FileSystem) throws {
        let name = files.model.lastComponent
        guard let size = try fileSystem.status(at: files.model)?.size else {
            throw ONNXFacts.unreadable(name, "there is no such file")
        }
        guard size <= UInt64(ONNXFacts.maximumBytes) else {
            throw ClassificationError(
                .unsupportedModel, "\(name) is too large for a classifier",
                context: ErrorContext(
                    file: files.model.string, expected: "at most \(ONNXFacts.maximumBytes) bytes",
                    found: "\(size) bytes"))
        }
        model = [UInt8](try fileSystem.contents(ofFile: files.model, limit: ONNXFacts.maximumBytes))
        facts = try ONNXFacts(model, name: name)
        try Self.refuseRoundedActivations(facts, name)
        settings = try Self.settings(files, facts, fileSystem)
        labels = try Self.labels(files, facts, fileSystem)
        if let count = files.classCount, count != labels.labels.count {
            throw Self.mismatched(
                files, "\(files.name) tells \(count) classes apart, and its list names \(labels.labels.count)",
                expected: "\(count) classes", found: "\(labels.labels.count) classes")
        }
        if let promised = files.classListVersion, let version = settings.classListVersion, promised != version {
            throw Self.mismatched(
                files, "\(files.name) was trained on another list of classes than its manifest names",
                expected: promised, found: version)
        }
        canary = try settings.canary.map { canary in
            let picture = files.pictureFolder.appending(canary.picture)
            let data = try fileSystem.contents(ofFile: picture, limit: 1 << 20)
            return ([UInt8](data), canary.label)
        }
    }

    /// Refuses a model whose activations are rounded to 8 bits: each engine and processor rounds at other places, so the
    /// confidences would not be those that the thresholds were measured with. Weights of 8 bits are computed exactly.
    private static func refuseRoundedActivations(_ facts: ONNXFacts, _ name: String) throws {
        let found = facts.roundingOperators
        guard !found.isEmpty else { return }
        throw ClassificationError(
            .unsupportedModel,
            "\(name) uses \(found.joined(separator: ", ")), which gives other confidences on each kind of processor",
            context: ErrorContext(
                file: name, expected: "activations of 32 bits; weights may have 8",
                remedy: "The publisher must export the model again, with only its weights of 8 bits."))
    }

    private static func settings(
        _ files: ClassifierFiles, _ facts: ONNXFacts, _ fileSystem: any FileSystem
    ) throws -> ClassifierSettings {
        if let path = files.settings {
            let data = try fileSystem.contents(ofFile: path, limit: ClassifierSettings.maximumBytes)
            return try ClassifierSettings(data, name: path.lastComponent)
        }
        if let text = facts.metadata["classifier"] {
            return try ClassifierSettings(Data(text.utf8), name: "the metadata of \(files.model.lastComponent)")
        }
        throw ClassificationError(
            .undescribedInput, "nothing says how pictures become the input of \(files.model.lastComponent)",
            context: ErrorContext(
                file: files.model.string,
                expected: "classifier.json beside it, or its contents in the model's metadata",
                remedy: "Write a classifier.json, as docs/classification.md describes."))
    }

    private static func labels(
        _ files: ClassifierFiles, _ facts: ONNXFacts, _ fileSystem: any FileSystem
    ) throws -> ClassLabels {
        if let path = files.labels {
            let data = try fileSystem.contents(ofFile: path, limit: ClassLabels.maximumBytes)
            return try ClassLabels(data, name: path.lastComponent)
        }
        if let text = facts.metadata["classes"] {
            return try ClassLabels(Data(text.utf8), name: "classes in \(files.model.lastComponent)")
        }
        throw ClassificationError(
            .unusableClasses, "\(files.name) has no list of classes",
            context: ErrorContext(
                file: files.model.string, expected: "classes.txt beside the model",
                remedy: "Put the list of its classes beside it, one class a line."))
    }

    static func mismatched(
        _ files: ClassifierFiles, _ message: String, expected: String, found: String
    ) -> ClassificationError {
        ClassificationError(
            .mismatched, message,
            context: ErrorContext(
                model: files.name, expected: expected, found: found, remedy: "The publisher must correct it."))
    }
}
