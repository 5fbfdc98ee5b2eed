import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthClassification

@Suite(.enabled(if: ClassifierSupport.isBuilt), .timeLimit(.minutes(5))) struct RoutingDecoderTests {
    /// A blank picture; its width chooses the scripted answers.
    private func picture(_ width: Int) throws -> Picture {
        try Picture(width: width, height: 1, pixels: [UInt8](repeating: 255, count: width))
    }

    private let classifier = ScriptedClassifier(answers: [
        1: [Candidate("一", 0.95), Candidate("二", 0.05)], 2: [Candidate("二", 0.7)], 3: [Candidate("三", 0.3)],
        4: [Candidate("四", .nan)],
    ])

    private func decoded(
        _ widths: [Int], _ reader: ScriptedReader?, allowed: Bool = true, decoder: RoutingDecoder? = nil
    ) async throws -> [DecodedCharacter] {
        let decoder =
            decoder ?? RoutingDecoder(proxy: ClassifierProxy(classifier), cloud: reader, time: ManualClock().time)
        var results: [DecodedCharacter] = []
        for try await event in decoder.events(try widths.map(picture), consent: { _ in allowed }) {
            if case .character(let character) = event { results.append(character) }
        }
        return results
    }

    @Test func everyBandGoesItsWay() async throws {
        let reader = ScriptedReader([
            3: .success(CharacterReading(text: "參", tokens: 5)), 4: .success(CharacterReading(text: "肆", tokens: 5)),
            9: .success(CharacterReading(text: "九", tokens: 5)),
        ])
        // No answer is scripted for width 9: the classifier fails, for that picture alone.
        let results = try await decoded([1, 2, 3, 4, 9, 1], reader)
        #expect(results.map(\.index) == [0, 1, 2, 3, 4, 5])
        #expect(results.map(\.text) == ["一", "二", "參", "肆", "九", "一"])
        #expect(results.map(\.verdict) == [.accepted, .uncertain, .verified, .verified, .verified, .accepted])
        #expect(results[2].candidates == [Candidate("三", 0.3)])
        #expect(results[3].confidence == nil)
        #expect(await reader.asked.sorted() == [3, 4, 9])
    }

    @Test func nothingIsSentWithoutConsent() async throws {
        let reader = ScriptedReader([3: .success(CharacterReading(text: "參", tokens: 5))])
        let results = try await decoded([3, 1], reader, allowed: false)
        #expect(results.map(\.text) == ["三", "一"])
        #expect(results.map(\.reason) == [.notAllowed, .certain])
        #expect(await reader.asked.isEmpty)
    }

    @Test func noPictureIsLostWhenTheCloudFails() async throws {
        let results = try await decoded([3, 4, 3, 1], ScriptedReader([:]))
        #expect(results.map(\.index) == [0, 1, 2, 3])
        #expect(results.map(\.text) == ["三", "四", "三", "一"])
        #expect(results.prefix(3).allSatisfy { $0.reason == .cloudFailed("unreachable") && $0.verdict == .unverified })
    }

    @Test func anEqualPictureIsNotSentAgain() async throws {
        let reader = ScriptedReader([3: .success(CharacterReading(text: "參", tokens: 5))])
        let decoder = RoutingDecoder(proxy: ClassifierProxy(classifier), cloud: reader, time: ManualClock().time)
        #expect(try await decoded([3, 3], reader, decoder: decoder).map(\.text) == ["參", "參"])
        #expect(try await decoded([3], reader, decoder: decoder).map(\.reason) == [.knownPicture])
        #expect(await reader.asked == [3])
    }

    @Test func theTimeForTheCloudEnds() async throws {
        let clock = ManualClock()
        let reader = ScriptedReader([
            3: .success(CharacterReading(text: "參", tokens: 5)), 4: .success(CharacterReading(text: "肆", tokens: 5)),
        ]) { clock.advance(by: .seconds(61)) }
        var limits = EscalationLimits()
        limits.parallel = 1
        let decoder = RoutingDecoder(
            proxy: ClassifierProxy(classifier), cloud: reader, limits: limits, time: clock.time)
        let results = try await decoded([3, 4], reader, decoder: decoder)
        #expect(results.map(\.reason) == [.askedCloud, .timeLimit])
    }

    @Test func withoutAClassifierDecodingFails() async throws {
        let decoder = RoutingDecoder(proxy: ClassifierProxy())
        #expect(await refusal { for try await _ in decoder.events([]) {} } == "classifier-not-ready")
    }

    @Test func thresholdsCanBeSet() async throws {
        let decoder = RoutingDecoder(
            proxy: ClassifierProxy(classifier), thresholds: RoutingThresholds(green: 0.7, yellow: 0.2),
            limits: EscalationLimits())
        #expect(try await decoded([2, 3], nil, decoder: decoder).map(\.verdict) == [.accepted, .uncertain])
    }

    @Test func aModelExchangedInTheMiddleChangesNoResultsUnderWay() async throws {
        let proxy = ClassifierProxy(classifier)
        let other = ScriptedClassifier(answers: [1: [Candidate("X", 1)]])
        let reader = ScriptedReader([3: .success(CharacterReading(text: "參", tokens: 5))]) { await proxy.update(other) }
        let decoder = RoutingDecoder(proxy: proxy, cloud: reader, time: ManualClock().time)
        #expect(try await decoded([3, 1], reader, decoder: decoder).map(\.text) == ["參", "一"])
        #expect(try await decoded([1], reader, decoder: decoder).map(\.text) == ["X"])
    }
}
