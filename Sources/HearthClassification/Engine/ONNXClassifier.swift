import Foundation
import HearthBase

/// A classifier of characters: an ONNX model that OpenVINO runs on the processor.
///
/// It is ready when it exists: its files fit together, the engine runs it, and it knows its publisher's picture. Its
/// labels and its classes never change.
public final class ONNXClassifier: ImageClassifier {
    public let information: ClassifierInformation
    /// Computes one picture at a time, or the number that the model has.
    private let network: Network
    /// Computes ``batch`` pictures at a time; made at the first call that has so many.
    private let wide = Locked<Network?>(nil)
    private let makeWide: @Sendable () throws -> Network
    private let settings: ClassifierSettings
    private let labels: [String]
    /// The pictures of one computation.
    private let batch: Int
    /// The computations of one call that run side by side, each on a thread of its own.
    private let lanes: Int

    /// The most pictures of one computation: two of 16 side by side take 0.68 of the time that one of 32 takes on two
    /// threads.
    private static let maximumPictures = 16

    /// Loads a model file of this machine, with `classifier.json` and the list of classes beside it.
    /// - Throws: as ``load(_:threads:)``.
    public static func load(_ model: Path) async throws -> ONNXClassifier {
        try await load(blocking { try ClassifierFiles(local: model) })
    }

    /// Loads a classifier, and probes it: the width of its output is that of its list, and it knows the publisher's
    /// picture.
    /// - Parameter threads: the computing threads; `nil` for all but one of the processors.
    /// - Throws: ``ClassificationError`` with `vision-missing`, `classifier-unreadable`, `classifier-unsupported`,
    ///   `classifier-undescribed`, `classifier-settings-unusable`, `class-list-unusable`, `classifier-mismatched`,
    ///   `classifier-canary-missed`, `classification-failed`; `FileError`; `CancellationError`.
    package static func load(
        _ files: ClassifierFiles, threads: Int? = nil, fileSystem: any FileSystem = LocalFileSystem()
    ) async throws -> ONNXClassifier {
        try await StopFlag.blocking { flag in
            let loaded = try LoadedClassifier(files, fileSystem: fileSystem)
            try flag.check()
            let threads = threads ?? max(1, ProcessInfo.processInfo.activeProcessorCount - 1)
            let classifier = try ONNXClassifier(loaded, files, threads: threads)
            try flag.check()
            try classifier.probe(loaded)
            return classifier
        }
    }

    private init(_ loaded: LoadedClassifier, _ files: ClassifierFiles, threads: Int) throws {
        let name = files.model.lastComponent
        let library = try NetworkLibrary.shared()
        let (model, facts) = (loaded.model, loaded.facts)
        let make: @Sendable (Int, Int) throws -> Network = { batch, streams in
            do throws(VisionFailure) {
                return try Network(model, batch: batch, streams: streams, threads: threads, library: library)
            } catch {
                throw Self.refusal(of: name, facts, error)
            }
        }
        network = try make(1, 1)
        makeWide = { try make(Self.maximumPictures, threads) }
        lanes = network.hasFreeBatch ? threads : 1
        settings = loaded.settings
        labels = loaded.labels.labels
        batch = try Self.batch(network, settings, name)
        var known = ClassifierInformation(name: files.name, classCount: labels.count)
        known.classListVersion = files.classListVersion ?? settings.classListVersion
        (known.inputWidth, known.inputHeight) = (settings.width, settings.height)
        (known.isGrey, known.margin) = (settings.channels == .grey, settings.margin)
        known.thresholds = settings.thresholds
        information = known
        try probeWidth(files)
    }

    public func classify(_ pictures: [Picture], top: Int) async throws -> [[Candidate]] {
        let parts = parts(of: pictures)
        let rest = Locked(parts.indices)
        // Each takes the next part until none is left.
        let lane: @Sendable () async throws -> [(part: Int, answers: [[Candidate]])] = { [self] in
            try await StopFlag.blocking { [self] flag in
                var found: [(part: Int, answers: [[Candidate]])] = []
                while let part = rest.withLock({ $0.popFirst() }) {
                    try flag.check()
                    found.append((part, try classify(parts[part], top: top)))
                }
                return found
            }
        }
        guard parts.count > 1, lanes > 1 else { return try await lane().flatMap(\.answers) }
        return try await withThrowingTaskGroup(of: [(part: Int, answers: [[Candidate]])].self) { group in
            for _ in 0..<min(lanes, parts.count) { group.addTask(operation: lane) }
            let found = try await group.reduce(into: []) { $0 += $1 }
            return found.sorted { $0.part < $1.part }.flatMap(\.answers)
        }
    }

    /// The pictures of each computation: ``batch``, and one at a time what is left of a model that takes any number.
    private func parts(of pictures: [Picture]) -> [ArraySlice<Picture>] {
        var parts: [ArraySlice<Picture>] = []
        var rest = pictures[...]
        while !rest.isEmpty {
            let part = rest.prefix(rest.count < batch && network.hasFreeBatch ? 1 : batch)
            rest = rest.dropFirst(part.count)
            parts.append(part)
        }
        return parts
    }

    /// Classifies the pictures of one computation. Blocks.
    private func classify(_ part: ArraySlice<Picture>, top: Int) throws -> [[Candidate]] {
        let scores = Scores(output: settings.output, temperature: settings.temperature)
        let numbers = try compute(part)
        return (0..<part.count).map { index in
            let row = numbers[index * labels.count..<(index + 1) * labels.count]
            return scores.ranked(row, top: top).map { Candidate(labels[$0.place], $0.confidence) }
        }
    }

    /// Computes the output of at most ``batch`` pictures.
    private func compute(_ pictures: ArraySlice<Picture>) throws -> [Float] {
        // A model of a fixed batch gets all of it; the rest is zero.
        let count = network.hasFreeBatch ? pictures.count : batch
        var input = [Float](repeating: 0, count: count * settings.inputCount)
        try input.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            for (index, picture) in pictures.enumerated() {
                try picture.fill(settings.input, into: base + index * settings.inputCount)
            }
        }
        let output = try run(&input, count)
        guard output.count == count * labels.count else {
            throw ClassificationError(
                .failed, "\(information.name) failed while it classified: its output changed its width",
                context: ErrorContext(model: information.name))
        }
        return output.numbers
    }

    private func run(_ input: inout [Float], _ count: Int) throws -> (numbers: [Float], count: Int) {
        let network = count == 1 || !network.hasFreeBatch ? network : try widened()
        do {
            return try network.run(&input, shape: settings.shape(count), capacity: count * labels.count)
        } catch {
            throw ClassificationError(
                .failed, "\(information.name) failed while it classified: \(error.text)",
                context: ErrorContext(model: information.name))
        }
    }

    /// The model for ``batch`` pictures.
    private func widened() throws -> Network {
        if let made = wide.withLock({ $0 }) { return made }
        // Two calls at once may both compile it, and the first is kept.
        let made = try makeWide()
        return wide.withLock { wide in
            let kept = wide ?? made
            wide = kept
            return kept
        }
    }

    // MARK: Probe

    /// Compares the width of the output with the number of classes, by an empty picture.
    private func probeWidth(_ files: ClassifierFiles) throws {
        let count = network.hasFreeBatch ? 1 : batch
        var input = [Float](repeating: 0, count: count * settings.inputCount)
        let width = try run(&input, count).count
        guard width == count * labels.count else {
            throw LoadedClassifier.mismatched(
                files, "\(files.name) has an output of \(width / count) numbers for \(labels.count) classes",
                expected: "\(labels.count) numbers", found: "\(width / count) numbers")
        }
    }

    /// Classifies the publisher's picture.
    private func probe(_ loaded: LoadedClassifier) throws {
        guard let canary = loaded.canary else { return }
        let picture = try Picture(file: canary.bytes)
        let answer = try classify([picture], top: 1).first?.first
        guard let answer, answer.label == canary.label, answer.confidence.isFinite else {
            throw ClassificationError(
                .canaryMissed, "\(information.name) does not know the picture that its publisher sent along",
                context: ErrorContext(
                    model: information.name, expected: canary.label, found: answer?.label,
                    remedy: "The publisher must correct it."))
        }
    }

    // MARK: Refusals

    /// The pictures of one computation, if the model's input and output are those of a classifier.
    private static func batch(_ network: Network, _ settings: ClassifierSettings, _ name: String) throws -> Int {
        guard network.inputs == 1, network.outputs == 1 else {
            throw unsupported(name, "has \(network.inputs) inputs and \(network.outputs) outputs", "one of each")
        }
        guard network.input.isFloat, network.output.isFloat else {
            throw unsupported(name, "computes with other numbers than 32-bit floating point", "float32")
        }
        let wanted = settings.shape(1).map { Int($0) }
        let found = network.input.dimensions
        let fits = zip(wanted, found).dropFirst().allSatisfy { $0.1 == nil || $0.0 == $0.1 }
        guard found.count == 4, fits else {
            let shape = found.map { $0.map(String.init) ?? "?" }.joined(separator: " x ")
            throw unsupported(
                name, "has an input of \(shape), not the one that classifier.json describes",
                "N x " + wanted.dropFirst().map(String.init).joined(separator: " x "))
        }
        return network.hasFreeBatch ? maximumPictures : min(found.first.flatMap(\.self) ?? 1, 4096)
    }

    private static func unsupported(_ name: String, _ fact: String, _ expected: String) -> ClassificationError {
        ClassificationError(
            .unsupportedModel, "\(name) \(fact)",
            context: ErrorContext(file: name, expected: expected, remedy: "Use another model."))
    }

    /// The error of a model that the engine does not compile; names the operators that it does not have.
    private static func refusal(of name: String, _ facts: ONNXFacts, _ failure: VisionFailure) -> ClassificationError {
        let words = Set(failure.text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
        let operators = facts.operators.filter { words.contains($0.split(separator: ".").last.map(String.init) ?? $0) }
        if failure.text.contains("support"), !operators.isEmpty {
            let list = operators.sorted().joined(separator: ", ")
            return unsupported(name, "uses \(list), which OpenVINO does not have", "operators of ONNX")
        }
        switch failure.kind {
        case .unreadable, .unsupported:
            return ClassificationError(
                .unreadableModel, "\(name) cannot be loaded: \(failure.text)",
                context: ErrorContext(file: name, remedy: "Fetch the file again, or use another model."))
        case .missing: return failure.missing("OpenVINO")
        case .failed: return ClassificationError(.failed, "\(name) cannot be loaded: \(failure.text)")
        }
    }
}
