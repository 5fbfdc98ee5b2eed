import Foundation
import HearthBase
import HearthHTTP

/// A model of an OCI registry: `oci://host/repository[:tag][@sha256:…]`.
///
/// `docker.io` is Docker Hub, whose registry has another host. Without tag and digest, the tag is `latest`.
public struct RegistryReference: Sendable, Hashable, CustomStringConvertible {
    /// The registry's host in lower case, with the port if one was given.
    public let host: String
    /// The names of the repository, joined by `/`.
    public let repository: String
    /// The tag; `nil` if only a digest was given.
    package let tag: String?
    /// The SHA-256 of the manifest; `nil` for the one that has the tag now.
    package let digest: SHA256Digest?
    /// The family of the releases, if their publisher named it.
    package private(set) var alias: Family?

    /// The beginning of such a reference.
    package static let scheme = "oci://"
    private static let defaultTag = "latest"
    private static let dockerHub = "docker.io"
    /// Names of Docker Hub that people write.
    private static let dockerHubNames: Set<String> = [dockerHub, "index.docker.io", "registry-1.docker.io"]

    /// A reference of the given parts, `nil` if one of them is not allowed (OCI distribution specification, "Pulling
    /// manifests").
    package init?(host: String, repository: String, tag: String? = nil, digest: SHA256Digest? = nil) {
        let host = host.lowercased()
        guard Self.isHost(host), Self.isRepository(repository), tag.map(Self.isTag) ?? true else { return nil }
        let isDockerHub = Self.dockerHubNames.contains(host)
        self.host = isDockerHub ? Self.dockerHub : host
        self.repository = isDockerHub && !repository.contains("/") ? "library/\(repository)" : repository
        self.tag = tag ?? (digest == nil ? Self.defaultTag : nil)
        self.digest = digest
    }

    /// Reads the text after `oci://`; `nil` if a part is missing or not allowed.
    init?(afterScheme text: Substring) {
        var rest = text
        var digest: SHA256Digest?
        if let mark = rest.firstIndex(of: "@") {
            guard let named = SHA256Digest(tagged: rest[rest.index(after: mark)...]) else { return nil }
            digest = named
            rest = rest[..<mark]
        }
        guard let slash = rest.firstIndex(of: "/") else { return nil }
        let host = rest[..<slash]
        var names = rest[rest.index(after: slash)...]
        var tag: String?
        if let mark = names.firstIndex(of: ":") {
            tag = String(names[names.index(after: mark)...])
            names = names[..<mark]
        }
        self.init(host: String(host), repository: String(names), tag: tag, digest: digest)
    }

    /// The same model as a release of a family that its publisher named.
    package func named(_ family: Family?) -> Self {
        var other = self
        other.alias = family
        return other
    }

    /// The same tag with the manifest of a digest.
    package func at(_ digest: SHA256Digest) -> Self {
        // The parts are those of a reference already.
        (Self(host: host, repository: repository, tag: tag, digest: digest) ?? self).named(alias)
    }

    /// The name or digest by which a registry is asked for the manifest.
    package var manifestName: String { digest.map(\.tagged) ?? tag ?? Self.defaultTag }

    /// The address below which the registry's API is: `http` for this machine, else `https`.
    package var base: URL? {
        let server = host == Self.dockerHub ? "registry-1.docker.io" : host
        guard let secure = URL(address: "https://\(server)") else { return nil }
        return secure.isLoopback ? URL(address: "http://\(server)") : secure
    }

    /// `host/repository`.
    public var path: String { "\(host)/\(repository)" }

    public var description: String {
        Self.scheme + path + (tag.map { ":\($0)" } ?? "") + (digest.map { "@\($0.tagged)" } ?? "")
    }

    // MARK: - Rules of the specification

    private static func isHost(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, (1...253).contains(parts[0].utf8.count), let first = parts[0].utf8.first,
            first.isLowerCaseAlphanumeric,
            parts[0].utf8.allSatisfy({ $0.isLowerCaseAlphanumeric || ".-".utf8.contains($0) }),
            !parts[0].contains("..")
        else { return false }
        return parts.count == 1 || UInt16(parts[1]).map { $0 > 0 && "\($0)" == parts[1] } ?? false
    }

    private static func isRepository(_ text: String) -> Bool {
        guard (1...255).contains(text.utf8.count) else { return false }
        return text.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { name in
            name.wholeMatch(of: /[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*/) != nil
        }
    }

    private static func isTag(_ text: String) -> Bool {
        text.wholeMatch(of: /[A-Za-z0-9_][A-Za-z0-9._-]{0,127}/) != nil
    }
}

extension SHA256Digest {
    /// Reads `sha256:` and 64 digits; `nil` for any other text.
    package init?(tagged text: some StringProtocol) {
        guard text.hasPrefix("sha256:"), text.utf8.dropFirst(7).allSatisfy(\.isLowerCaseHexadecimal) else { return nil }
        self.init(hex: text.dropFirst(7))
    }

    /// `sha256:` and the digits, as registries write it.
    package var tagged: String { "sha256:\(hex)" }
}
