/// The saved states of an engine's conversations. A state holds the tokens after those of its parent, so that
/// conversations with a common beginning keep its state once.
///
/// ```
/// instructions and tools (whole units) ─┬─ conversation 1
///                                       └─ conversation 2 (whole unit) ── its end
/// ```
/// Only a state that ends at a multiple of the engine's unit gets children, so that the end of a conversation, which
/// changes with each turn, stays a leaf. A state without a parent begins at the first token.
package struct StateTree: Sendable, Hashable {
    fileprivate struct Node: Sendable, Hashable {
        let parent: Int?
        /// The tokens after those of the parent.
        let tokens: [Int32]
        /// The number of all tokens up to its end.
        let end: Int
        let reach: MemoryReach
        let bytes: UInt64
        var lastUse: Int
        /// Whether it is the beginning of many conversations: none of them replaces it, and it has a limit of its own.
        let isShared: Bool
        var children: Set<Int> = []
    }

    private var nodes: [Int: Node] = [:]
    private var roots: Set<Int> = []
    private var next = 0
    /// The bytes of all states that are not shared.
    private(set) var bytes: UInt64 = 0

    /// The numbers of all states.
    var numbers: Set<Int> { Set(nodes.keys) }

    /// Adds a state.
    /// - Parameters:
    ///   - held: all tokens up to its end.
    ///   - parent: the state that holds its beginning; a state whose parent is gone is not added.
    /// - Returns: its number, which no other state gets.
    mutating func add(
        _ held: HeldPrefix, after parent: Int? = nil, bytes: UInt64, isShared: Bool = false, at use: Int
    ) -> Int {
        let number = take()
        let start = parent.map { nodes[$0]?.end ?? .max } ?? 0
        guard start <= held.tokens.count else { return number }
        nodes[number] = Node(
            parent: parent, tokens: Array(held.tokens[start...]), end: held.tokens.count, reach: held.reach,
            bytes: bytes, lastUse: use, isShared: isShared)
        if let parent { nodes[parent]?.children.insert(number) } else { roots.insert(number) }
        if !isShared { self.bytes += bytes }
        self.use(number, at: use)
        return number
    }

    /// A number for a state that is not added.
    mutating func take() -> Int {
        defer { next += 1 }
        return next
    }

    /// A state with the states that it continues, the first one first.
    func path(to state: Int) -> [Int] {
        var path: [Int] = []
        var state: Int? = state
        while let number = state, let node = nodes[number] {
            path.append(number)
            state = node.parent
        }
        return path.reversed()
    }

    /// All tokens up to a state's end; `nil` for a state that is gone.
    func held(_ state: Int) -> HeldPrefix? {
        guard let node = nodes[state] else { return nil }
        return HeldPrefix(tokens: path(to: state).flatMap { nodes[$0]?.tokens ?? [] }, reach: node.reach)
    }

    /// The number of all tokens up to a state's end.
    func end(of state: Int) -> Int { nodes[state]?.end ?? 0 }

    func isShared(_ state: Int) -> Bool { nodes[state]?.isShared ?? false }

    /// Visits the states that agree with some tokens up to their beginning.
    /// - Parameter body: gets a state's number and the length of the common beginning.
    private func visit(_ tokens: [Int32], _ body: (_ state: Int, _ node: Node, _ common: Int) -> Void) {
        var open = Array(roots)
        while let number = open.popLast() {
            guard let node = nodes[number] else { continue }
            let start = node.end - node.tokens.count
            var count = 0
            let limit = min(node.tokens.count, tokens.count - start)
            while count < limit, node.tokens[count] == tokens[start + count] { count += 1 }
            body(number, node, start + count)
            if count == node.tokens.count { open += node.children }
        }
    }

    /// The state that saves the most tokens of a prompt, with those that it continues. Of equal states the shortest.
    /// - Parameters:
    ///   - room: the most tokens of the state.
    ///   - onlyShared: whether only shared states count.
    func best(for prompt: [Int32], room: Int, onlyShared: Bool) -> (state: Int, reused: Int)? {
        var best: (state: Int, reused: Int, end: Int, use: Int)?
        visit(prompt) { state, node, common in
            guard node.end <= room, node.isShared || !onlyShared else { return }
            let reused = PrefixPlan.reused(common, of: node.end, node.reach, prompt: prompt.count)
            if let best, (reused, -node.end, node.lastUse) <= (best.reused, -best.end, best.use) { return }
            best = (state, reused, node.end, node.lastUse)
        }
        return best.map { ($0.state, $0.reused) }
    }

    /// The longest state that holds only the beginning of some tokens, and that others may continue.
    func base(of tokens: [Int32], unit: Int) -> (state: Int, count: Int)? {
        var base: (state: Int, count: Int)?
        visit(tokens) { state, node, common in
            guard common == node.end, common % unit == 0, !node.isShared, common > base?.count ?? 0 else { return }
            base = (state, common)
        }
        return base
    }

    /// The state that has exactly these tokens and is not shared.
    func state(of tokens: [Int32]) -> Int? {
        var found: Int?
        visit(tokens) { state, node, common in
            if common == node.end, common == tokens.count, !node.isShared { found = state }
        }
        return found
    }

    /// Whether a shared state has exactly these tokens.
    func shares(_ tokens: ArraySlice<Int32>) -> Bool {
        nodes.values.contains { $0.isShared && $0.tokens.elementsEqual(tokens) }
    }

    /// The states that a new one replaces: it has all their tokens, and no state continues them.
    func replaced(by tokens: [Int32], after parent: Int?) -> [Int] {
        let path = Set(parent.map { self.path(to: $0) } ?? [])
        var replaced: [Int] = []
        visit(tokens) { state, node, common in
            guard common == node.end, !node.isShared, node.children.isEmpty, !path.contains(state) else { return }
            replaced.append(state)
        }
        return replaced
    }

    /// Records a use of a state and of those that it continues.
    mutating func use(_ state: Int, at use: Int) {
        for number in path(to: state) { nodes[number]?.lastUse = use }
    }

    /// Forgets a state with all that continue it.
    /// - Returns: the forgotten states.
    @discardableResult
    mutating func forget(_ state: Int) -> [Int] {
        guard let node = nodes.removeValue(forKey: state) else { return [] }
        roots.remove(state)
        if let parent = node.parent { nodes[parent]?.children.remove(state) }
        if !node.isShared { bytes -= node.bytes }
        return [state] + node.children.sorted().flatMap { forget($0) }
    }

    /// Forgets states until the others have at most `limit` bytes. A state goes before those that it continues. Of the
    /// others, the one goes first that was unused for the longest time in proportion to the tokens up to its end: a long
    /// conversation takes long to read again, and a short one is often a side request.
    /// - Returns: the forgotten states.
    mutating func trim(to limit: UInt64, now: Int) -> [Int] {
        var gone: [Int] = []
        while bytes > limit {
            let leaves = nodes.filter { $0.value.children.isEmpty && !$0.value.isShared }
            let worst = leaves.max { left, right in
                let (one, two) = (left.value.worth(now), right.value.worth(now))
                // Of equal ones, the older number goes.
                return one == two ? left.key > right.key : one > two
            }
            guard let worst else { break }
            gone += forget(worst.key)
        }
        return gone
    }
}

extension StateTree.Node {
    /// The tokens for each use of another state since its own last use.
    fileprivate func worth(_ now: Int) -> Double { Double(end) / Double(max(0, now - lastUse) + 1) }
}
