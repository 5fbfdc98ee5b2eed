import Foundation
import HearthBase
import HearthHTTP

/// A user's name for a model: `family[@version][:variant][+content tag]`, the address or path of a manifest, the path
/// of a `.gguf` file or of a folder, a repository of the Hugging Face Hub: `hf:org/repo`, `org/repo`, or the address of its page,
/// or a model of an OCI registry: `oci://host/repository[:tag][@digest]`.
public enum ModelReference: Sendable, Hashable {
    /// A model of the configured origins.
    case family(Family, version: ReleaseVersion?, variant: Variant?)
    /// A model of the manifest at an address; the family may be absent if the manifest has only one.
    case manifest(URL, family: Family?, version: ReleaseVersion?, variant: Variant?)
    /// A model file on this machine, or a folder with `config.json` and `*.safetensors`.
    case file(Path)
    /// A repository of the Hugging Face Hub.
    case hub(HubReference)
    /// A model of an OCI registry.
    case registry(RegistryReference)

    /// Parses a user's text.
    /// - Throws: ``CatalogError`` with `bad-reference`; its message names the problem.
    public init(parsing text: String) throws {
        let isPlain = !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
        guard !text.isEmpty else { throw Self.bad(text, "it is empty") }
        guard text.utf8.count <= 4096 else { throw Self.bad(text, "it is longer than 4096 bytes") }
        guard isPlain else { throw Self.bad(text, "it contains a control character") }
        if text.hasPrefix("hf:") {
            self = .hub(try Self.hub(text))
        } else if text.lowercased().hasPrefix(RegistryReference.scheme) {
            self = .registry(try Self.registry(text))
        } else if let pasted = try HubPaste(text) {
            guard let reference = pasted.reference else { throw Self.bad(text, pasted.problem) }
            self = .hub(reference)
        } else if text.contains("://") {
            self = try Self.address(text)
        } else if let path = try Self.path(text) {
            self = path
        } else {
            let (family, version, variant) = try Self.parts(text[...], of: text)
            guard let family else { throw Self.bad(text, "the name before @ or : is missing") }
            self = .family(family, version: version, variant: variant)
        }
    }

    // MARK: - The forms

    private static func address(_ text: String) throws -> Self {
        let mark = text.unicodeScalars.firstIndex(of: "#")
        guard let url = URL(address: text[..<(mark ?? text.endIndex)]), let scheme = url.scheme?.lowercased(),
            !scheme.isEmpty
        else {
            throw bad(text, "it is no proper address")
        }
        let fragment = mark.map { text[text.unicodeScalars.index(after: $0)...] }
        switch scheme {
        case "file":
            guard (url.host() ?? "").isEmpty, !url.path.isEmpty, url.path != "/" else {
                throw bad(text, "a file address is written file:///path/to/models.json")
            }
        case "https", "http":
            guard url.host()?.isEmpty == false else { throw bad(text, "the address names no host") }
            guard scheme == "https" || url.isLoopback else {
                throw bad(
                    text, "models are fetched over https only, except from this machine", "Write https:// instead.")
            }
        default: throw bad(text, "\(scheme.quoted) addresses are not supported", "Use an https address.")
        }
        if Path(url.fileName).fileExtension == "gguf" {
            guard url.isFileURL else {
                throw bad(
                    text, "it leads to a model file, not to a manifest",
                    "Give the address of the models.json that describes it.")
            }
            guard fragment == nil else { throw bad(text, "a model file has no versions to choose from") }
            return .file(Path(url.path))
        }
        guard let fragment else { return try manifest(url, nil, of: text) }
        guard let decoded = fragment.removingPercentEncoding else {
            throw bad(text, "the part after # is malformed")
        }
        return try manifest(url, decoded[...], of: text)
    }

    private static func manifest(_ url: URL, _ fragment: Substring?, of text: String) throws -> Self {
        guard let fragment else { return .manifest(url, family: nil, version: nil, variant: nil) }
        let (family, version, variant) = try parts(fragment, of: text)
        return .manifest(url, family: family, version: version, variant: variant)
    }

    private static func path(_ text: String) throws -> Self? {
        var file = text[...]
        var fragment: Substring?
        // A path may contain a `#`, so only a `#` right after a manifest's name starts a fragment.
        if let mark = text.range(of: ".json#", options: [.backwards, .caseInsensitive]) {
            file = text[..<text.index(before: mark.upperBound)]
            fragment = text[mark.upperBound...]
        }
        let path = Path(String(file))
        switch path.fileExtension {
        case "gguf": return .file(path)
        case "json": return try manifest(path.url, fragment, of: text)
        default: break
        }
        guard text.contains("/") else { return nil }
        // A folder is told from a repository by its beginning.
        let isFolder = ["/", "./", "../"].contains(where: text.hasPrefix)
        if isFolder, text.contains(where: { !"/.".contains($0) }) { return .file(path) }
        throw bad(
            text, "a path must be a folder or end in .gguf or .json, and a repository of the Hub has two names",
            "Write organization/name for a repository of the Hugging Face Hub.")
    }

    private static func hub(_ text: String) throws -> HubReference {
        let form = "Write hf:organization/repository, and after it @revision or :file if wanted."
        var rest = text.dropFirst(3)
        let file = cut(&rest, at: ":")
        let revision = cut(&rest, at: "@")
        let names = rest.split(separator: "/", omittingEmptySubsequences: false)
        guard names.count == 2 else { throw bad(text, "it does not name one repository", form) }
        guard
            let reference = HubReference(
                organization: String(names[0]), repository: String(names[1]), revision: revision.map(String.init),
                file: file.map(String.init))
        else { throw bad(text, "a part of it is not allowed in the name of a repository, revision or file", form) }
        return reference
    }

    private static func registry(_ text: String) throws -> RegistryReference {
        let rest = text.dropFirst(RegistryReference.scheme.count)
        guard let reference = RegistryReference(afterScheme: rest) else {
            throw bad(
                text, "it does not name a model of a registry",
                "Write oci://host/repository in small letters, and after it :tag or @sha256: with 64 digits if wanted.")
        }
        return reference
    }

    /// `[family][@version][:variant][+content tag]`; a tag after the variant becomes part of the version.
    private static func parts(
        _ text: Substring, of whole: String
    ) throws -> (family: Family?, version: ReleaseVersion?, variant: Variant?) {
        var rest = text
        var variant: Variant?
        var tag: ContentTag?
        if var name = cut(&rest, at: ":") {
            if let split = ContentTag.split(name) { (name, tag) = (split.name, split.tag) }
            guard let valid = Variant(name.lowercased()) ?? QuantizationLabel(name)?.variant else {
                let problem =
                    name.isEmpty
                    ? "the variant after : is missing" : "\(String(name).quoted) cannot be the name of a variant"
                throw bad(
                    whole, problem,
                    name.contains("@") ? "The version comes first: family@version:variant." : nil)
            }
            variant = valid
        }
        var version: ReleaseVersion?
        if let name = cut(&rest, at: "@").map(String.init) {
            guard let valid = ReleaseVersion(name + (tag.map { "+\($0)" } ?? "")), ReleaseVersion(name) != nil else {
                let problem =
                    name.isEmpty ? "the version after @ is missing" : "\(name.quoted) cannot be a version"
                throw bad(whole, problem)
            }
            version = valid
        } else if let tag {
            throw bad(whole, "+\(tag) tells releases of one version apart, and no version is named")
        }
        guard !rest.isEmpty else {
            guard version != nil || variant != nil else { throw bad(whole, "the name of the model is missing") }
            return (nil, version, variant)
        }
        guard let family = Family(rest) else {
            let lowered = Family(rest.lowercased())
            throw bad(
                whole,
                "\(String(rest).quoted) cannot be the name of a model: it may hold lower-case letters, digits, . - and _",
                lowered.map { "Did you mean \($0)?" })
        }
        return (family, version, variant)
    }

    /// Cuts a text at the first such mark, and returns the part after it.
    private static func cut(_ text: inout Substring, at mark: Character) -> Substring? {
        guard let index = text.firstIndex(of: mark) else { return nil }
        defer { text = text[..<index] }
        return text[text.index(after: index)...]
    }

    private static func bad(_ text: String, _ problem: String, _ remedy: String? = nil) -> CatalogError {
        CatalogError(
            .badReference, "\(text.quoted) names no model: \(problem)",
            context: ErrorContext(
                expected: "family[@version][:variant], the address or path of a models.json, or a .gguf file",
                found: text.quoted,
                remedy: remedy ?? "Write family, family@version or family:variant, an address or a path."))
    }
}
