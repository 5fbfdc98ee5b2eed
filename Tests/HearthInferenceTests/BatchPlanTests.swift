import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@Suite struct BatchPlanTests {
    private func plan(_ wants: [(Int, Bool)], capacity: Int = 512, besideAnswers: Int = 256) -> [Int] {
        BatchPlan(
            wants.map { BatchPlan.Want(tokens: $0.0, isAnswering: $0.1) },
            limits: BatchPlan.Limits(capacity: capacity, besideAnswers: besideAnswers)
        ).shares
    }

    @Test func onePromptAloneGetsTheWholeCall() {
        #expect(plan([(1500, false)]) == [512])
        #expect(plan([(40, false)]) == [40])
        #expect(plan([(1, true)]) == [1])
        #expect(plan([]) == [])
    }

    @Test func answersGoFirstAndPromptsTakeWhatIsLeft() {
        #expect(plan([(1500, false), (1, true)]) == [256, 1])
        #expect(plan([(1, true), (1500, false), (1, true)]) == [1, 256, 1])
        // As many answers as a call has room for, and a prompt that still gets on.
        #expect(plan([(1, true), (1, true), (9, false)], capacity: 3) == [1, 1, 1])
        // The words that end somebody's thinking are computed together.
        #expect(plan([(6, true), (1, true)]) == [6, 1])
    }

    @Test func aLongPromptStallsNoShortOne() {
        #expect(plan([(1500, false), (40, false)])[1] == 40)
        #expect(plan([(1500, false), (1, true), (40, false)])[2] == 40)
        // Several long ones before it: it gets its equal share of one half.
        let shares = plan([(1500, false), (1500, false), (1500, false), (100, false)])
        #expect(shares[3] == 64)
        #expect(shares[0] == 64 + 256)
        #expect(shares.reduce(0, +) == 512)
    }

    @Test func thoseThatCameFirstAreThroughFirst() {
        let shares = plan([(1, true)] + Array(repeating: (40, false), count: 7))
        #expect(shares.reduce(0, +) == 257)
        #expect(shares[1...5].allSatisfy { $0 == 40 })
    }

    /// Any wishes: nothing is given that nobody wants, no room is left while somebody wants it, answers always get on.
    @Test func keepsItsPromisesForAnyWishes() {
        var random = SeededGenerator(seed: 8)
        for _ in 0..<5000 {
            let wants = (0..<Int.random(in: 1...9, using: &random)).map { _ in
                (Int.random(in: 0...600, using: &random), Bool.random(using: &random))
            }
            let capacity = Int.random(in: 1...600, using: &random)
            let beside = Int.random(in: 1...300, using: &random)
            let shares = plan(wants, capacity: capacity, besideAnswers: beside)
            let answers = wants.filter { $0.1 && $0.0 > 0 }.count
            let room = answers > 0 ? min(capacity, min(answers, capacity) + beside) : capacity
            #expect(shares.count == wants.count)
            #expect(zip(shares, wants).allSatisfy { 0 <= $0 && $0 <= $1.0 })
            #expect(shares.reduce(0, +) == min(room, wants.reduce(0) { $0 + $1.0 }))
            if answers <= capacity { #expect(zip(shares, wants).allSatisfy { $0 > 0 || !$1.1 || $1.0 == 0 }) }
        }
    }

    /// However many short prompts come, every prompt gets on in every call that has room for all.
    @Test func nobodyStarves() {
        for prompts in 2...8 {
            let shares = plan([(1, true), (1500, false)] + Array(repeating: (200, false), count: prompts - 1))
            #expect(shares.allSatisfy { $0 > 0 })
        }
    }
}

@Suite struct AdmissionTests {
    private let admission = Admission(sequences: 3, cells: 1000, queueLimit: 2)

    @Test func oneAloneAlwaysFits() {
        #expect(admission.admits(1000, beside: []))
        #expect(Admission(sequences: 1, cells: 10).admits(99, beside: []))
    }

    @Test func othersNeedAFreeSequenceAndRoom() {
        #expect(admission.admits(400, beside: [600]))
        #expect(!admission.admits(401, beside: [600]))
        #expect(admission.admits(1, beside: [1, 1]))
        #expect(!admission.admits(1, beside: [1, 1, 1]))
    }

    @Test func whatARequestMayNeedIsNeverMoreThanThereIs() {
        #expect(admission.need(prompt: 100, newTokens: 50) == 150)
        #expect(admission.need(prompt: 100, newTokens: 5, closing: 20) == 121)
        #expect(admission.need(prompt: 100, newTokens: 0) == 101)
        #expect(admission.need(prompt: 100, newTokens: -5) == 101)
        #expect(admission.need(prompt: 900, newTokens: 768) == 1000)
        #expect(admission.need(prompt: 100, newTokens: .max) == 1000)
    }

    @Test func theQueueIsBounded() throws {
        // Three are answered: two may wait.
        #expect(admission.refusal(waiting: 0, running: 3) == nil)
        #expect(admission.refusal(waiting: 1, running: 3) == nil)
        let error = try #require(admission.refusal(waiting: 2, running: 3))
        #expect(error.code == .busy)
        #expect(error.disposition == .tryLater)
        #expect(error.message.contains("3 requests and 2 wait"))
        #expect(error.context.expected == "at most 2 waiting requests")
        // Those whose turn comes at once do not count.
        #expect(admission.refusal(waiting: 4, running: 0) == nil)
        #expect(admission.refusal(waiting: 5, running: 0) != nil)
        let none = Admission(sequences: 1, cells: 10, queueLimit: 0)
        #expect(none.refusal(waiting: 0, running: 0) == nil)
        #expect(none.refusal(waiting: 1, running: 0) != nil)
        #expect(none.refusal(waiting: 0, running: 1) != nil)
    }
}
