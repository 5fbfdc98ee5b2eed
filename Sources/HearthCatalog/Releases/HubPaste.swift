import Foundation
import HearthBase

/// A repository of the Hub as people copy it: an address of its page with or without scheme, or `organization/name`.
///
/// ```
/// hf.co/org/repo:Q4_K_M                       what other programs write
/// https://huggingface.co/org/repo/blob/main/model-Q4_K_M.gguf?download=true
/// huggingface.co/org/repo/tree/main/Q8_0      a folder
/// org/repo@v1:Q8_0                            as after hf:
/// ```
/// The host of such an address is not asked: the repository is asked at the configured hub. Only the Hub's own hosts are
/// taken for it; hosts that look alike are refused.
struct HubPaste: Sendable {
    /// The repository; `nil` if the text is meant for the Hub, but names no repository of models.
    let reference: HubReference?
    /// Why there is no reference.
    let problem: String

    private static let hosts: Set<String> = ["hf.co", "www.hf.co", "huggingface.co", "www.huggingface.co"]
    /// The first names of addresses that are not repositories of models.
    private static let sections: Set<String> = [
        "datasets", "spaces", "docs", "papers", "collections", "models", "organizations", "settings", "blog", "learn",
        "tasks", "pricing", "join", "login", "api", "posts", "chat",
    ]

    /// Recognizes a text that is meant for the Hub; `nil` for any other text.
    init?(_ text: String) throws(CatalogError) {
        if let path = try Self.path(text) {
            self.init(path: path)
        } else if let short = Self.short(text) {
            self.init(reference: short)
        } else {
            return nil
        }
    }

    private init(reference: HubReference?) {
        self.reference = reference
        problem = "it is an address of the Hub, but not that of a repository of models"
    }

    // MARK: - Addresses

    /// The part of an address of the Hub after the host; `nil` for other texts.
    /// - Throws: `bad-reference` for an address that only looks like one of the Hub.
    private static func path(_ text: String) throws(CatalogError) -> Substring? {
        let lower = text.lowercased()
        var rest = text[...]
        var hasScheme = false
        for scheme in ["https://", "http://"] where lower.hasPrefix(scheme) {
            rest = rest.dropFirst(scheme.count)
            hasScheme = true
        }
        let authority = rest.prefix { !"/?#\\".contains($0) }
        var host = authority.lowercased()
        if hasScheme {
            for port in [":443", ":80"] where host.hasSuffix(port) { host.removeLast(port.count) }
        }
        if hosts.contains(host) { return rest.dropFirst(authority.count) }
        guard !looksAlike(host) else {
            throw CatalogError(
                .badReference, "\(text.quoted) names no model: its host is not the Hub's",
                context: ErrorContext(
                    expected: "huggingface.co or hf.co", found: String(authority).quoted,
                    remedy: "Write organization/name for a repository of the Hugging Face Hub."))
        }
        return nil
    }

    /// Whether a host begins like one of the Hub: `huggingface.co.evil.example`, `hf.co@evil.example`.
    private static func looksAlike(_ host: String) -> Bool {
        hosts.contains { known in
            guard host.hasPrefix(known), let next = host.dropFirst(known.count).first else { return false }
            return ".@:".contains(next) || !next.isASCII
        }
    }

    private init(path: Substring) {
        let query = path.firstIndex { "?#".contains($0) } ?? path.endIndex
        var names: [String] = []
        for part in path[..<query].split(separator: "/") {
            names.append(part.removingPercentEncoding ?? String(part))
        }
        guard names.count >= 2, !Self.sections.contains(names[0].lowercased()) else {
            self.init(reference: nil)
            return
        }
        let file = Self.shownFile(path[query...])
        if names.count == 2, file == nil {
            let joined = names.joined(separator: "/")
            self.init(reference: Self.named(joined[...]) ?? Self.latest(joined))
            return
        }
        var rest = Array(names.dropFirst(2))
        guard rest.count > 1, ["blob", "resolve", "raw", "tree", "commit"].contains(rest[0]) else {
            // Discussions, settings and other pages of the repository.
            self.init(reference: HubReference(organization: names[0], repository: names[1], file: file))
            return
        }
        let isFolder = rest[0] == "tree"
        // A pull request's revision has slashes, which pages write as they are.
        let length = rest[1] == "refs" && rest.count >= 4 ? 3 : 1
        let revision = rest[1...length].joined(separator: "/")
        rest.removeFirst(1 + length)
        let inside = rest.joined(separator: "/")
        let wanted = inside.isEmpty ? nil : isFolder ? inside + "/" : inside
        self.init(
            reference: HubReference(
                organization: names[0], repository: names[1], revision: revision == "main" ? nil : revision,
                file: file ?? wanted))
    }

    /// The file that a page of the Hub shows beside its list: `?show_file_info=model.gguf`.
    private static func shownFile(_ query: Substring) -> String? {
        let items = query.prefix { $0 != "#" }.dropFirst().split(separator: "&")
        let item = items.first { $0.hasPrefix("show_file_info=") }
        return item.flatMap { $0.dropFirst("show_file_info=".count).removingPercentEncoding }
            .flatMap { $0.isEmpty ? nil : $0 }
    }

    // MARK: - Short forms

    /// `organization/name[@revision][:file]`, unless it is the path of a file.
    private static func short(_ text: String) -> HubReference? {
        guard let slash = text.firstIndex(of: "/"), !text.contains("://") else { return nil }
        let organization = text[..<slash]
        // An organization has no point, so that hosts and relative paths are never taken for one.
        guard !organization.contains(where: { ".~:@".contains($0) }) else { return nil }
        let names = text.prefix { !":@".contains($0) }
        let kind = Path(String(names)).fileExtension
        guard names.split(separator: "/", omittingEmptySubsequences: false).count == 2,
            !["gguf", "json"].contains(kind.lowercased())
        else { return nil }
        return named(text[...]) ?? latest(text)
    }

    private static func named(_ text: Substring) -> HubReference? {
        guard !text.hasSuffix(":latest") else { return nil }
        // Any other text is no name of a repository, and is read as another kind of reference.
        if case .hub(let reference)? = try? ModelReference(parsing: "hf:" + text) { return reference }
        return nil
    }

    /// The default tag of other programs stands for no choice.
    private static func latest(_ text: String) -> HubReference? {
        text.hasSuffix(":latest") ? named(text.dropLast(":latest".count)) : nil
    }
}
