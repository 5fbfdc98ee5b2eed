import HearthBase
import HearthInference
import Testing

@testable import HearthClassification

struct DecodingBoardTests {
    private func board(
        _ confidences: [Double?], hasCloud: Bool = true, limits: EscalationLimits = EscalationLimits(),
        digests: [UInt8]? = nil, known: [SHA256Digest: String] = [:]
    ) -> DecodingBoard {
        var board = DecodingBoard(
            count: confidences.count, thresholds: RoutingThresholds(), limits: limits, hasCloud: hasCloud)
        for (index, confidence) in confidences.enumerated() {
            board.note(confidence.map { [Candidate("c\(index)", $0)] }, of: index) {
                known[$0]
            } digest: {
                Self.digest(digests?[index] ?? UInt8(index))
            }
        }
        return board
    }

    private static func digest(_ number: UInt8) -> SHA256Digest { SHA256Digest(hashing: [number]) }

    @Test(arguments: [
        (1.0, DecodedCharacter.Verdict.accepted), (0.90, .accepted), (0.8999999, .uncertain), (0.60, .uncertain),
    ]) func theBandsOfTheSeed(_ confidence: Double, _ verdict: DecodedCharacter.Verdict) {
        var board = board([confidence])
        let result = board.take()[0]
        #expect((result.verdict, result.source, result.text) == (verdict, .device, "c0"))
        #expect(board.offer == nil)
    }

    @Test(arguments: [0.5999999, 0, .nan, nil] as [Double?]) func theRestIsForTheCloud(_ confidence: Double?) {
        var board = board([confidence])
        #expect(board.take().isEmpty)
        #expect(board.offer == EscalationOffer(pictures: 1, requests: 1, tokenLimit: 50_000))
        #expect(board.next(elapsed: .zero) == 0)
        #expect(board.next(elapsed: .zero) == nil)
        let learnt = board.note(.reading(CharacterReading(text: " 人\n", tokens: 9)), of: 0)
        #expect(learnt?.character == "人")
        let result = board.take()[0]
        #expect((result.text, result.verdict, result.source, result.reason) == ("人", .verified, .cloud, .askedCloud))
    }

    @Test func withoutACloudTheLocalAnswerStays() {
        var board = board([0.3, nil], hasCloud: false)
        let results = board.take()
        #expect(results.map(\.text) == ["c0", ""])
        #expect(results.map(\.verdict) == [.unverified, .unverified])
        #expect(results.map(\.reason) == [.cloudMissing, .cloudMissing])
        #expect(board.offer == nil)
    }

    @Test(arguments: ["", "?", "It is 人", "人天", "\u{FFFD}", "\u{7}", "I cannot"]) func aReplyThatIsNotOneCharacter(
        _ text: String
    ) {
        var board = board([0.3])
        _ = board.next(elapsed: .zero)
        let learnt = board.note(.reading(CharacterReading(text: text, tokens: 1)), of: 0)
        #expect(learnt?.character == nil)
        let result = board.take()[0]
        #expect((result.text, result.verdict, result.reason) == ("c0", .unverified, .unusableReply))
    }

    @Test func resultsLeaveInOrder() {
        var board = board([0.95, 0.1, 0.95, 0.2])
        #expect(board.take().map(\.index) == [0])
        #expect((board.next(elapsed: .zero), board.next(elapsed: .zero)) == (1, 3))
        _ = board.note(.reading(CharacterReading(text: "四", tokens: 1)), of: 3)
        #expect(board.take().isEmpty)
        _ = board.note(.reading(CharacterReading(text: "二", tokens: 1)), of: 1)
        #expect(board.take().map(\.text) == ["二", "c2", "四"])
        #expect(board.take().isEmpty)
    }

    @Test func equalPicturesAreSentOnce() {
        var board = board([0.1, 0.1, 0.1], digests: [1, 2, 1])
        #expect(board.offer?.requests == 2)
        #expect((board.next(elapsed: .zero), board.next(elapsed: .zero), board.next(elapsed: .zero)) == (0, 1, nil))
        _ = board.note(.reading(CharacterReading(text: "人", tokens: 1)), of: 0)
        _ = board.note(.reading(CharacterReading(text: "天", tokens: 1)), of: 1)
        #expect(board.take().map(\.text) == ["人", "天", "人"])
    }

    @Test func aPictureThatTheCloudReadBeforeIsNotSent() {
        var board = board([0.1], known: [Self.digest(0): "人"])
        #expect(board.offer == nil)
        let result = board.take()[0]
        #expect((result.text, result.verdict, result.reason) == ("人", .verified, .knownPicture))
    }

    @Test func everyLimitEndsTheRequests() {
        var limits = EscalationLimits()
        limits.requests = 1
        var board = board([0.1, 0.1], limits: limits)
        #expect(board.next(elapsed: .zero) == 0)
        #expect(board.next(elapsed: .zero) == nil)
        _ = board.note(.reading(CharacterReading(text: "人", tokens: 1)), of: 0)
        #expect(board.take().map(\.reason) == [.askedCloud, .requestLimit])

        limits = EscalationLimits()
        limits.tokens = 10
        board = self.board([0.1, 0.1], limits: limits)
        _ = board.next(elapsed: .zero)
        _ = board.note(.reading(CharacterReading(text: "人", tokens: 10)), of: 0)
        #expect(board.next(elapsed: .zero) == nil)
        #expect(board.take().map(\.reason) == [.askedCloud, .tokenLimit])

        board = self.board([0.1])
        #expect(board.next(elapsed: .seconds(60)) == nil)
        #expect(board.take().map(\.reason) == [.timeLimit])
    }

    @Test func aCloudThatKeepsFailingIsLeftAlone() {
        var board = board([0.1, 0.2, 0.3, 0.4])
        for index in 0..<2 {
            #expect(board.next(elapsed: .zero) == index)
            let learnt = board.note(.failed("no-credits"), of: index)
            #expect(learnt?.character == nil)
        }
        #expect(board.next(elapsed: .zero) == nil)
        let results = board.take()
        #expect(results.map(\.text) == ["c0", "c1", "c2", "c3"])
        #expect(results.allSatisfy { $0.verdict == .unverified && $0.reason == .cloudFailed("no-credits") })
    }

    @Test func aRefusalKeepsTheLocalAnswers() {
        var board = board([0.1, 0.95])
        board.refuse(.notAllowed)
        #expect(board.take().map(\.reason) == [.notAllowed, .certain])
        #expect(board.next(elapsed: .zero) == nil)
    }
}
