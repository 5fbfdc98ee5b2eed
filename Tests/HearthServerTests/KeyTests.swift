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

    @Test func opensAPrintedAddressOnce() {
        var sessions = PageSessions()
        func redeem(_ code: String, _ seconds: Int) -> PageSessions.Secrets? {
            sessions.redeem(code, at: .seconds(seconds))
        }
        func use(_ cookie: String, _ page: String?, _ seconds: Int) -> PageSessions.Proof {
            sessions.use(cookie, page: page, at: .seconds(seconds))
        }
        let code = sessions.makeCode(at: .zero)
        let late = sessions.makeCode(at: .zero)
        #expect(sessions.isKnown(code, at: .seconds(10)) && !sessions.isKnown(late, at: .seconds(3601)))
        guard let first = redeem(code, 10) else {
            Issue.record("the code is known")
            return
        }
        #expect(!sessions.isKnown(code, at: .seconds(10)))
        #expect(redeem(code, 10) == nil)
        #expect(redeem(late, 3601) == nil)
        #expect(redeem("", 0) == nil)
        #expect(first.cookie != first.page)
        #expect(use(first.cookie, first.page, 20) == .whole)
        #expect(use(first.cookie, nil, 20) == .cookie)
        #expect(use(first.cookie, "", 20) == .cookie)
        #expect(use(first.cookie, first.cookie, 20) == .cookie)
        #expect(use(first.page, first.cookie, 20) == .none)
        #expect(use("other", first.page, 20) == .none)
        // The secret of one session is worth nothing with the cookie of another.
        let second = redeem(sessions.makeCode(at: .seconds(20)), 20)
        #expect(use(first.cookie, second?.page, 20) == .cookie)
        // A cookie alone does not prolong a session; the whole session does.
        let month = 30 * 24 * 3600
        #expect(use(first.cookie, nil, month) == .cookie)
        #expect(use(first.cookie, first.page, month + 19) == .whole)
        #expect(use(first.cookie, first.page, 2 * month) == .whole)
        #expect(use(second?.cookie ?? "", second?.page, month + 21) == .none)
        #expect(use(first.cookie, first.page, 4 * month) == .none)
        let another = sessions.makeCode(at: .zero)
        let spent = [another, another, code].map { sessions.spend($0, at: .seconds(3599)) }
        #expect(spent == [true, false, false])
    }
}
