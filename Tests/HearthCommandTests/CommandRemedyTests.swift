import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthPublishing
import HearthStore
import HearthTransfer
import Testing

@testable import HearthCommand

@Suite struct CommandRemedyTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let failure: any HearthFailure
        let remedy: String?
        init(_ failure: any HearthFailure, _ remedy: String?) { (self.failure, self.remedy) = (failure, remedy) }
        var testDescription: String { failure.codeText }
    }

    private static let context = ErrorContext(
        model: "slow@1.0.0:q4_1", file: "slow.gguf", found: "slow@1.0.0:q4_1", remedy: "Try this.")

    private static func context(field: String) -> ErrorContext {
        var context = context
        context.field = field
        return context
    }

    private static let cases = [
        Case(
            StoreError(.notInstalled, "", context: context),
            "`hearth pull slow@1.0.0:q4_1`; `hearth list` shows the installed releases"),
        Case(StoreError(.noActiveRelease, "", context: context), "`hearth use slow@VERSION`"),
        Case(
            StoreError(.notRepairable, "", context: context),
            "`hearth remove slow@1.0.0:q4_1`, then `hearth pull slow@1.0.0:q4_1`"),
        Case(DeliveryError(.heldBack, "", context: context), "`hearth use slow@1.0.0:q4_1`"),
        Case(DeliveryError(.notEnoughMemory, "", context: context), "`--ignore-memory`"),
        Case(DeliveryError(.ambiguous, "", context: context(field: "release")), "`hearth use slow@1.0.0:q4_1`"),
        Case(DeliveryError(.ambiguous, "", context: context), nil),
        Case(TransferError(.busy, "", context: context(field: "transfer")), "`hearth transfers cancel slow.gguf`"),
        Case(TransferError(.busy, "", context: context), nil),
        Case(CatalogError(.originRefused, "", context: context(field: "token")), "`HF_TOKEN`"),
        Case(CatalogError(.originRefused, "", context: context), nil),
        Case(PublishingError(.notPublishable, "", context: context(field: "member")), "`--member PATH`"),
        Case(NetworkError(.offline, "", context: context), nil),
    ]

    @Test(arguments: cases)
    func namesTheCommandThatCarriesOutTheRemedy(_ example: Case) {
        let expected = example.remedy.map { "Try this: \($0)" } ?? "Try this."
        let rendered = FailureRenderer(example.failure)
        #expect(rendered.body.context.remedy == expected)
        #expect(rendered.lines.last == "  " + (expected.hasSuffix("releases") ? expected + "." : expected))
    }

    @Test func quotesAValueForTheShell() {
        var context = Self.context(field: "transfer")
        context.file = "it's; rm -r *.gguf"
        #expect(
            CommandRemedy.text(TransferError(.busy, "", context: context))
                == #"Try this: `hearth transfers cancel 'it'\''s; rm -r *.gguf'`"#)
    }

    @Test func namesNoCommandIfTheContextLacksAValue() {
        let remedy = ErrorContext(remedy: "Pull it first.")
        #expect(CommandRemedy.text(StoreError(.notInstalled, "", context: remedy)) == "Pull it first.")
        #expect(CommandRemedy.text(StoreError(.notInstalled, "")) == nil)
    }

    /// Every command and option of the table is one of the command line.
    @Test func namesOnlyWhatTheCommandLineHas() throws {
        let declarations = HearthCommand.table.commands.map { $0.declaration }
        let options = Set(
            HearthCommand.table.commands.flatMap { CommandParameters(of: $0.init()).options.map(\.shape.name) })
        for words in CommandRemedy.words.values {
            for match in words.matches(of: /`hearth ([a-z]+)/) {
                #expect(declarations.contains { $0.path.first == String(match.1) }, "\(words)")
            }
            for match in words.matches(of: /--([a-z-]+)/) { #expect(options.contains(String(match.1)), "\(words)") }
        }
    }
}
