import Foundation
import HearthBase
import HearthClassification
import HearthInference
import HearthTestSupport
import Testing

/// Makes classifiers of small models in a folder of one test.
struct ClassifierLab {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Writes a model with its files, and returns the model's path.
    @discardableResult
    func write(
        _ model: ONNXBuilder = ONNXBuilder(), name: String = "model.onnx", settings: String? = ONNXBuilder.settings,
        labels: [String]? = ["4E00", "4E8C", "4E09", "56DB"]
    ) throws -> Path {
        if let settings { try folder.write("classifier.json", Data(settings.utf8)) }
        if let labels { try folder.write("classes.txt", Data(labels.joined(separator: "\n").utf8)) }
        return try folder.write(name, Data(model.bytes))
    }

    /// A picture with ink in its quadrants.
    static func picture(_ ink: [Double], side: Int = 8) throws -> Picture {
        try Picture(width: side, height: side, pixels: ONNXBuilder.pixels(side: side, ink: ink))
    }

    /// The pictures of the four classes.
    static func pictures() throws -> [Picture] {
        try (0..<4).map { place in try picture((0..<4).map { $0 == place ? 1 : 0 }) }
    }
}

/// The code of what a body throws; `nil` if it throws nothing.
func refusal(_ body: () async throws -> Void) async -> String? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? any HearthFailure)?.codeText ?? "not typed: \(error)"
    }
}

/// The same for a body that does not wait.
func refusal(now body: () throws -> Void) -> String? {
    do {
        try body()
        return nil
    } catch {
        return (error as? any HearthFailure)?.codeText ?? "not typed: \(error)"
    }
}

/// A classifier that answers as a test says: the width of a picture is the number of its answer.
struct ScriptedClassifier: ImageClassifier {
    var information = ClassifierInformation(name: "script", classCount: 3)
    /// The answers by the widths of pictures; a missing one fails.
    var answers: [Int: [Candidate]]

    func classify(_ pictures: [Picture], top: Int) async throws -> [[Candidate]] {
        try pictures.map { picture in
            guard let candidates = answers[picture.width] else {
                throw ClassificationError(.failed, "no answer is scripted")
            }
            return Array(candidates.prefix(top))
        }
    }
}

/// A reader that answers by the width of a picture.
actor ScriptedReader: CharacterReader {
    private let replies: [Int: Result<CharacterReading, LLMError>]
    private let onRead: @Sendable () async -> Void
    private(set) var asked: [Int] = []

    init(
        _ replies: [Int: Result<CharacterReading, LLMError>], onRead: @escaping @Sendable () async -> Void = {}
    ) {
        self.replies = replies
        self.onRead = onRead
    }

    func read(_ picture: ChatImage) async throws -> (text: String, tokens: Int) {
        asked.append(picture.header.width)
        await onRead()
        guard let reply = replies[picture.header.width] else {
            throw LLMError(.unreachable, "no reply is scripted", disposition: .tryLater)
        }
        let reading = try reply.get()
        return (reading.text, reading.tokens)
    }
}
