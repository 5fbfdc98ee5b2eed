import HearthInference
import Testing

@testable import HearthAssistant

@Suite struct ModelOutputTests {
    @Test func thereAreAtLeastTwoHundred() {
        #expect(ModelOutput.all.count >= 200)
        #expect(Set(ModelOutput.all.map(\.name)).count == ModelOutput.all.count)
    }

    @Test(arguments: ModelOutput.all) func hasTextCardsAndEffects(_ output: ModelOutput) async {
        let (text, blocks) = ActionBench.scan(output.answer)
        #expect(text == output.visible)
        #expect(blocks.map(\.tag) == output.tags)
        #expect(blocks.map(\.index) == Array(blocks.indices))
        let bench = ActionBench(approval: ScriptedApproval(otherwise: .approve))
        let outcome = await bench.runner().run(blocks, in: bench.turn())
        #expect(outcome.cards.map(\.state) == output.cards)
        #expect(outcome.malformed.count == output.malformed)
        #expect(await bench.effects == output.effects)
        // The same answer again does nothing again, as after a restart in the middle.
        _ = await bench.runner().run(blocks, in: bench.turn())
        #expect(await bench.effects == output.effects)
    }

    @Test(arguments: ModelOutput.all) func doesNotDependOnTheCuts(_ output: ModelOutput) {
        let scalars = Array(output.answer.unicodeScalars)
        func text(_ part: ArraySlice<Unicode.Scalar>) -> String { String(String.UnicodeScalarView(part)) }
        func visible(_ pieces: [ArraySlice<Unicode.Scalar>]) -> (String, [ScannedBlock]) {
            var scanner = BlockScanner(tags: ActionTag.order)
            var shown = ""
            for piece in pieces { shown += scanner.append(text(piece)) }
            let end = scanner.finish()
            return (shown + end.text, end.blocks)
        }
        let whole = visible([scalars[...]])
        var flaws = 0
        // Each cut in two of the shorter answers.
        if scalars.count <= 2000 {
            for cut in scalars.indices where visible([scalars[..<cut], scalars[cut...]]) != whole { flaws += 1 }
            if visible(scalars.indices.map { scalars[$0...$0] }) != whole { flaws += 1 }
        }
        var random = SeededRandom(seed: UInt64(scalars.count))
        for _ in 0..<10 {
            var pieces: [ArraySlice<Unicode.Scalar>] = []
            var start = 0
            while start < scalars.count {
                let end = min(scalars.count, start + Int.random(in: 1...40, using: &random))
                pieces.append(scalars[start..<end])
                start = end
            }
            if visible(pieces) != whole { flaws += 1 }
        }
        #expect(flaws == 0)
    }

    /// An answer that ends anywhere shows no part of a payload, and carries nothing out.
    @Test(arguments: ModelOutput.all.filter { $0.answer.unicodeScalars.count <= 2000 })
    func showsNoJSONWhereverItEnds(_ output: ModelOutput) async {
        let scalars = Array(output.answer.unicodeScalars)
        let full = output.visible
        var flaws = 0
        for count in scalars.indices {
            let answer = String(String.UnicodeScalarView(scalars[..<count]))
            let (text, _) = ActionBench.scan(answer)
            let shown = text.unicodeScalars
            // Of an answer that is cut, people see a beginning of the whole, or an opening that is no block yet.
            let isBeginning = full.unicodeScalars.starts(with: shown.dropTrailingSpace)
            let rest = text.lastIndex(of: "[").map { text[..<$0] } ?? ""
            let isOpening =
                !text[rest.endIndex...].contains("{")
                && full.unicodeScalars.starts(with: String(rest).unicodeScalars.dropTrailingSpace)
            if !isBeginning, !isOpening { flaws += 1 }
        }
        #expect(flaws == 0)
    }

    @Test(arguments: [FinishReason.maximumNewTokens, .timedOut, .contextFull, .interrupted, .contentFilter, "stopped"])
    func carriesNothingOutAfter(_ finish: FinishReason) async {
        let bench = ActionBench(approval: ScriptedApproval(otherwise: .approve))
        let runner = bench.runner(ApprovalPolicy(preApproved: Set(ActionTag.order)))
        for output in ModelOutput.written {
            let outcome = await runner.run(ActionBench.scan(output.answer).blocks, in: bench.turn(finish))
            #expect(outcome.malformed.isEmpty)
            #expect(outcome.cards.allSatisfy { $0.state == .notCarriedOut || $0.state == .failed })
        }
        #expect(await bench.effects.isEmpty)
        #expect(await bench.approval.asked.isEmpty)
    }
}

extension String.UnicodeScalarView {
    fileprivate var dropTrailingSpace: SubSequence {
        var view = self[...]
        while let last = view.last, last.properties.isWhitespace { view = view.dropLast() }
        return view
    }
}
