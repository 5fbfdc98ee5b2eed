import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@Suite struct BatchPlanTests {
    private func plan(_ wants: [(Int, Bool)], capacity: Int = 512, besideOthers: Int = 256) -> [Int] {
        BatchPlan(
            wants.map { BatchPlan.Want(tokens: $0.0, isAnswering: $0.1) },
            limits: BatchPlan.Limits(capacity: capacity, besideOthers: besideOthers)
        ).shares
    }

    @Test func onePromptAloneGetsTheWholeCall() {
        #expect(plan([(1500, false)]) == [512])
        #expect(plan([(40, false)]) == [40])
        #expect(plan([(1, true)]) == [1])
        #expect(plan([]) == [])
    }

    @Test func answersGoFirstAndPromptsTakeTheRest() {
        #expect(plan([(1500, false), (1, true)]) == [256, 1])
        #expect(plan([(1, true), (1500, false), (1, true)]) == [1, 256, 1])
        // As many answers as a call has room for, and a prompt that still continues.
        #expect(plan([(1, true), (1, true), (9, false)], capacity: 3) == [1, 1, 1])
        // The tokens that end a thinking are computed together.
        #expect(plan([(6, true), (1, true)]) == [6, 1])
    }

    @Test func aPromptIsShortBesideAnswersOfAnotherModel() {
        func shares(_ tokens: Int, isAnswering: Bool = false) -> [Int] {
            BatchPlan(
                [BatchPlan.Want(tokens: tokens, isAnswering: isAnswering)],
                limits: BatchPlan.Limits(capacity: 512, besideOthers: 64, isBesideOthers: true)
            ).shares
        }
        #expect(shares(1500) == [64])
        #expect(shares(40) == [40])
        #expect(shares(1, isAnswering: true) == [1])
    }

    @Test func aLongPromptStallsNoShortOne() {
        #expect(plan([(1500, false), (40, false)])[1] == 40)
        #expect(plan([(1500, false), (1, true), (40, false)])[2] == 40)
        // A short prompt after several long ones is computed at once.
        let shares = plan([(1500, false), (1500, false), (1500, false), (100, false)])
        #expect(shares == [256 - 100, 0, 0, 100])
    }

    @Test func earlierPromptsFinishFirst() {
        let shares = plan([(1, true)] + Array(repeating: (40, false), count: 7))
        #expect(shares == [1, 40, 40, 40, 40, 40, 40, 16])
        // One prompt after the other, also if a call has room for only a part of one.
        #expect(plan([(1, true), (54, false), (54, false)], besideOthers: 32) == [1, 32, 0])
    }

    /// Prompts that came together get their first tokens one after the other, not all at the end.
    @Test(arguments: [1, 7, 32, 64, 256])
    func halfOfThemAnswerWhenAboutHalfIsRead(chunk: Int) {
        var left = [54, 57, 51, 56, 55, 53, 58, 52]
        let all = left.reduce(0, +)
        var answering = [Bool](repeating: false, count: left.count)
        var read = 0
        while answering.count(where: { $0 }) < left.count / 2 {
            let shares = plan(zip(left, answering).map { ($1 ? 1 : $0, $1) }, besideOthers: chunk)
            for index in left.indices where !answering[index] {
                left[index] -= shares[index]
                read += shares[index]
                answering[index] = left[index] == 0
            }
        }
        #expect(Double(read) <= 0.65 * Double(all) + Double(chunk))
    }

    /// For any requests: no share exceeds its request, no room is unused while a request waits, every answer gets its
    /// token.
    @Test func keepsItsPromisesForAnyRequests() {
        var random = SeededGenerator(seed: 8)
        for _ in 0..<5000 {
            let wants = (0..<Int.random(in: 1...9, using: &random)).map { _ in
                (Int.random(in: 0...600, using: &random), Bool.random(using: &random))
            }
            let capacity = Int.random(in: 1...600, using: &random)
            let beside = Int.random(in: 1...300, using: &random)
            let shares = plan(wants, capacity: capacity, besideOthers: beside)
            let answers = wants.filter { $0.1 && $0.0 > 0 }.count
            let hungry = wants.filter { $0.0 > ($0.1 ? 1 : 0) }.count
            let room = answers > 0 || hungry > 1 ? min(capacity, min(answers, capacity) + beside) : capacity
            #expect(shares.count == wants.count)
            #expect(zip(shares, wants).allSatisfy { 0 <= $0 && $0 <= $1.0 })
            #expect(shares.reduce(0, +) == min(room, wants.reduce(0) { $0 + $1.0 }))
            if answers <= capacity { #expect(zip(shares, wants).allSatisfy { $0 > 0 || !$1.1 || $1.0 == 0 }) }
        }
    }

    /// Short prompts follow each other without end: neither the long prompt nor one in the middle waits without end.
    @Test(arguments: 2...8, [1, 2, 5, 32, 256])
    func everyPromptProgresses(prompts: Int, chunk: Int) {
        var left: [(name: Int, tokens: Int)] = [(0, 1500), (1, 300)] + (2...prompts).map { ($0, 40) }
        var calls = 0
        while left.contains(where: { $0.name < 2 }), calls < 100_000 {
            calls += 1
            let shares = plan([(1, true)] + left.map { ($0.tokens, false) }, besideOthers: chunk).dropFirst()
            #expect(shares.reduce(0, +) == min(chunk, left.reduce(0) { $0 + $1.tokens }))
            for (index, share) in zip(left.indices, shares) { left[index].tokens -= share }
            left.removeAll { $0.tokens == 0 }
            while left.count <= prompts { left.append((2, 40)) }
        }
        // The first request gets a quarter of every call.
        #expect(calls <= (1500 + 300) * 4 / chunk + 2)
    }
}

@Suite struct StepPaceTests {
    @Test func startsWithAGuess() {
        #expect(StepPace().tokens == 64)
        #expect(StepPace(bounds: 1...1).tokens == 1)
        #expect(StepPace(bounds: -5...0).tokens == 1)
    }

    @Test func computesAsManyAsFitTheTime() {
        var pace = StepPace(target: 0.06)
        pace.observe(tokens: 100, seconds: 0.1)
        #expect(pace.tokens == 60)
        // The pace adapts quickly to a machine that gets slower or faster.
        for _ in 0..<6 { pace.observe(tokens: 60, seconds: 0.12) }
        #expect((30...32).contains(pace.tokens))
        for _ in 0..<6 { pace.observe(tokens: 32, seconds: 0.032) }
        #expect((55...60).contains(pace.tokens))
    }

    @Test func staysWithinItsBounds() {
        var slow = StepPace()
        slow.observe(tokens: 64, seconds: 3600)
        #expect(slow.tokens == 32)
        var quick = StepPace()
        quick.observe(tokens: 512, seconds: .leastNonzeroMagnitude)
        #expect(quick.tokens == 256)
        quick.observe(tokens: .max, seconds: .leastNonzeroMagnitude)
        #expect(quick.tokens == 256)
    }

    @Test(arguments: [0, -1, .nan, .infinity, -.infinity] as [Double])
    func ignoresWhatIsNoTime(seconds: Double) {
        var pace = StepPace()
        pace.observe(tokens: 64, seconds: seconds)
        #expect(pace == StepPace())
    }

    @Test func learnsNothingFromAFewTokens() {
        var pace = StepPace()
        pace.observe(tokens: 8, seconds: 1)
        #expect(pace == StepPace())
    }
}

@Suite struct AdmissionTests {
    private let admission = Admission(sequences: 3, cells: 1000, queueLimit: 2)

    @Test func aSingleRequestAlwaysFits() {
        #expect(admission.admits(1000, beside: []))
        #expect(Admission(sequences: 1, cells: 10).admits(99, beside: []))
    }

    @Test func othersNeedAFreeSequenceAndRoom() {
        #expect(admission.admits(400, beside: [600]))
        #expect(!admission.admits(401, beside: [600]))
        #expect(admission.admits(1, beside: [1, 1]))
        #expect(!admission.admits(1, beside: [1, 1, 1]))
    }

    @Test func theNeedOfARequestIsAtMostTheCells() {
        #expect(admission.need(prompt: 100, newTokens: 50) == 150)
        #expect(admission.need(prompt: 100, newTokens: 5, closing: 20) == 121)
        #expect(admission.need(prompt: 100, newTokens: 0) == 101)
        #expect(admission.need(prompt: 100, newTokens: -5) == 101)
        #expect(admission.need(prompt: 900, newTokens: 768) == 1000)
        #expect(admission.need(prompt: 100, newTokens: .max) == 1000)
    }

    @Test func theQueueIsBounded() throws {
        // Three requests run: two may wait.
        #expect(admission.refusal(waiting: 0, running: 3) == nil)
        #expect(admission.refusal(waiting: 1, running: 3) == nil)
        let error = try #require(admission.refusal(waiting: 2, running: 3))
        #expect(error.code == .busy)
        #expect(error.disposition == .tryLater)
        #expect(error.message.contains("3 requests and 2 wait"))
        #expect(error.context.expected == "at most 2 waiting requests")
        // Requests that begin at once do not count.
        #expect(admission.refusal(waiting: 4, running: 0) == nil)
        #expect(admission.refusal(waiting: 5, running: 0) != nil)
        let none = Admission(sequences: 1, cells: 10, queueLimit: 0)
        #expect(none.refusal(waiting: 0, running: 0) == nil)
        #expect(none.refusal(waiting: 1, running: 0) != nil)
        #expect(none.refusal(waiting: 0, running: 1) != nil)
    }
}
