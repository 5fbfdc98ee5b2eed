import HearthInference
import Testing

@Suite struct PrefixPlanTests {
    typealias Row = (
        held: [Int32], reach: MemoryReach, prompt: [Int32], action: PrefixPlan.Action, reused: Int,
        miss: CacheMiss?
    )

    static let rows: [Row] = [
        // Attention: any earlier state.
        ([], .anywhere, [1, 2, 3], .prefillAll, 0, .cold),
        ([], .anywhere, [], .prefillAll, 0, .cold),
        ([1, 2], .anywhere, [1, 2, 3], .appendSuffix, 2, nil),
        ([1, 2, 3], .anywhere, [1, 2, 3], .trim(to: 2), 2, .repeated),
        ([1, 2, 3, 4, 5], .anywhere, [1, 2, 3], .trim(to: 2), 2, .repeated),
        ([1, 2, 9, 9], .anywhere, [1, 2, 3], .trim(to: 2), 2, .parted),
        ([7, 1, 2], .anywhere, [1, 2], .rebuild, 0, .otherBeginning),
        ([1], .anywhere, [1], .rebuild, 0, .repeated),
        ([1, 2], .anywhere, [], .rebuild, 0, .otherBeginning),
        // Recurrent layers: only the present state.
        ([], .presentOnly, [1, 2, 3], .prefillAll, 0, .cold),
        ([1, 2], .presentOnly, [1, 2, 3], .appendSuffix, 2, nil),
        ([1, 2, 9], .presentOnly, [1, 2, 3], .rebuild, 0, .recurrent),
        ([1, 2, 3], .presentOnly, [1, 2, 3], .rebuild, 0, .recurrent),
        ([1, 2, 3, 4], .presentOnly, [1, 2, 3], .rebuild, 0, .recurrent),
        ([7, 1, 2], .presentOnly, [1, 2], .rebuild, 0, .otherBeginning),
    ]

    @Test(arguments: rows.indices)
    func decides(index: Int) {
        let row = Self.rows[index]
        let plan = PrefixPlan(held: HeldPrefix(tokens: row.held, reach: row.reach), prompt: row.prompt)
        #expect(plan.action == row.action)
        #expect(plan.reused == row.reused)
        #expect(plan.remaining == row.prompt.count - row.reused)
        #expect(plan.miss == row.miss)
        if !row.prompt.isEmpty { #expect(plan.remaining >= 1) }
    }

    @Test func namesTruncation() {
        let held = HeldPrefix(tokens: [1, 2, 3])
        #expect(PrefixPlan(held: held, prompt: [1, 3], isTruncated: true).miss == .truncated)
        #expect(PrefixPlan(held: held, prompt: [1, 2, 3, 4], isTruncated: true).miss == nil)
        let recurrent = HeldPrefix(tokens: [1, 2, 3], reach: .presentOnly)
        #expect(PrefixPlan(held: recurrent, prompt: [1, 3], isTruncated: true).miss == .recurrent)
    }

    @Test func aRefusalComputesAllTokens() {
        let plan = PrefixPlan(held: HeldPrefix(tokens: [1, 2, 9]), prompt: [1, 2, 3]).afterRefusal(prompt: [1, 2, 3])
        #expect(plan.action == .rebuild && plan.miss == .removalRefused && plan.remaining == 3)
    }

    /// For any two lists: reused tokens are equal in both, and at least one token is left to compute.
    @Test func neverReusesDifferentTokens() {
        for held in Self.lists {
            for prompt in Self.lists where !prompt.isEmpty {
                for reach in [MemoryReach.anywhere, .presentOnly] {
                    let plan = PrefixPlan(held: HeldPrefix(tokens: held, reach: reach), prompt: prompt)
                    #expect(held.prefix(plan.reused) == prompt.prefix(plan.reused))
                    #expect(plan.remaining >= 1)
                    if case .trim(let count) = plan.action {
                        #expect(count == plan.reused && count < held.count && reach == .anywhere)
                    }
                }
            }
        }
    }

    private static let lists: [[Int32]] = (0...4).flatMap { length in
        (0..<(1 << length)).map { bits in (0..<length).map { Int32(bits >> $0 & 1) } }
    }
}
