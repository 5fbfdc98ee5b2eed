import Foundation
import HearthBase
import HearthClassification
import HearthInference
import HearthWorkers

/// A classifier in a worker, which starts anew after its death.
final class WorkerClassifier: ImageClassifier {
    let information: ClassifierInformation
    private let files: ClassifierFiles
    private let program: Path
    private let host: Locked<WorkerHost>
    /// Starts run one after the other.
    private let starts = TurnQueue()
    private let questions = TurnQueue()

    /// The longest time of one picture. A network can contain an endless loop.
    private static let longestAnswer = Duration.seconds(20)

    /// The memory of a worker in bytes: OpenVINO's own, and eight times the model.
    private static func limit(_ files: ClassifierFiles) throws -> UInt64 {
        let size = try LocalFileSystem().status(at: files.model)?.size ?? 0
        return UInt64(1 << 30).addingSaturating(size < 1 << 32 ? 8 * size : .max)
    }

    /// Loads a classifier.
    /// - Parameter program: of the worker; `nil` for this process.
    /// - Throws: as `ONNXClassifier.load`; `engine-died`.
    static func load(_ files: ClassifierFiles, program: Path?) async throws -> any ImageClassifier {
        guard let program else { return try await ONNXClassifier.load(files) }
        let (host, information) = try await start(files, program)
        return WorkerClassifier(host, information, files, program)
    }

    private init(_ host: WorkerHost, _ information: ClassifierInformation, _ files: ClassifierFiles, _ program: Path) {
        (self.host, self.information, self.files, self.program) = (Locked(host), information, files, program)
    }

    private static func start(
        _ files: ClassifierFiles, _ program: Path
    ) async throws -> (WorkerHost, ClassifierInformation) {
        let (readable, memory) = try await blocking { (try files.opened(), try limit(files)) }
        var start = WorkerStart(program, readable: readable, classifies: true)
        start.limits.dataBytes = memory
        let host = try await WorkerHost(model: files.name) { [start] in try start.start() }
        let reply = try await failing { try await host.run(Array(JSON.data(HostedFiles(files)))) }
        return (host, try JSON.value(HostedFacts.self, Data(reply)).information)
    }

    func classify(_ pictures: [Picture], top: Int) async throws -> [[Candidate]] {
        guard !pictures.isEmpty else { return [] }
        let reply = try await Self.failing {
            let host = try await living()
            let content = try HostedPictures.write(pictures, top: top)
            // One after the other, so that no question pays for the time of another.
            return try await questions.turnUnlessCancelled {
                try await host.run(content, within: Self.longestAnswer * pictures.count)
            }
        }
        let answers = try JSON.value([[HostedCandidate]].self, Data(reply))
        guard answers.count == pictures.count, answers.joined().allSatisfy({ !(abs($0.candidate.confidence) > 1e6) })
        else {
            throw ClassificationError(.failed, "the classifier gave \(answers.count) answers to \(pictures.count)")
        }
        return answers.map { $0.map(\.candidate) }
    }

    private func living() async throws -> WorkerHost {
        let host = host.withLock { $0 }
        guard !host.isAlive else { return host }
        return try await starts.turnUnlessCancelled { [self] in
            let host = self.host.withLock { $0 }
            guard !host.isAlive else { return host }
            let fresh = try await Self.start(files, program).0
            self.host.withLock { $0 = fresh }
            return fresh
        }
    }

    /// Errors of the worker under the codes of classifiers.
    private static func failing<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as LLMError {
            throw ClassificationError(
                ErrorCode(stringLiteral: error.codeText), error.message, context: error.context,
                disposition: error.disposition)
        }
    }
}

/// The worker's side: the first content names the files, each later one brings pictures.
final class HostedClassifier: Sendable {
    private let loaded = Locked<ONNXClassifier?>(nil)

    func answer(_ content: [UInt8]) async throws -> [UInt8] {
        if let classifier = loaded.withLock({ $0 }) {
            let (pictures, top) = try await blocking { try HostedPictures.read(content) }
            let answers = try await classifier.classify(pictures, top: top)
            return Array(try JSON.data(answers.map { $0.map(HostedCandidate.init) }))
        }
        let files = try JSON.value(HostedFiles.self, Data(content)).files
        let classifier = try await ONNXClassifier.load(files)
        loaded.withLock { $0 = classifier }
        return Array(try JSON.data(HostedFacts(classifier.information)))
    }
}
