import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthServer

/// Keys, the limits of a caller, codes and sessions.
struct KeyTests {
    @Test func keepsKeysAsDigests() async throws {
        let home = try TemporaryFolder()
        let text = try await AccessKeys.change(home: home.path) {
            try $0.create("laptop", scopes: [.chat, .models], at: Date(timeIntervalSince1970: 1000))
        }
        var keys = try AccessKeys.load(home: home.path)
        let file = AccessKeys.path(home: home.path)
        let written = String(decoding: try LocalFileSystem().contents(ofFile: file, limit: 1 << 16), as: UTF8.self)
        #expect(!written.contains(text.suffix(64)))
        let mode = try FileManager.default.attributesOfItem(atPath: file.string)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(keys.key(text)?.name == "laptop")
        try home.write("server/keys.json", Data(#"{"format":2,"keys":[]}"#.utf8))
        #expect(throws: ServerError.self) { try AccessKeys.load(home: home.path) }
        let twice = Result { try keys.create("laptop", scopes: [], at: Date()) }
        let error = #expect(throws: ServerError.self) { try twice.get() }
        #expect(error?.code == .keyExists && error?.context.found == keys.keys.first?.id)
        var rest = keys
        let revoked = try rest.revoke("laptop")
        #expect(revoked == keys.keys.first?.id && rest.keys.isEmpty)
        let absent = Result { try keys.revoke("absent") }
        #expect(throws: ServerError.self) { try absent.get() }
        for number in 0..<255 { _ = try keys.create("k\(number)", scopes: [], at: Date()) }
        let another = Result { try keys.create("k", scopes: [], at: Date()) }
        #expect(throws: ServerError.self) { try another.get() }
    }

    @Test func keysAtOnceAreAllKept() async throws {
        let home = try TemporaryFolder()
        let file = try KeyFile(home: home.path)
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let text = try await AccessKeys.change(home: home.path) {
                        try $0.create("k\(number)", scopes: [.chat], at: Date())
                    }
                    // A server that runs accepts the key before the command prints it.
                    #expect(file.current.key(text)?.name == "k\(number)")
                    return text
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let keys = try AccessKeys.load(home: home.path)
        #expect(texts.allSatisfy { keys.key($0) != nil } && keys.keys.count == 20)
        let first = keys.keys[0].id
        try await AccessKeys.change(home: home.path) { try $0.revoke(first) }
        #expect(texts.filter { file.current.key($0) == nil }.count == 1)
        // A damaged file leaves the keys before.
        try home.write("server/keys.json", Data("{".utf8))
        #expect(texts.filter { file.current.key($0) == nil }.count == 1)
    }

    @Test func findsNoKeyForOtherTexts() throws {
        var keys = AccessKeys()
        let texts = try (0..<20).map { try keys.create("\($0)", scopes: [.chat], at: Date()) }
        for (index, text) in texts.enumerated() { #expect(keys.key(text) == keys.keys[index]) }
        #expect((0..<5000).allSatisfy { keys.key("sk-\($0)") == nil })
    }

    @Test func boundsEachCaller() {
        var bounds = CallerLimits.Bounds()
        bounds.atOnce = 2
        bounds.perMinute = 60
        bounds.burst = 4
        var limits = CallerLimits(bounds)
        func begin(_ caller: String, _ seconds: Int = 0) -> Int? { limits.begin(caller, at: .seconds(seconds)) }
        #expect(begin("a") == nil)
        #expect(begin("a") == nil)
        #expect(begin("a") == 1)
        #expect(begin("b") == nil)
        limits.end("a")
        limits.end("a")
        #expect(begin("a") == nil)
        #expect(begin("a") == nil)
        limits.end("a")
        limits.end("a")
        #expect(begin("a") == 1)
        #expect(begin("a", 1) == nil)
    }

    @Test func aCodeWorksOnceAndForAWhile() throws {
        var codes = OneTimeCodes()
        func outcome(_ body: () throws -> Void) -> String {
            do {
                try body()
                return "good"
            } catch {
                return "\(error)"
            }
        }
        let (code, late, shown) = (codes.make(at: .zero), codes.make(at: .zero), codes.make(.displayed, at: .zero))
        #expect(code.wholeMatch(of: /[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}/) != nil)
        #expect(outcome { try codes.check(code, at: .seconds(10)) } == "good")
        // A displayed code confirms nothing, and is left as it is.
        #expect(outcome { try codes.spend(shown, isPrinted: true, at: .zero) } == "wrong")
        #expect(outcome { try codes.check(shown, at: .seconds(599)) } == "good")
        #expect(outcome { try codes.spend(shown, at: .seconds(600)) } == "old")
        #expect(outcome { try codes.spend(code, isPrinted: true, at: .seconds(10)) } == "good")
        #expect(outcome { try codes.spend(code, at: .seconds(10)) } == "used")
        #expect(outcome { try codes.check(code, at: .seconds(10)) } == "used")
        #expect(outcome { try codes.spend(late, at: .seconds(3600)) } == "old")
        for text in ["", "0", code + "0", String(repeating: "0", count: 32), "code=", "\u{0}"] {
            #expect(outcome { try codes.spend(text, at: .seconds(10)) } == "wrong", "\(text)")
        }
    }

    @Test(
        arguments: [
            ("7KQM-4T2X", "7KQM4T2X"), ("7kqm4t2x", "7KQM4T2X"), (" 7kqm 4t2x \n", "7KQM4T2X"),
            ("http://192.168.1.5:4327/hearth/open?code=7KQM-4T2X", "7KQM4T2X"),
            ("https://box.local/hearth/open?code=7KQM-4T2X&x=1", "7KQM4T2X"), ("oil-OIL", "011011"), ("", ""),
        ])
    func readsWhatPeopleTypeAsACode(text: String, code: String) {
        #expect(OneTimeCodes.normalised(text) == code)
    }

    @Test func codesStayFewAndTheOldestEnds() throws {
        var codes = OneTimeCodes()
        let made = (0..<65).map { codes.make(at: .seconds($0)) }
        #expect(throws: OneTimeCodes.Refusal.old) { try codes.check(made[0], at: .seconds(65)) }
        try codes.check(made[1], at: .seconds(65))
        try codes.check(made[64], at: .seconds(65))
    }

    @Test func triesOfCodesAreBounded() {
        var attempts = CodeAttempts()
        func wait(_ caller: String, _ seconds: Int = 0) -> Int? { attempts.wait(caller, at: .seconds(seconds)) }
        for _ in 0..<10 {
            #expect(wait("a") == nil)
            attempts.failed("a", at: .zero)
        }
        #expect(wait("a") == 6)
        #expect(wait("b") == nil)
        // Many callers together are slowed as well, by less than a second, so that the owner gets in.
        for caller in 0..<90 { attempts.failed("caller \(caller)", at: .zero) }
        #expect(wait("b") == 1)
        #expect(wait("a", 6) == nil)
        for caller in 0..<60 { attempts.failed("other \(caller)", at: .seconds(6)) }
        #expect(wait("b", 6) == 1)
        // A clock that is set back grants nothing at once, and makes no caller wait for the old time.
        #expect(wait("b", 2) == 1)
        #expect(wait("b", 3) == nil)
    }

    @Test func sessionsHaveTwoSecrets() {
        var sessions = PageSessions()
        func use(_ cookie: String, _ page: String?, _ seconds: Int) -> PageSessions.Proof {
            sessions.use(cookie, page: page, at: .seconds(seconds))
        }
        let first = sessions.begin(agent: "Phone\u{7}\u{0} 1.0", at: .seconds(10))
        #expect(first.cookie != first.page)
        #expect(use(first.cookie, first.page, 20) == .whole)
        #expect(use(first.cookie, nil, 20) == .cookie)
        #expect(use(first.cookie, "", 20) == .cookie)
        #expect(use(first.cookie, first.cookie, 20) == .cookie)
        #expect(use(first.page, first.cookie, 20) == .none)
        #expect(use("other", first.page, 20) == .none)
        // The secret of one session is worth nothing with the cookie of another.
        let second = sessions.begin(agent: String(repeating: "é", count: 1000), at: .seconds(20))
        #expect(use(first.cookie, second.page, 20) == .cookie)
        let kept = sessions.kept(at: .seconds(20)).values
        #expect(Set(kept.map(\.agent)) == ["Phone 1.0", String(repeating: "é", count: 150)])
        #expect(Set(kept.map(\.seen)) == [.seconds(20)])
        // A cookie alone does not prolong a session; the whole session does.
        let month = 30 * 24 * 3600
        #expect(use(first.cookie, nil, month) == .cookie)
        #expect(use(first.cookie, first.page, month + 19) == .whole)
        #expect(use(first.cookie, first.page, 2 * month) == .whole)
        #expect(use(second.cookie, second.page, month + 21) == .none)
        #expect(use(first.cookie, first.page, 4 * month) == .none)
    }

    @Test func aSessionEndsByItsID() throws {
        var sessions = PageSessions()
        let (first, second) = (sessions.begin(at: .zero), sessions.begin(at: .zero))
        let id = try #require(sessions.id(of: first.cookie, at: .zero))
        #expect(sessions.id(of: first.page, at: .zero) == nil)
        let ends = ["", "0", id, id].map { sessions.end($0) }
        #expect(ends == [false, false, true, false])
        let proofs = [first, second].map { sessions.use($0.cookie, page: $0.page, at: .zero) }
        #expect(proofs == [.none, .whole])
    }
}
