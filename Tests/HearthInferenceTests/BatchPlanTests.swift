import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@Suite struct BatchPlanTests {
    private func plan(
        _ wants: [(Int, Bool)], capacity: Int = 512, besideOthers: Int = 256, isBesideOthers: Bool = false,
        turn: Int = 0
    ) -> BatchPlan {
        BatchPlan(
            wants.map { (tokens: $0.0, isAnswering: $0.1) }, capacity: capacity, besideOthers: besideOthers,
            isBesideOthers: isBesideOthers, turn: turn)
    }

    @Test func onePromptAloneGetsTheWholeCall() {
        #expect(plan([(1500, false)]).prompts == [512])
        #expect(plan([(40, false)]).prompts == [40])
        #expect(plan([(1, true)]).answers == [1])
        #expect(plan([]).prompts == [])
    }

    @Test func answersHaveACallOfTheirOwn() {
        let one = plan([(1500, false), (1, true)])
        #expect(one.answers == [0, 1] && one.prompts == [256, 0])
        // As many answers as a call has room for, and a prompt that still continues.
        let full = plan([(1, true), (1, true), (1, true), (9, false)], capacity: 2)
        #expect(full.answers == [1, 1, 0, 0] && full.prompts == [0, 0, 0, 2])
        // The tokens that end a thinking are computed together.
        #expect(plan([(6, true), (1, true)]).answers == [6, 1])
    }

    @Test func aPromptIsShortBesideAnswersOfAnotherModel() {
        #expect(plan([(1500, false)], besideOthers: 64, isBesideOthers: true).prompts == [64])
        #expect(plan([(40, false)], besideOthers: 64, isBesideOthers: true).prompts == [40])
        #expect(plan([(1, true)], besideOthers: 64, isBesideOthers: true).answers == [1])
    }

    /// The answers wait longer for a call where more requests wait for their prompts.
    @Test func aCallGrowsWithTheWaitingPrompts() {
        #expect(plan([(1, true), (1500, false)], besideOthers: 64).prompts == [0, 64])
        #expect(plan([(1, true), (1500, false), (1500, false)], besideOthers: 64).prompts == [0, 128, 0])
        #expect(plan([(1, true)] + Array(repeating: (1500, false), count: 9), besideOthers: 64).prompts[1] == 512)
    }

    @Test func aCallIsForOnePromptUnlessAllAreTooShortForTiles() {
        #expect(plan([(1500, false), (40, false)]).prompts == [0, 40])
        #expect(plan([(1, true), (30, false), (20, false), (20, false)]).prompts == [0, 0, 20, 20])
        #expect(plan([(1, true), (20, false), (20, false), (20, false), (20, false)]).prompts == [0, 20, 20, 20, 0])
        #expect(plan([(1500, false), (1500, false), (1500, false), (100, false)]).prompts == [0, 0, 0, 100])
    }

    @Test func aRestTooShortForTilesJoins() {
        #expect(plan([(1, true), (127, false)], besideOthers: 64).prompts == [0, 127])
        #expect(plan([(1, true), (128, false)], besideOthers: 64).prompts == [0, 64])
        #expect(plan([(530, false)]).prompts == [512])
    }

    @Test func everyFourthCallIsForTheFirstRequest() {
        let firsts = (0..<8).map { turn in
            plan([(1500, false), (100, false)], besideOthers: 64, turn: turn).prompts[0] > 0
        }
        #expect(firsts == [false, false, false, true, false, false, false, true])
    }

    /// Prompts that came together get their first tokens one after the other, not all at the end.
    @Test(arguments: [1, 7, 32, 64, 256])
    func halfOfThemAnswerWhenAboutHalfIsRead(chunk: Int) {
        var left = [54, 57, 51, 56, 55, 53, 58, 52]
        let all = left.reduce(0, +)
        var answering = [Bool](repeating: false, count: left.count)
        var (read, turn) = (0, 0)
        while answering.count(where: { $0 }) < left.count / 2 {
            let shares = plan(zip(left, answering).map { ($1 ? 1 : $0, $1) }, besideOthers: chunk, turn: turn).prompts
            turn += 1
            for index in left.indices where !answering[index] {
                left[index] -= shares[index]
                read += shares[index]
                answering[index] = left[index] == 0
            }
        }
        #expect(Double(read) <= 0.65 * Double(all) + Double(chunk))
    }

    /// For any requests: no share exceeds its request, every answer gets its tokens, and a waiting prompt some.
    @Test func keepsItsPromisesForAnyRequests() {
        var random = SeededGenerator(seed: 8)
        for _ in 0..<5000 {
            let wants = (0..<Int.random(in: 1...9, using: &random)).map { _ in
                (Int.random(in: 0...600, using: &random), Bool.random(using: &random))
            }
            let capacity = Int.random(in: 1...600, using: &random)
            let beside = Int.random(in: 1...300, using: &random)
            let plan = plan(
                wants, capacity: capacity, besideOthers: beside, turn: Int.random(in: 0...9, using: &random))
            for (index, want) in wants.enumerated() {
                #expect((0...want.0).contains(plan.answers[index]) && (0...want.0).contains(plan.prompts[index]))
                #expect(want.1 ? plan.prompts[index] == 0 : plan.answers[index] == 0)
            }
            let answers = wants.filter(\.1).reduce(0) { $0 + $1.0 }
            #expect(plan.answers.reduce(0, +) == min(answers, capacity))
            let waiting = wants.filter { !$0.1 && $0.0 > 0 }
            let read = plan.prompts.reduce(0, +)
            #expect(read <= capacity && (read > 0) == !waiting.isEmpty)
            if plan.prompts.count(where: { $0 > 0 }) > 1 { #expect(read < BatchPlan.tile) }
            if waiting.count == 1, answers == 0 { #expect(read == min(capacity, waiting[0].0)) }
        }
    }

    /// Short prompts follow each other without end: neither the long prompt nor one in the middle waits without end.
    @Test(arguments: 2...8, [1, 2, 5, 32, 256])
    func everyPromptProgresses(prompts: Int, chunk: Int) {
        var left: [(name: Int, tokens: Int)] = [(0, 1500), (1, 300)] + (2...prompts).map { ($0, 40) }
        var calls = 0
        while left.contains(where: { $0.name < 2 }), calls < 100_000 {
            let shares = plan([(1, true)] + left.map { ($0.tokens, false) }, besideOthers: chunk, turn: calls)
                .prompts.dropFirst()
            calls += 1
            for (index, share) in zip(left.indices, shares) { left[index].tokens -= share }
            left.removeAll { $0.tokens == 0 }
            while left.count <= prompts { left.append((2, 40)) }
        }
        // The first request gets every fourth call.
        #expect(calls <= (1500 + 300) * 4 / chunk + 8)
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
        pace.observe(tokens: 100, seconds: 0.05)
        #expect(pace.tokens == 120)
        // The pace adapts quickly to a machine that gets slower or faster.
        for _ in 0..<6 { pace.observe(tokens: 120, seconds: 0.09) }
        #expect((80...82).contains(pace.tokens))
        for _ in 0..<6 { pace.observe(tokens: 80, seconds: 0.04) }
        #expect((115...120).contains(pace.tokens))
    }

    @Test func staysWithinItsBounds() {
        var slow = StepPace()
        slow.observe(tokens: 64, seconds: 3600)
        #expect(slow.tokens == 64)
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
