import Testing

@testable import HearthInference

@Suite struct SlotTableTests {
    func tokens(_ first: Int32, _ count: Int) -> [Int32] { [first] + (1..<Int32(count)) }

    func choose(
        _ table: inout SlotTable, _ prompt: [Int32], asked: Int? = nil
    ) throws -> SlotTable.Choice {
        let choice = table.choose(prompt: prompt, asked: asked)
        return try #require(choice)
    }

    let rules = SlotTable.Rules(canCopy: false, canSave: false, fewestTokens: 4)
    let tight = SlotTable.Rules(canCopy: false, canSave: true, fewestTokens: 4, savedBytes: 250)

    @Test func conversationsKeepTheirSequences() throws {
        var table = SlotTable(count: 3, rules: rules)
        for name in [Int32(100), 200, 300] {
            let choice = try choose(&table, tokens(name, 10))
            #expect(choice.plan.action == .prefillAll)
            table.release(choice.slot, holding: HeldPrefix(tokens: tokens(name, 12)))
        }
        for (slot, name) in [Int32(100), 200, 300].enumerated().reversed() {
            let choice = try choose(&table, tokens(name, 20))
            #expect(choice.slot == slot)
            #expect(choice.plan.action == .appendSuffix && choice.plan.reused == 12)
            table.release(choice.slot, holding: HeldPrefix(tokens: tokens(name, 20)))
        }
        // The least recently used sequence is taken: 300 was the first of the second round.
        let choice = try choose(&table, tokens(400, 10))
        #expect(choice.slot == 2)
        #expect(choice.plan.miss == .otherBeginning)
    }

    @Test func busySequencesAreNeverTaken() throws {
        var table = SlotTable(count: 2, rules: rules)
        let first = try choose(&table, tokens(1, 10))
        let second = try choose(&table, tokens(1, 10))
        #expect(first.slot != second.slot)
        let none = table.choose(prompt: tokens(1, 10))
        #expect(none == nil)
        table.release(first.slot, holding: HeldPrefix(tokens: tokens(1, 10)))
        let third = table.choose(prompt: tokens(9, 3))
        #expect(third?.slot == first.slot)
    }

    @Test func aSharedBeginningDoesNotTakeAnothersSequence() throws {
        let system = Array(Int32(0)..<100)
        func talk(_ name: Int32) -> [Int32] { system + (0..<200).map { name + $0 } }
        var table = SlotTable(count: 2, rules: SlotTable.Rules(canCopy: true, canSave: false))
        let first = try choose(&table, talk(1000))
        table.release(first.slot, holding: HeldPrefix(tokens: talk(1000)))
        let second = try choose(&table, talk(2000))
        #expect(second.slot != first.slot)
        #expect(second.copies == SlotTable.Choice.Copy(slot: first.slot, count: 100))
        #expect(second.plan.action == .appendSuffix && second.plan.reused == 100)
        table.release(second.slot, holding: HeldPrefix(tokens: talk(2000)))
        // The beginning of a memory that cannot be cut cannot be copied either.
        var recurrent = SlotTable(count: 2, rules: SlotTable.Rules(canCopy: true, canSave: false))
        let lender = try choose(&recurrent, talk(1000))
        recurrent.release(lender.slot, holding: HeldPrefix(tokens: talk(1000), reach: .presentOnly))
        let other = try choose(&recurrent, talk(2000))
        #expect(other.copies == nil && other.slot != lender.slot)
    }

    @Test func aShortPromptAskedAgainAfterALongAnswerIsCopied() throws {
        var table = SlotTable(count: 2, rules: SlotTable.Rules(canCopy: true, canSave: false))
        let first = try choose(&table, tokens(1, 40))
        table.release(first.slot, holding: HeldPrefix(tokens: tokens(1, 200)))
        let again = try choose(&table, tokens(1, 40))
        #expect(again.slot != first.slot)
        #expect(again.copies == SlotTable.Choice.Copy(slot: first.slot, count: 40))
        #expect(again.plan.reused == 39 && again.plan.miss == .repeated)
        table.release(again.slot, holding: HeldPrefix(tokens: []))
        // The copy would have few tokens, and less than half of the prompt.
        let other = try choose(&table, Array(tokens(1, 12)) + Array(repeating: 7, count: 40))
        #expect(other.copies == nil && other.plan.reused == 0)
    }

    /// More than half of the first conversation is the system prompt of both.
    @Test func aLongSharedBeginningDoesNotTakeAnothersSequenceEither() throws {
        let system = Array(Int32(0)..<1500)
        func talk(_ name: Int32, _ count: Int) -> [Int32] { system + (0..<Int32(count)).map { name + $0 } }
        var table = SlotTable(count: 2)
        let first = try choose(&table, talk(2000, 20), asked: 1515)
        table.release(first.slot, holding: HeldPrefix(tokens: talk(2000, 1400)))
        let second = try choose(&table, talk(5000, 20))
        #expect(second.slot != first.slot && !second.saves)
        #expect(second.copies == SlotTable.Choice.Copy(slot: first.slot, count: 1500))
        #expect(second.plan.action == .appendSuffix && second.plan.reused == 1500)
        table.release(second.slot, holding: HeldPrefix(tokens: talk(5000, 1400)))
        // The first conversation stays, and without an empty sequence it is saved before it is overwritten.
        #expect(table.slots[first.slot].held.tokens == talk(2000, 1400))
        let third = try choose(&table, talk(8000, 20))
        #expect(third.slot == first.slot && third.saves && third.plan.reused == 1500)
    }

    /// The template repeats the answer without its thinking or in other words: the conversation continues in its
    /// sequence.
    @Test func aRetoldAnswerGoesOnInItsSequence() throws {
        for reach in [MemoryReach.anywhere, .presentOnly] {
            var table = SlotTable(count: 2)
            let asked = tokens(1, 100)
            let first = try choose(&table, asked + [501, 502], asked: 100)
            table.release(
                first.slot, holding: HeldPrefix(tokens: asked + [501, 502] + Array(1000..<1400), reach: reach))
            let second = try choose(&table, asked + [501] + Array(1300..<1420))
            #expect(second.slot == first.slot && !second.saves && second.copies == nil)
            #expect(second.plan.reused == (reach == .anywhere ? 101 : 0))
        }
    }

    /// An edited question leaves the old conversation in place: copied, or saved if there is only one sequence.
    @Test(arguments: [1, 2])
    func anEditedQuestionKeepsTheOldConversation(count: Int) throws {
        var table = SlotTable(count: count)
        let front = tokens(1, 400)
        let old = front + Array(1000..<1200)
        let first = try choose(&table, front + Array(1000..<1020), asked: 418)
        table.release(first.slot, holding: HeldPrefix(tokens: old))
        let edited = try choose(&table, front + Array(2000..<2020))
        #expect(edited.plan.reused == 400)
        if count == 1 {
            #expect(edited.saves && edited.slot == first.slot && edited.copies == nil)
        } else {
            #expect(!edited.saves && edited.copies == SlotTable.Choice.Copy(slot: first.slot, count: 400))
        }
        table.release(edited.slot, holding: HeldPrefix(tokens: front + Array(2000..<2030)))
        // A few tokens are not saved.
        let again = try choose(&table, front + Array(2000..<2010) + Array(3000..<3010))
        #expect(again.slot == edited.slot && !again.saves && again.copies == nil && again.plan.reused == 410)
    }

    /// A memory without earlier states reuses no token of another conversation, which is saved first like any other.
    @Test func aMemoryWithoutEarlierStatesIsSavedBeforeAnotherConversation() throws {
        var table = SlotTable(count: 1)
        let system = Array(Int32(0)..<300)
        _ = table.choose(prompt: system + [1000])
        table.release(0, holding: HeldPrefix(tokens: system + Array(1000..<1100), reach: .presentOnly))
        let other = try choose(&table, system + [2000, 2001])
        #expect(other.saves && other.plan.action == .rebuild)
    }

    @Test func theTokensOfAComputingSequenceCanBeCopied() throws {
        var table = SlotTable(count: 2, rules: SlotTable.Rules(canCopy: true, canSave: false, fewestTokens: 4))
        let first = try choose(&table, tokens(1, 50))
        // Only the computed part of the prompt can be copied.
        table.note(first.slot, holding: HeldPrefix(tokens: tokens(1, 20)))
        let second = try choose(&table, tokens(1, 30))
        #expect(second.copies == SlotTable.Choice.Copy(slot: first.slot, count: 20))
        #expect(second.plan.reused == 20)
        // The tokens of an idle sequence are recorded by its release.
        table.release(second.slot, holding: HeldPrefix(tokens: tokens(1, 30)))
        table.note(second.slot, holding: HeldPrefix(tokens: []))
        #expect(table.slots[second.slot].held.tokens == tokens(1, 30))
    }

    /// A template's own system prompt is short, and each conversation begins with it.
    @Test(arguments: [(15, nil), (16, SlotTable.Choice.Copy(slot: 1, count: 16))])
    func aShortBeginningIsCopiedFromTheShortestSequence(shared: Int, copies: SlotTable.Choice.Copy?) throws {
        var table = table(of: [1500, 30, 700], after: tokens(0, shared), copiedForOneComputed: 64)
        #expect(try choose(&table, tokens(0, shared) + tokens(4, 100)).copies == copies)
    }

    /// With cells for each sequence, the state of the whole sequence is copied.
    @Test(arguments: [64, 128, nil])
    func aBeginningIsComputedWhereCopyingTakesLonger(rate: Int?) throws {
        var table = table(of: [1500], after: tokens(0, 20), copiedForOneComputed: rate)
        let copies = try choose(&table, tokens(0, 20) + tokens(4, 100)).copies
        #expect(copies == (rate == 64 ? nil : SlotTable.Choice.Copy(slot: 0, count: 20)))
    }

    /// Conversations of the given lengths that share a beginning, each in a sequence.
    private func table(
        of lengths: [Int], after beginning: [Int32], copiedForOneComputed rate: Int?
    ) -> SlotTable {
        var table = SlotTable(
            count: lengths.count + 1, rules: SlotTable.Rules(canSave: false, copiedForOneComputed: rate))
        for (name, length) in lengths.enumerated() {
            let prompt = beginning + tokens(Int32(name + 1), length)
            guard let choice = table.choose(prompt: prompt) else { continue }
            table.release(choice.slot, holding: HeldPrefix(tokens: prompt))
        }
        return table
    }

    @Test func idleSequencesAreEmptiedTheOldestFirst() throws {
        var table = SlotTable(count: 4, rules: rules)
        for name in [Int32(1), 2, 3] {
            let choice = try choose(&table, tokens(name, 10))
            table.release(choice.slot, holding: HeldPrefix(tokens: tokens(name, 10)))
        }
        let busy = try choose(&table, tokens(1, 20))
        #expect(busy.slot == 0)
        #expect(table.idleTokens(except: busy.slot) == 20)
        #expect(table.idleTokens(except: 2) == 10)
        #expect(table.leastRecentlyUsed(except: busy.slot) == 1)
        #expect(table.leastRecentlyUsed(except: 1) == 2)
        table.release(1, holding: HeldPrefix(tokens: []))
        table.release(2, holding: HeldPrefix(tokens: []))
        #expect(table.leastRecentlyUsed(except: busy.slot) == nil)
    }

    /// A shared beginning survives the conversations that continue it, and the limit of saved bytes.
    @Test func aSharedStateStaysAndIsLoadedForNewConversations() throws {
        for reach in [MemoryReach.anywhere, .presentOnly] {
            var table = SlotTable(count: 2, rules: tight)
            let own = tokens(1, 20)
            let shared = table.didShare(HeldPrefix(tokens: own, reach: reach))
            #expect(table.shares(own[...]) && !table.shares(own.dropLast()) && !table.shares([]))
            for name in [Int32(100), 200, 300, 400] {
                let choice = try choose(&table, own + tokens(name, 30))
                // A full sequence is cut to the shared beginning where its memory allows that.
                let isCut = reach == .anywhere && name > 200
                #expect(choice.restores == (isCut ? nil : shared) && choice.plan.reused == 20)
                table.release(choice.slot, holding: HeldPrefix(tokens: own + tokens(name, 32), reach: reach))
                let saved = table.didSave(table.slots[choice.slot].held, bytes: 240, slot: choice.slot)
                #expect(!saved.deletes.contains(shared))
            }
            #expect(table.limitSaved(to: 0).count == 1 && table.savedStates == [shared])
            // Also where no conversation is saved.
            for slot in table.slots.indices { table.release(slot, holding: HeldPrefix(tokens: [])) }
            #expect(try choose(&table, own + tokens(500, 30)).restores == shared)
            table.forget(shared)
            #expect(!table.shares(own[...]))
        }
    }
}
