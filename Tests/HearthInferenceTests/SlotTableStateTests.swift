import Testing

@testable import HearthInference

/// Saved states of conversations.
extension SlotTableTests {
    @Test func savesBeforeItOverwritesAndRestores() throws {
        var table = SlotTable(count: 1, rules: SlotTable.Rules(canCopy: false, canSave: true, fewestTokens: 4))
        let one = try choose(&table, tokens(1, 10))
        #expect(!one.saves)
        table.release(0, holding: HeldPrefix(tokens: tokens(1, 12)))
        let two = try choose(&table, tokens(2, 10))
        #expect(two.saves && two.restores == nil)
        let saved = table.didSave(HeldPrefix(tokens: tokens(1, 12)), bytes: 100)
        #expect(saved.deletes.isEmpty)
        table.release(0, holding: HeldPrefix(tokens: tokens(2, 12)))
        let again = try choose(&table, tokens(1, 20))
        #expect(again.saves && again.restores == saved.state)
        #expect(again.plan.action == .appendSuffix && again.plan.reused == 12)
        // A loaded state that has not changed need not be saved again.
        table.release(0, holding: HeldPrefix(tokens: tokens(1, 12)))
        #expect(table.unsavedSlots.isEmpty)
        let third = try choose(&table, tokens(3, 10))
        #expect(!third.saves)
    }

    @Test func savesUsefulSequencesBeforeTheContextIsFreed() throws {
        var table = SlotTable(count: 2, rules: SlotTable.Rules(canCopy: false, canSave: true, fewestTokens: 4))
        for name in [Int32(1), 2] {
            let choice = try choose(&table, tokens(name, 8))
            table.release(choice.slot, holding: HeldPrefix(tokens: tokens(name, 8)))
        }
        #expect(table.unsavedSlots == [1, 0])
        for slot in table.unsavedSlots { _ = table.didSave(table.slots[slot].held, bytes: 1, slot: slot) }
        #expect(table.unsavedSlots.isEmpty)
        // Another table restores the same states after they are recorded in it.
        var next = SlotTable(count: 2, rules: table.rules)
        for name in [Int32(1), 2] { _ = next.didSave(HeldPrefix(tokens: tokens(name, 8)), bytes: 1) }
        let choice = try choose(&next, tokens(2, 9))
        #expect(choice.restores == 1 && choice.plan.reused == 8)
    }

    @Test func savedStatesStayWithinTheirBytes() {
        var table = SlotTable(count: 1, rules: tight)
        let first = table.didSave(HeldPrefix(tokens: tokens(1, 8)), bytes: 100)
        let second = table.didSave(HeldPrefix(tokens: tokens(2, 8)), bytes: 100)
        // A longer state of the same conversation replaces the shorter one.
        let third = table.didSave(HeldPrefix(tokens: tokens(1, 20)), bytes: 120)
        #expect(third.deletes == [first.state])
        let fourth = table.didSave(HeldPrefix(tokens: tokens(3, 8)), bytes: 100)
        #expect(fourth.deletes == [second.state])
        #expect(table.savedStates == [third.state, fourth.state])
        // Exactly as many bytes as the limit.
        let fifth = table.didSave(HeldPrefix(tokens: tokens(4, 8)), bytes: 30)
        #expect(fifth.deletes.isEmpty)
        #expect(table.savedStates == [third.state, fourth.state, fifth.state])
        table.forget(third.state)
        table.forget(99)
        #expect(table.savedStates == [fourth.state, fifth.state])
    }

    @Test func savedStatesShrinkToTheLimit() throws {
        var table = SlotTable(count: 1, rules: tight)
        let states = (1...2).map { table.didSave(HeldPrefix(tokens: tokens($0, 8)), bytes: 100).state }
        #expect(table.limitSaved(to: 200) == [])
        // A state that was used again is deleted last.
        #expect(try choose(&table, tokens(1, 9)).restores == states[0])
        table.release(0, holding: HeldPrefix(tokens: tokens(3, 8)))
        #expect(table.limitSaved(to: 199) == [states[1]])
        #expect(table.limitSaved(to: 0) == [states[0]] && table.savedStates.isEmpty)
        // No state is kept any more, and no sequence is saved.
        #expect(table.unsavedSlots.isEmpty)
        #expect(try !choose(&table, tokens(4, 9)).saves)
        table.release(0, holding: HeldPrefix(tokens: tokens(4, 9)))
        // With a larger limit, states are saved again.
        #expect(table.limitSaved(to: 250) == [] && table.unsavedSlots == [0])
        #expect(try choose(&table, tokens(5, 9)).saves)
    }

    @Test func aStateAboveTheLimitRemovesNoOther() throws {
        var table = SlotTable(count: 1, rules: tight)
        let one = table.didSave(HeldPrefix(tokens: tokens(1, 8)), bytes: 100)
        let two = table.didSave(HeldPrefix(tokens: tokens(2, 8)), bytes: 100)
        for bytes in [251, 1000, UInt64.max] {
            let huge = table.didSave(HeldPrefix(tokens: tokens(4, 20)), bytes: bytes, slot: 0)
            #expect(huge.deletes == [huge.state])
            // The shorter state of the same conversation also stays.
            let longer = table.didSave(HeldPrefix(tokens: tokens(1, 20)), bytes: bytes)
            #expect(longer.deletes == [longer.state])
            #expect(table.savedStates == [one.state, two.state])
        }
        #expect(table.slots[0].saved == nil)
        #expect(try choose(&table, tokens(1, 20)).restores == one.state)
    }

    /// A state that cannot be cut is of use only to a prompt that continues all of it.
    @Test func restoresOnlyUsefulStates() throws {
        var table = SlotTable(count: 2, rules: SlotTable.Rules(canCopy: false, canSave: true, fewestTokens: 4))
        func held(_ name: Int32, _ count: Int) -> HeldPrefix {
            HeldPrefix(tokens: tokens(name, count), reach: .presentOnly)
        }
        let whole = table.didSave(held(1, 20), bytes: 1)
        _ = table.didSave(HeldPrefix(tokens: tokens(1, 30) + [7], reach: .presentOnly), bytes: 1)
        // The second state has more tokens of the prompt, but cannot be cut.
        let choice = try choose(&table, tokens(1, 40))
        #expect(choice.restores == nil && choice.plan.miss == .cold)
        table.release(choice.slot, holding: held(2, 30))
        let again = table.didSave(held(1, 20), bytes: 1)
        #expect(again.deletes == [] && whole.state != again.state)
        let next = try choose(&table, tokens(1, 40))
        #expect(next.restores == again.state && next.plan.action == .appendSuffix && next.plan.reused == 20)
        // The same conversation, edited, is in a sequence: the state saved before the edit saves more tokens.
        table.release(next.slot, holding: HeldPrefix(tokens: tokens(1, 25) + [9, 9], reach: .presentOnly))
        let edited = try choose(&table, tokens(1, 40))
        #expect(edited.restores == again.state && edited.plan.reused == 20)
    }

    /// Tokens in the context are copied; a whole state is not read for its beginning.
    @Test(arguments: [1, 2, 3])
    func aSharedBeginningIsNotReadFromAnothersState(count: Int) throws {
        let system = Array(Int32(0)..<200)
        func talk(_ name: Int32, _ count: Int) -> [Int32] { system + (0..<Int32(count)).map { name + $0 } }
        var table = SlotTable(count: count)
        let evicted = table.didSave(HeldPrefix(tokens: talk(1000, 600)), bytes: 1)
        // No other sequence has the tokens: a long state is better than none.
        let first = try choose(&table, talk(3000, 30))
        #expect(first.restores == evicted.state && first.copies == nil && first.plan.reused == 200)
        table.release(first.slot, holding: HeldPrefix(tokens: talk(3000, 100)))
        let second = try choose(&table, talk(5000, 30))
        #expect(second.restores == nil && second.plan.reused == 200)
        #expect(second.copies == (count == 1 ? nil : SlotTable.Choice.Copy(slot: first.slot, count: 200)))
        table.release(second.slot, holding: HeldPrefix(tokens: talk(5000, 100)))
        // The conversation of the state continues from all of it.
        let again = try choose(&table, talk(1000, 620))
        #expect(again.restores == evicted.state && again.copies == nil && again.plan.reused == 800)
    }

    @Test func ofStatesOfEqualUseTheShortestIsRead() throws {
        var table = SlotTable(count: 2)
        let system = Array(Int32(0)..<200)
        let short = table.didSave(HeldPrefix(tokens: system + Array(1000..<1050)), bytes: 1)
        _ = table.didSave(HeldPrefix(tokens: system + Array(2000..<2900)), bytes: 1)
        let choice = try choose(&table, system + Array(5000..<5030))
        #expect(choice.restores == short.state && choice.plan.reused == 200)
    }

    @Test func aStateWithoutRoomStaysAsItIs() throws {
        var table = SlotTable(count: 2)
        let system = Array(Int32(0)..<200)
        let long = table.didSave(HeldPrefix(tokens: system + Array(2000..<2900)), bytes: 1)
        let refused = table.choose(prompt: system + Array(5000..<5030), room: 1099)
        #expect(refused?.restores == nil && refused?.plan.miss == .cold)
        #expect(table.savedStates == [long.state])
        let loaded = table.choose(prompt: system + Array(6000..<6030), room: 1100)
        #expect(loaded?.restores == long.state)
    }
}
