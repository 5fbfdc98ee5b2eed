import Foundation
import HearthBase
import HearthHTTP

/// The remotes of rclone's configuration file and environment, and the `AWS_*` variables.
///
/// A value in `RCLONE_CONFIG_<REMOTE>_<OPTION>` takes precedence over the file. Without a remote named `s3`, that name
/// stands for the `AWS_*` variables.
package struct RemoteSettings: Sendable {
    /// The options of each remote in the file.
    private var sections: [String: [String: String]] = [:]
    private let environment: [String: String]
    /// The file that was read, for messages.
    private let file: Path?

    /// The most bytes of a configuration file.
    static let maximumSize = 1 << 20

    /// Reads the configuration that rclone would read. Blocks.
    /// - Throws: ``PublishingError`` with `remote-unusable` for an encrypted file; `FileError`.
    package static func load(
        environment: [String: String], fileSystem: any FileSystem = LocalFileSystem()
    ) throws -> Self {
        let path = try Self.files(environment).first { try fileSystem.status(at: $0) != nil }
        guard let path else { return try Self(text: "", environment: environment, file: nil) }
        let data = try fileSystem.contents(ofFile: path, limit: maximumSize)
        return try Self(text: String(decoding: data, as: UTF8.self), environment: environment, file: path)
    }

    /// The places of the file, in rclone's order.
    private static func files(_ environment: [String: String]) -> [Path] {
        if let named = environment["RCLONE_CONFIG"], !named.isEmpty { return [Path(named)] }
        let home = environment["HOME"].map { Path($0) }
        let folder = environment["XDG_CONFIG_HOME"].flatMap { $0.isEmpty ? nil : Path($0) }
        return [folder ?? home?.appending(".config"), home?.appending(".config")].compactMap { folder in
            folder?.appending("rclone").appending("rclone.conf")
        } + [home?.appending(".rclone.conf")].compactMap(\.self)
    }

    /// Reads the text of a configuration file.
    init(text: String, environment: [String: String], file: Path?) throws {
        self.environment = environment
        self.file = file
        var section: String?
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("RCLONE_ENCRYPT_V0:") {
                throw PublishingError(
                    .remoteUnusable, "rclone's configuration \(file?.string ?? "") is encrypted",
                    context: ErrorContext(
                        file: file?.string,
                        remedy: "Give the remote in variables such as RCLONE_CONFIG_R2_ACCESS_KEY_ID, or in AWS_*."))
            }
            if line.hasPrefix("["), line.hasSuffix("]") {
                section = String(line.dropFirst().dropLast())
            } else if let name = section, !line.hasPrefix("#"), !line.hasPrefix(";"),
                let mark = line.firstIndex(of: "=")
            {
                let value = line[line.index(after: mark)...].trimmingCharacters(in: .whitespaces)
                sections[name, default: [:]][line[..<mark].trimmingCharacters(in: .whitespaces).lowercased()] = value
            }
        }
    }

    /// The names of the configured remotes.
    package var remotes: [String] {
        let named = environment.keys.compactMap { key -> String? in
            guard key.hasPrefix("RCLONE_CONFIG_"), key.hasSuffix("_TYPE") else { return nil }
            return String(key.dropFirst(14).dropLast(5)).lowercased()
        }
        return Set(Array(sections.keys) + named).sorted()
    }

    private func option(_ name: String, of remote: String) -> String? {
        let variable = "RCLONE_CONFIG_\(remote)_\(name)".uppercased()
        let plain = variable.replacingOccurrences(of: "-", with: "_")
        return [environment[variable], environment[plain], sections[remote]?[name]].compactMap(\.self)
            .first { !$0.isEmpty }
    }

    private func variable(_ names: String...) -> String? {
        names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
    }

    /// The server and key of a remote.
    /// - Throws: ``PublishingError`` with `remote-unknown` or `remote-unusable`.
    package func access(to remote: String) throws -> BucketAccess {
        let kind = option("type", of: remote)
        guard kind != nil || remote == "s3" else { throw unknown(remote) }
        guard kind == nil || kind == "s3" else {
            throw unusable(remote, "is of the kind \(kind ?? ""), and not s3", "Choose a remote of the type s3.")
        }
        let usesVariables = kind == nil || option("env_auth", of: remote) == "true"
        func setting(_ name: String, _ variables: String...) -> String? {
            option(name, of: remote) ?? (usesVariables ? variables.lazy.compactMap { variable($0) }.first : nil)
        }
        guard let accessKey = setting("access_key_id", "AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY"),
            let secret = setting("secret_access_key", "AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY")
        else {
            throw unusable(
                remote, "has no key",
                kind == nil
                    ? "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
                    : "Set access_key_id and secret_access_key with `rclone config`.")
        }
        let token = setting("session_token", "AWS_SESSION_TOKEN")
        guard accessKey.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "/") }),
            let secretKey = Secret(secret), token == nil || token.flatMap(Secret.init) != nil
        else { throw unusable(remote, "has a key that no request can carry", "Copy the key again.") }
        let region = setting("region", "AWS_REGION", "AWS_DEFAULT_REGION")
        let provider = option("provider", of: remote)
        let address = setting("endpoint", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
        return BucketAccess(
            endpoint: try endpoint(address, region: region, provider: provider, of: remote),
            region: region ?? (provider == "Cloudflare" ? "auto" : "us-east-1"), accessKey: accessKey,
            secretKey: secretKey, sessionToken: token.flatMap(Secret.init))
    }

    private func endpoint(_ text: String?, region: String?, provider: String?, of remote: String) throws -> URL {
        let isAmazon = provider == nil || provider == "AWS"
        guard let text = text ?? (isAmazon ? "s3.\(region ?? "us-east-1").amazonaws.com" : nil) else {
            throw unusable(remote, "has no endpoint", "Set the endpoint that your provider names.")
        }
        let whole = text.contains("://") ? text : "https://\(text)"
        guard let url = URL(address: whole), url.host() != nil, ["", "/"].contains(url.path(percentEncoded: true)),
            url.query() == nil,
            url.scheme == "https" || (url.scheme == "http" && url.isLoopback)
        else {
            throw unusable(
                remote, "has the endpoint \(text.quoted), which cannot be used",
                "It is an https address without a path; http is for this machine only.")
        }
        return url
    }

    private func unknown(_ remote: String) -> PublishingError {
        let names = remotes.joined(separator: ", ")
        return PublishingError(
            .remoteUnknown, "no remote named \(remote.quoted) is configured",
            context: ErrorContext(
                file: file?.string, field: "to", expected: names.isEmpty ? nil : "one of \(names)", found: remote,
                remedy: names.isEmpty
                    ? "Make one with `rclone config`, or set AWS_ACCESS_KEY_ID and its like and write s3:bucket."
                    : "Configured are \(names)."), disposition: .usage)
    }

    private func unusable(_ remote: String, _ problem: String, _ remedy: String) -> PublishingError {
        PublishingError(
            .remoteUnusable, "the remote \(remote.quoted) \(problem)",
            context: ErrorContext(file: file?.string, field: "to", remedy: remedy))
    }
}
