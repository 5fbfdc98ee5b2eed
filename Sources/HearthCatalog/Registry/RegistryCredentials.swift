import Foundation
import HearthBase
import HearthHTTP

/// The log-ins that container tools keep: `config.json` in `$DOCKER_CONFIG`, else in `~/.docker`, and the helper programs that
/// it names.
///
/// ```
/// {"auths": {"registry.example.org": {"auth": "base64 of name:password"}},
///  "credHelpers": {"other.example.org": "pass"},      docker-credential-pass
///  "credsStore": "secretservice"}                     for all others
/// ```
/// The file is read whenever a registry asks, so that a new log-in counts at once.
package struct RegistryCredentials: Sendable {
    /// What a registry or its token server is told.
    enum Login: Sendable, Hashable {
        /// `name:password` in base64.
        case password(Secret)
        /// A refresh token of OAuth 2, for which the token server gives out others.
        case refreshToken(Secret)
    }

    /// A log-in, or why a configured one cannot be used.
    struct Found: Sendable, Hashable {
        var login: Login?
        var problem: String?
    }

    /// `nil` if there is no folder.
    private let file: Path?
    private let environment: [String: String]
    private let fileSystem: any FileSystem
    /// The longest wait for a helper.
    package var helperLimit = Duration.seconds(30)

    private static let maximumFileSize = 1 << 20
    private static let maximumAnswer = 64 << 10
    /// The name under which helpers and files keep Docker Hub's log-in.
    private static let dockerHubKey = "https://index.docker.io/v1/"
    private static let dockerHubNames: Set<String> = ["docker.io", "index.docker.io", "registry-1.docker.io"]

    /// The log-ins of an environment: `DOCKER_CONFIG`, else `HOME`; helpers are looked for in `PATH`. None without these.
    package init(environment: [String: String], fileSystem: any FileSystem = LocalFileSystem()) {
        self.environment = environment
        self.fileSystem = fileSystem
        let folder =
            environment["DOCKER_CONFIG"].flatMap { $0.isEmpty ? nil : Path($0) }
            ?? environment["HOME"].flatMap { $0.isEmpty ? nil : Path($0).appending(".docker") }
        file = folder?.appending("config.json")
    }

    /// The log-in for a registry. Blocks.
    /// - Parameter host: `host` or `host:port`.
    /// - Throws: `CancellationError`.
    func login(for host: String, flag: StopFlag? = nil) throws -> Found {
        guard let file else { return Found() }
        let settings: JSONValue
        do {
            guard try fileSystem.status(at: file) != nil else { return Found() }
            settings = try JSONValue(parsing: fileSystem.contents(ofFile: file, limit: Self.maximumFileSize))
        } catch {
            return Found(problem: "\(file) cannot be read: \(error)")
        }
        func entry(_ section: String) -> JSONValue? { Self.entry(of: host, in: settings[section]?.members) }
        if let helper = entry("credHelpers")?.string { return try ask(helper, about: host, flag) }
        if let login = entry("auths").flatMap(Self.login) { return Found(login: login) }
        if let helper = settings["credsStore"]?.string, !helper.isEmpty {
            return try ask(helper, about: host, flag)
        }
        return Found()
    }

    /// The entry of a host: under its name, or under an address of it. An entry for a part of a registry is for no other part,
    /// and is left out.
    private static func entry(of host: String, in members: JSONMembers?) -> JSONValue? {
        guard let members else { return nil }
        let names = dockerHubNames.contains(host) ? dockerHubNames : [host]
        let key = members.keys.first { key in
            var text = key.lowercased()[...]
            for scheme in ["https://", "http://"] where text.hasPrefix(scheme) { text = text.dropFirst(scheme.count) }
            let parts = text.split(separator: "/")
            return parts.first.map { names.contains(String($0)) } == true
                && (parts.count == 1 || parts.count == 2 && ["v1", "v2"].contains(parts[1]))
        }
        return key.flatMap { members[$0] }
    }

    /// The log-in of an entry of `auths`; `nil` for the empty entry that stands for a helper's.
    private static func login(_ entry: JSONValue) -> Login? {
        if let token = entry["identitytoken"]?.string.flatMap({ Secret($0) }) { return .refreshToken(token) }
        guard let encoded = entry["auth"]?.string, let bytes = Data(base64Encoded: encoded) else { return nil }
        let pair = String(decoding: bytes, as: UTF8.self).split(
            separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard pair.count == 2 else { return nil }
        // Old files end the password with zero bytes.
        return login(user: String(pair[0]), secret: pair[1].trimmingCharacters(in: ["\0"]))
    }

    private static func login(user: String, secret: String) -> Login? {
        // Helpers name no user for a refresh token.
        if user == "<token>" { return Secret(secret).map { .refreshToken($0) } }
        guard !user.isEmpty, !user.contains(":"), !secret.isEmpty else { return nil }
        return Secret(Data("\(user):\(secret)".utf8).base64EncodedString()).map { .password($0) }
    }

    /// Asks a helper program: `docker-credential-NAME get`, the registry on its input, JSON on its output.
    private func ask(_ name: String, about host: String, _ flag: StopFlag?) throws -> Found {
        func failed(_ why: String) -> Found { Found(problem: "docker-credential-\(name) \(why)") }
        guard (1...64).contains(name.utf8.count),
            name.utf8.allSatisfy({ $0.isAlphanumeric || "._-".utf8.contains($0) })
        else { return Found(problem: "\(name.quoted) cannot be the name of a credential helper") }
        var program = AnsweringProgram(
            ["docker-credential-\(name)", "get"], environment: environment, limit: helperLimit,
            maximumOutput: Self.maximumAnswer)
        program.showsMessages = false
        let answer: AnsweringProgram.Answer
        do {
            let key = Self.dockerHubNames.contains(host) ? Self.dockerHubKey : host
            answer = try program.answer(to: Data(key.utf8), flag: flag)
        } catch AnsweringProgram.Failure.noAnswer {
            return failed("gave no answer within \(helperLimit.components.seconds) s")
        } catch is AnsweringProgram.Failure {
            return failed("cannot be run")
        }
        let text = String(decoding: answer.output, as: UTF8.self)
        guard answer.status == 0 else {
            // The words of the protocol for a registry without a log-in.
            if text.contains("credentials not found") { return Found() }
            return failed(answer.status == 127 ? "is not on this machine" : "failed with status \(answer.status)")
        }
        // An answer that is no JSON is told as one without a log-in.
        guard let facts = try? JSONValue(parsing: text), let secret = facts["Secret"]?.string,
            let login = Self.login(user: facts["Username"]?.string ?? "", secret: secret)
        else { return failed("gave an answer that is no log-in") }
        return Found(login: login)
    }
}
