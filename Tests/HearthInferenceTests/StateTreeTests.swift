import Testing

@testable import HearthInference

/// Saved states that conversations with a common beginning share.
@Suite struct StateTreeTests {
    /// The tokens of a conversation: `shared` that all have, then its own.
    private func talk(_ name: Int32, shared: Int = 16, own: Int) -> [Int32] {
        Array(0..<Int32(shared)) + (0..<Int32(own)).map { 1000 * name + $0 }
    }

    /// Saves a conversation in parts of 8 tokens with 10 bytes for each, as the engine does.
    /// - Returns: the states that were written, and those that were deleted.
    @discardableResult
    private func save(_ tokens: [Int32], in table: inout SlotTable, unit: Int = 8) -> (new: [Int], deletes: [Int]) {
        var new: [Int] = []
        var deletes: [Int] = []
        let base = table.base(of: tokens, unit: unit)
        var (parent, start) = (base?.state, base?.count ?? 0)
        while start < tokens.count {
            let end = min(tokens.count, (start / unit + 1) * unit)
            let saved = table.didSave(
                HeldPrefix(tokens: Array(tokens[..<end])), after: parent, bytes: UInt64(10 * (end - start)))
            deletes += saved.deletes
            if saved.deletes.contains(saved.state) { break }
            new.append(saved.state)
            (parent, start) = (saved.state, end)
        }
        return (new, deletes)
    }

    private func table(_ bytes: UInt64) -> SlotTable {
        SlotTable(count: 1, rules: SlotTable.Rules(canCopy: false, fewestTokens: 4, savedBytes: bytes))
    }

    /// The number of a prompt's tokens that are restored.
    private func reused(_ prompt: [Int32], by table: SlotTable) throws -> Int {
        var table = table
        let choice = table.choose(prompt: prompt)
        return try #require(choice).plan.reused
    }

    @Test func aCommonBeginningIsKeptOnce() throws {
        var table = table(1000)
        for name in Int32(1)...8 {
            let saved = save(talk(name, own: 4), in: &table)
            // The first one writes the beginning.
            #expect(saved.new.count == (name == 1 ? 3 : 1) && saved.deletes.isEmpty)
        }
        // 16 shared tokens and eight ends of 4, in place of eight times 20.
        #expect(table.states.bytes == 10 * (16 + 8 * 4))
        for name in Int32(1)...8 { #expect(try reused(talk(name, own: 4) + [7, 7], by: table) == 20) }
        #expect(try reused(talk(9, own: 4), by: table) == 16)
        // The tokens are those of the whole conversation.
        let state = try #require(table.state(of: talk(3, own: 4)))
        #expect(table.tokens(of: state) == talk(3, own: 4))
        #expect(table.path(to: state).map(\.end) == [8, 16, 20])
    }

    @Test func aLongerConversationReplacesOnlyItsEnd() {
        var table = table(1000)
        let first = save(talk(1, own: 4), in: &table)
        let other = save(talk(2, own: 4), in: &table)
        let longer = save(talk(1, own: 12), in: &table)
        #expect(longer.new.count == 2 && longer.deletes == [first.new[2]])
        #expect(table.savedStates == Set(first.new.prefix(2) + other.new + longer.new))
        // Saved already.
        #expect(save(talk(1, own: 8), in: &table).new.isEmpty)
    }

    @Test func theBeginningIsDeletedLast() throws {
        var table = table(10 * 24)
        let first = save(talk(1, own: 4), in: &table)
        _ = save(talk(2, own: 4), in: &table)
        // There is room for two ends: of three conversations the one that was unused for the longest time loses its end.
        let third = save(talk(3, own: 4), in: &table)
        #expect(third.deletes == [first.new[2]])
        #expect(try reused(talk(1, own: 4) + [7], by: table) == 16)
        #expect(try reused(talk(3, own: 4) + [7], by: table) == 20)
        #expect(table.limitSaved(to: 80).count == 3)
        #expect(table.savedStates == [first.new[0]])
        #expect(table.limitSaved(to: 79) == [first.new[0]])
    }

    /// Titles and summaries have texts of their own, which are short and not asked again.
    @Test func shortSideRequestsDoNotEvictALongConversation() throws {
        var table = table(10 * 180)
        save(talk(1, shared: 160, own: 8), in: &table)
        for name in Int32(10)..<18 {
            save(talk(name, shared: 0, own: 12), in: &table)
            #expect(try reused(talk(1, shared: 160, own: 8) + [7], by: table) == 168, "\(name)")
        }
    }

    /// A conversation that is longer than the room for states keeps its beginning.
    @Test func whatDoesNotFitIsTheEnd() throws {
        var table = table(10 * 20)
        let saved = save(talk(1, shared: 40, own: 0), in: &table)
        #expect(saved.new.count == 2 && saved.deletes.count == 1)
        #expect(try reused(talk(1, shared: 40, own: 0), by: table) == 16)
    }

    @Test func aStateThatIsGoneTakesItsContinuationsWithIt() throws {
        var table = table(1000)
        let first = save(talk(1, own: 4), in: &table)
        let second = save(talk(2, own: 4), in: &table)
        #expect(table.forget(first.new[1]) == [first.new[1], first.new[2], second.new[0]])
        #expect(table.savedStates == [first.new[0]])
        #expect(table.forget(first.new[1]) == [])
        // A part without its beginning is not kept.
        let orphan = table.didSave(HeldPrefix(tokens: talk(1, own: 4)), after: first.new[1], bytes: 1)
        #expect(orphan.deletes == [orphan.state])
        // The lost parts are saved again.
        #expect(save(talk(2, own: 4), in: &table).new.count == 2)
        #expect(try reused(talk(2, own: 4) + [7], by: table) == 20)
    }

    @Test func aSlotThatIsFoundSavedNeedsNoState() throws {
        var table = table(1000)
        let tokens = talk(1, own: 4)
        let state = try #require(save(tokens, in: &table).new.last)
        _ = table.choose(prompt: tokens)
        table.release(0, holding: HeldPrefix(tokens: tokens + [5]))
        #expect(table.unsavedSlots == [0])
        table.didFindSaved(state, slot: 0)
        #expect(table.unsavedSlots == [0], "it has one more token")
        table.release(0, holding: HeldPrefix(tokens: tokens))
        table.didFindSaved(state, slot: 0)
        #expect(table.unsavedSlots.isEmpty)
    }
}
