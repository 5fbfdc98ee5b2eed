import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog

@Suite(.timeLimit(.minutes(2))) struct RegistryCredentialsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The log-ins of a folder with this file and these helpers, shell scripts by the ends of their names.
    private func credentials(_ config: String?, helpers: [String: String] = [:]) throws -> RegistryCredentials {
        if let config { try Data(config.utf8).write(to: folder.path("config.json").url) }
        for (name, script) in helpers {
            let path = folder.path("docker-credential-\(name)")
            try Data("#!/bin/sh\n\(script)\n".utf8).write(to: path.url)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path.string)
        }
        var credentials = RegistryCredentials(
            environment: ["DOCKER_CONFIG": folder.path.string, "PATH": "\(folder.path.string):/usr/bin:/bin"])
        credentials.helperLimit = .milliseconds(500)
        return credentials
    }

    private func pair(_ text: String) throws -> RegistryCredentials.Login {
        .password(try #require(Secret(Data(text.utf8).base64EncodedString())))
    }

    @Test func aHostHasItsOwnLogIn() throws {
        let found = try credentials(
            #"""
            {"auths": {"https://a.example/v2/": {"auth": "dTpw"}, "b.example:5000": {"auth": "dTpxOnI="},
                       "https://index.docker.io/v1/": {"auth": "ZDpk"}, "c.example/part": {"auth": "dTpw"},
                       "d.example": {}, "e.example": {"auth": "!"}, "f.example": {"identitytoken": "refresh"}}}
            """#)
        #expect(try found.login(for: "a.example").login == pair("u:p"))
        #expect(try found.login(for: "b.example:5000").login == pair("u:q:r"))
        #expect(try found.login(for: "registry-1.docker.io").login == pair("d:d"))
        #expect(try found.login(for: "f.example").login == .refreshToken(#require(Secret("refresh"))))
        for host in ["b.example", "c.example", "d.example", "e.example", "a.example.evil"] {
            #expect(try found.login(for: host) == .init(), "\(host)")
        }
    }

    @Test func noFileIsNoLogIn() throws {
        #expect(try credentials(nil).login(for: "a.example") == .init())
        #expect(try RegistryCredentials(environment: [:]).login(for: "a.example") == .init())
    }

    @Test(arguments: ["", "[", "[]", #"{"auths": []}"#, #"{"credHelpers": {"a.example": 3}, "credsStore": {}}"#])
    func aBrokenFileIsNoLogIn(_ text: String) throws {
        #expect(try credentials(text).login(for: "a.example").login == nil)
    }

    @Test func helpersAreAsked() throws {
        let script = #"read -r host; printf '{"ServerURL": "%s", "Username": "%s", "Secret": "s"}' "$host" "$1""#
        let found = try credentials(
            #"""
            {"auths": {"b.example": {"auth": "dTpw"}}, "credHelpers": {"a.example": "one"}, "credsStore": "two"}
            """#,
            helpers: [
                "one": script, "two": #"printf '{"Username": "<token>", "Secret": "refresh"}'"#,
            ])
        #expect(try found.login(for: "a.example").login == pair("get:s"))
        #expect(try found.login(for: "b.example").login == pair("u:p"))
        #expect(try found.login(for: "c.example").login == .refreshToken(#require(Secret("refresh"))))
    }

    @Test(
        arguments: [
            "sleep 60", "exec >&-; sleep 60", "exec 0<&-; yes", "printf rubbish", "printf '{}'", "exit 3",
            #"printf '{"Username": "u", "Secret": ""}'"#, #"printf '{"Username": "a:b", "Secret": "s"}'"#,
        ])
    func aBrokenHelperIsTold(_ script: String) throws {
        let found = try credentials(#"{"credsStore": "bad"}"#, helpers: ["bad": script]).login(for: "a.example")
        #expect(found.login == nil)
        #expect(found.problem != nil)
    }

    @Test func aHelperWithoutALogInIsNoProblem() throws {
        let found = try credentials(
            #"{"credsStore": "none"}"#, helpers: ["none": "echo 'credentials not found in native keychain'; exit 1"])
        #expect(try found.login(for: "a.example") == .init())
    }

    @Test(arguments: ["missing", "../../bin/sh", "a b", "", "a/b"])
    func aHelperThatCannotBeIsTold(_ name: String) throws {
        let text = #"{"credHelpers": {"a.example": "\#(name)"}}"#
        let found = try credentials(text).login(for: "a.example")
        #expect(found.login == nil)
        #expect(found.problem != nil)
    }

    @Test func aCancelledQuestionEndsItsHelper() async throws {
        let started = folder.path("started")
        var slow = try credentials(
            #"{"credsStore": "slow"}"#, helpers: ["slow": "touch '\(started)'; sleep 60"])
        slow.helperLimit = .seconds(60)
        let asking = Task { [slow] in try await StopFlag.blocking { try slow.login(for: "a.example", flag: $0) } }
        while try LocalFileSystem().status(at: started) == nil { await Task.yield() }
        asking.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
    }
}
