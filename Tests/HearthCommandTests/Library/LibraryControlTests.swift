import Hearth
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTransfer
import Testing

@testable import HearthCommand

/// What the keys of `hearth models` mean.
@Suite struct LibraryControlTests {
    private static let rows = ["ada", "bob", "cyd", "dan", "eve"].map { Rows.offered($0) }

    /// The state after keys, and what the last one wants.
    private static func after(
        _ keys: [Key], in rows: [LibraryRow], asks: Bool = true
    ) -> (LibraryControl, LibraryControl.Action?) {
        var control = LibraryControl(asksAboutMetered: asks)
        control.settle(in: rows)
        var action: LibraryControl.Action?
        for key in keys { action = control.take(key, in: rows, page: 2) }
        return (control, action)
    }

    @Test(
        arguments: [
            ([], "ada"), ([.down], "bob"), ([.character("j"), .character("j")], "cyd"), ([.down, .up], "ada"),
            ([.up], "ada"), ([.character("k")], "ada"), ([.end], "eve"), ([.end, .down], "eve"),
            ([.end, .home], "ada"),
            ([.pageDown], "cyd"), ([.pageDown, .pageDown, .pageDown], "eve"), ([.end, .pageUp], "cyd"),
        ] as [([Key], String)])
    func movesTheSelection(_ keys: [Key], _ name: String) {
        let (control, action) = Self.after(keys, in: Self.rows)
        #expect(control.selection?.name == name)
        #expect(action == nil)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let row: LibraryRow
        let keys: [Key]
        let action: LibraryControl.Action?
        let asks: Bool

        init(
            _ name: String, _ row: LibraryRow, _ keys: Key..., action: LibraryControl.Action? = nil, asks: Bool = true
        ) {
            (self.name, self.row, self.keys, self.action, self.asks) = (name, row, keys, action, asks)
        }

        var testDescription: String { name }
    }

    private static let ada = Rows.family("ada")
    private static let tooLarge = Ineligibility.notEnoughMemory(needed: 9_000_000_000)

    /// A model with a release before.
    private static let back = Rows.updated("ada")

    static let cases = [
        Case("Enter fetches", Rows.offered("ada"), .enter, action: .download(ada)),
        Case("space too", Rows.offered("ada"), .character(" "), action: .download(ada)),
        Case(
            "a failure is tried again", Rows.offered("ada", .download, .failed(Rows.lost)), .enter,
            action: .download(ada)),
        Case("what is on its way goes on", Rows.offered("ada", .download), .enter),
        Case("what waits too", Rows.offered("ada", .download, .reading(.hold(.offline))), .enter),
        Case("what is here becomes the default", Rows.here("ada"), .enter, action: .makeDefault(ada)),
        Case("also with an update", Rows.updatable("ada"), .enter, action: .makeDefault(ada)),
        Case("u fetches that", Rows.updatable("ada"), .character("u"), action: .download(ada)),
        Case("u without one", Rows.here("ada"), .character("u")),
        Case("u of what is not here", Rows.offered("ada"), .character("u")),
        Case(
            "what would not run is left alone",
            Rows.row(Rows.model("ada"), .offered(OfferedModel(Rows.model("ada"), objection: tooLarge))), .enter),
        Case("c gives up", Rows.offered("ada", .download), .character("c"), action: .cancel(ada)),
        Case(
            "also what failed", Rows.offered("ada", .download, .failed(Rows.lost)), .character("c"),
            action: .cancel(ada)),
        Case("c without a download", Rows.here("ada"), .character("c")),
        Case("x asks", Rows.here("ada"), .character("x")),
        Case("y deletes", Rows.here("ada"), .character("x"), .character("y"), action: .delete(ada)),
        Case("Y deletes", Rows.here("ada"), .character("x"), .character("Y"), action: .delete(ada)),
        Case("n does not", Rows.here("ada"), .character("x"), .character("n")),
        Case("Enter is no yes", Rows.here("ada"), .character("x"), .enter),
        Case("nor is q", Rows.here("ada"), .character("x"), .character("q")),
        Case("a y without a question", Rows.here("ada"), .character("y")),
        Case("a y after a no", Rows.here("ada"), .character("x"), .character("n"), .character("y")),
        Case("x of what is not here", Rows.offered("ada"), .character("x"), .character("y")),
        Case("b asks", back, .character("b")),
        Case("y goes back", back, .character("b"), .character("y"), action: .rollBack(ada)),
        Case("b, no", back, .character("b"), .character("n")),
        Case("b without a release before", Rows.here("ada"), .character("b"), .character("y")),
        Case("r asks the origins", Rows.here("ada"), .character("r"), action: .refresh),
        Case("q leaves", Rows.here("ada"), .character("q"), action: .leave),
        Case("the end of input too", Rows.here("ada"), .endOfInput, action: .leave),
        Case("Ctrl-C ends", Rows.here("ada"), .interrupt, action: .interrupt),
        Case("Ctrl-C ends a question", Rows.here("ada"), .character("x"), .interrupt, action: .interrupt),
        Case("Ctrl-L draws", Rows.here("ada"), .redraw, action: .redraw),
        Case("Ctrl-Z stops", Rows.here("ada"), .suspend, action: .suspend),
        Case("other letters mean nothing", Rows.here("ada"), .character("é")),
        Case("metered asks", Rows.offered("ada", .download, .failed(Rows.metered)), .enter),
        Case(
            "metered, yes", Rows.offered("ada", .download, .failed(Rows.metered)), .enter, .character("y"),
            action: .downloadMetered(ada)),
        Case("metered, no", Rows.offered("ada", .download, .failed(Rows.metered)), .enter, .character("n")),
        Case(
            "metered, unasked", Rows.offered("ada", .download, .failed(Rows.metered)), .enter, action: .download(ada),
            asks: false),
    ]

    @Test(arguments: cases)
    func doesWhatTheKeySays(_ each: Case) {
        #expect(Self.after(each.keys, in: [each.row], asks: each.asks).1 == each.action)
    }

    @Test(arguments: [Key.enter, .character("x"), .character("c"), .up, .down, .pageDown, .end])
    func anEmptyLibraryHasNothingToDo(_ key: Key) {
        let (control, action) = Self.after([key], in: [])
        #expect(action == nil && control.selection == nil && control.question == nil)
    }

    @Test func theSelectionStaysWithItsModelOrItsPlace() {
        var (control, _) = Self.after([.down, .down], in: Self.rows)
        control.settle(in: [Rows.offered("aaa")] + Self.rows)
        #expect(control.selection?.name == "cyd")
        control.settle(in: [Self.rows[0], Self.rows[1], Self.rows[3]])
        #expect(control.selection?.name == "dan", "the next one has its place")
        control.settle(in: [])
        #expect(control.selection == nil)
        control.settle(in: Self.rows)
        #expect(control.selection?.name == "ada")
    }

    @Test func aQuestionIsAboutItsModelAndGoesWithIt() {
        let rows = [Rows.here("ada"), Rows.here("bob")]
        var (control, _) = Self.after([.character("x")], in: rows)
        #expect(control.prompt(in: rows) == "Delete ada from this device? [y/N]")
        control.settle(in: [rows[1]])
        #expect(control.question == nil && control.prompt(in: [rows[1]]) == nil)
        #expect(control.take(.character("y"), in: [rows[1]], page: 2) == nil, "nobody is deleted in its place")
    }

    @Test func aRefusalOnAMeteredNetworkAsksAtOnce() {
        let rows = [Rows.offered("ada", .download, .failed(Rows.metered))]
        var (control, _) = Self.after([], in: rows)
        control.refusedAsMetered(Rows.family("ada"))
        #expect(control.prompt(in: rows) == "This network is metered. Fetch 98.4 MB of ada now? [y/N]")
        #expect(control.take(.character("y"), in: rows, page: 2) == .downloadMetered(Rows.family("ada")))
        var (unasked, _) = Self.after([], in: rows, asks: false)
        unasked.refusedAsMetered(Rows.family("ada"))
        #expect(unasked.question == nil)
        var (asked, _) = Self.after([.character("x")], in: [Rows.here("bob")] + rows)
        asked.refusedAsMetered(Rows.family("ada"))
        #expect(asked.question == .delete(Rows.family("bob")), "one question at a time")
    }

    @Test func aMessageStandsUntilTheNextKey() {
        var (control, _) = Self.after([], in: Self.rows)
        control.message = "it went wrong"
        #expect(control.prompt(in: Self.rows) == "it went wrong")
        _ = control.take(.down, in: Self.rows, page: 2)
        #expect(control.prompt(in: Self.rows) == nil)
    }
}
