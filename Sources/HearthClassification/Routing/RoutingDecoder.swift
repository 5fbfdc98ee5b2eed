import HearthBase
import HearthInference

/// An event of decoding.
package enum DecodingEvent: Sendable, Hashable {
    /// So many pictures were classified on this device.
    case classified(Int, of: Int)
    /// A picture was decided. Results come in the order of the pictures.
    case character(DecodedCharacter)
}

/// Decodes pictures of characters: the classifier of this device first, the cloud where it is not sure.
///
/// ```swift
/// let decoder = RoutingDecoder(proxy: proxy, cloud: CloudCharacterReader(orchestrator))
/// let characters = decoder.decode(pictures) { offer in await ask("Send \(offer.requests) pictures to the cloud?") }
/// for try await character in characters { print(character.text, character.verdict) }
/// ```
/// Confidences from 0.90 on are accepted, those from 0.60 on are accepted as uncertain; below, or if the classifier gives no
/// number or fails, the cloud is asked. Nothing is sent before the user consents, and nothing is lost: without an
/// answer of the cloud, that of this device stays, marked as unverified.
public final class RoutingDecoder: Sendable {
    private let proxy: ClassifierProxy
    private let cloud: (any CharacterReader)?
    private let limits: EscalationLimits
    private let thresholds: RoutingThresholds?
    private let time: TimeSource
    /// The characters that the cloud read, by the digest of their pictures.
    private let known = Locked<[SHA256Digest: String]>([:])

    /// The pictures that are classified between two results.
    private static let chunk = 32
    private static let maximumKnown = 4096

    /// A decoder for the life of an app.
    /// - Parameters:
    ///   - cloud: reads pictures that the classifier is not sure about; `nil` for none.
    public convenience init(proxy: ClassifierProxy, cloud: (any CharacterReader)? = nil) {
        self.init(proxy: proxy, cloud: cloud, limits: EscalationLimits())
    }

    /// A decoder with other limits of questions to the cloud.
    /// - Parameter thresholds: the confidences of the bands; `nil` for those of the classifier.
    package init(
        proxy: ClassifierProxy, cloud: (any CharacterReader)? = nil, thresholds: RoutingThresholds? = nil,
        limits: EscalationLimits = EscalationLimits(), time: TimeSource = .system
    ) {
        self.proxy = proxy
        self.cloud = cloud
        self.thresholds = thresholds
        self.limits = limits
        self.time = time
    }

    /// Decodes pictures. All of them are classified by the classifier that is in use at the beginning.
    ///
    /// A reader who stops ends the work: the results so far count, and no further request is sent.
    /// - Parameters:
    ///   - top: the most candidates of a picture.
    ///   - consent: asked once, before anything is sent to the cloud; `false` keeps the answers of this device.
    /// - Returns: the characters in the order of the pictures; an error ends them only if no classifier is loaded.
    public func decode(
        _ pictures: [Picture], top: Int = 5,
        consent: @escaping @Sendable (EscalationOffer) async -> Bool = { _ in false }
    ) -> AsyncThrowingStream<DecodedCharacter, any Error> {
        .running { yield in
            try await self.run(pictures, top: top, consent: consent) {
                if case .character(let character) = $0 { yield(character) }
            }
        }
    }

    /// The same with the progress of the classifier.
    package func events(
        _ pictures: [Picture], top: Int = 5,
        consent: @escaping @Sendable (EscalationOffer) async -> Bool = { _ in false }
    ) -> AsyncThrowingStream<DecodingEvent, any Error> {
        .running { try await self.run(pictures, top: top, consent: consent, $0) }
    }

    private func run(
        _ pictures: [Picture], top: Int, consent: @Sendable (EscalationOffer) async -> Bool,
        _ yield: (DecodingEvent) -> Void
    ) async throws {
        let classifier = try await proxy.current()
        var board = DecodingBoard(
            count: pictures.count, thresholds: thresholds ?? classifier.information.thresholds, limits: limits,
            hasCloud: cloud != nil)
        for start in stride(from: 0, to: pictures.count, by: Self.chunk) {
            let part = Array(pictures[start..<min(start + Self.chunk, pictures.count)])
            for (offset, answer) in try await answers(part, top: top, classifier).enumerated() {
                board.note(answer, of: start + offset) { digest in
                    known.withLock { $0[digest] }
                } digest: {
                    part[offset].digest
                }
            }
            yield(.classified(start + part.count, of: pictures.count))
            for result in board.take() { yield(.character(result)) }
        }
        guard let cloud, let offer = board.offer else { return }
        if await consent(offer) {
            try await ask(cloud, pictures, &board, yield)
        } else {
            board.refuse(.notAllowed)
        }
        for result in board.take() { yield(.character(result)) }
    }

    /// The answers to pictures; `nil` for one that the classifier fails at.
    private func answers(
        _ pictures: [Picture], top: Int, _ classifier: any ImageClassifier
    ) async throws -> [[Candidate]?] {
        do {
            let answers = try await classifier.classify(pictures, top: top)
            if answers.count == pictures.count { return answers }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            Log.write(.warning, "classify", "the classifier failed: \(error)")
        }
        try Task.checkCancellation()
        guard pictures.count > 1 else { return [nil] }
        // One picture may have failed all of them.
        var answers: [[Candidate]?] = []
        for picture in pictures { answers += try await self.answers([picture], top: top, classifier) }
        return answers
    }

    /// Sends pictures to the cloud, a few at a time.
    private func ask(
        _ cloud: any CharacterReader, _ pictures: [Picture], _ board: inout DecodingBoard,
        _ yield: (DecodingEvent) -> Void
    ) async throws {
        let watch = time.stopwatch()
        try await withThrowingTaskGroup(of: (index: Int, reading: DecodingBoard.Reading).self) { group in
            var running = 0
            while true {
                while running < max(1, limits.parallel), let index = board.next(elapsed: watch.elapsed) {
                    running += 1
                    let picture = pictures[index]
                    group.addTask { (index, try await Self.read(picture, cloud)) }
                }
                for result in board.take() { yield(.character(result)) }
                guard running > 0, let (index, reading) = try await group.next() else { break }
                running -= 1
                if let (digest, character) = board.note(reading, of: index) { remember(digest, character) }
            }
        }
    }

    private static func read(_ picture: Picture, _ cloud: any CharacterReader) async throws -> DecodingBoard.Reading {
        do {
            let image = try await blocking { try ChatImage(picture.png()) }
            let (text, tokens) = try await cloud.read(image)
            return .reading(CharacterReading(text: text, tokens: tokens))
        } catch is CancellationError where Task.isCancelled {
            throw CancellationError()
        } catch {
            Log.write(.info, "classify", "the cloud read no picture: \(error)")
            return .failed((error as? any HearthFailure)?.codeText ?? "cloud-failed")
        }
    }

    private func remember(_ digest: SHA256Digest, _ character: String) {
        known.withLock { known in
            if known.count >= Self.maximumKnown { known.removeAll() }
            known[digest] = character
        }
    }
}
