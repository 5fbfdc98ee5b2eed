import Foundation
import HearthBase
import HearthClassification

/// A classifier of pictures that Core ML runs, on the Neural Engine where it can.
///
/// ```swift
/// let classifier = try await CoreMLClassifier.load(modelURL, caching: cacheFolder)
/// let answer = try await classifier.classify(file: photo, top: 3)
/// ```
/// The model is compiled at the first load on a device, which takes seconds, and warmed with an empty picture, so that the
/// first answer is as fast as the others. Classes named by the code point of a character, such as `4EBA`, become the
/// character.
public final class CoreMLClassifier: ImageClassifier {
    public let information: ClassifierInformation
    private let model: any PictureModel
    private let crop: PictureCrop
    /// The labels of answers, by the names of the model.
    private let labels: [String: String]

    /// Wraps a loaded model, and warms it. Blocks.
    /// - Throws: ``ClassificationError``: `class-list-unusable`, `classification-failed`.
    init(_ model: any PictureModel, name: String, crop: PictureCrop) throws {
        (self.model, self.crop) = (model, crop)
        let names = model.labels ?? []
        var known = ClassifierInformation(name: name, classCount: names.count)
        (known.inputWidth, known.inputHeight, known.isGrey) = (model.inputWidth, model.inputHeight, model.isGrey)
        information = known
        if names.isEmpty {
            labels = [:]
        } else {
            let list = try ClassLabels(JSONEncoder().encode(names), name: "labels.json").labels
            labels = Dictionary(zip(names, list)) { first, _ in first }
        }
        let (width, height) = (max(1, model.inputWidth), max(1, model.inputHeight))
        _ = try answer(
            .pixels([UInt8](repeating: 255, count: width * height), width: width, height: height, isGrey: true), 1)
    }

    public func classify(_ pictures: [Picture], top: Int) async throws -> [[Candidate]] {
        try await StopFlag.blocking { [self] flag in
            try pictures.map { picture in
                try flag.check()
                return try answer(
                    .pixels(picture.pixels, width: picture.width, height: picture.height, isGrey: picture.isGrey), top)
            }
        }
    }

    /// Classifies the picture of a file of any kind that the system decodes, such as JPEG and HEIC, in its orientation.
    /// - Parameter top: the most candidates; 1 or more.
    /// - Throws: ``ClassificationError`` with `classification-failed`; `CancellationError`.
    public func classify(file: Data, top: Int = 5) async throws -> [Candidate] {
        try await StopFlag.blocking { [self] _ in try answer(.file(file), top) }
    }

    private func answer(_ picture: ModelPicture, _ top: Int) throws -> [Candidate] {
        let found: [(label: String, confidence: Double)]
        do {
            found = try model.classify(picture, crop: crop)
        } catch let error as ClassificationError {
            throw error
        } catch {
            throw ClassificationError(
                .failed, "\(information.name) failed while it classified",
                context: ErrorContext(model: information.name), underlying: error)
        }
        let ordered = found.sorted { ($1.confidence, $0.label) < ($0.confidence, $1.label) }
        return ordered.prefix(max(1, top)).map { Candidate(labels[$0.label] ?? $0.label, $0.confidence) }
    }

    /// Loads a model through a cache.
    static func load(_ model: Path, name: String, crop: PictureCrop, from models: CompiledModels) async throws
        -> CoreMLClassifier
    {
        let loaded = try await models.load(model)
        return try await StopFlag.blocking { _ in try CoreMLClassifier(loaded, name: name, crop: crop) }
    }
}
