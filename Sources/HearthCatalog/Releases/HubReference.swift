import Foundation
import HearthBase

/// A repository of the Hugging Face Hub: `hf:org/repo[@revision][:file, glob or quantization]`.
public struct HubReference: Sendable, Hashable, CustomStringConvertible {
    public let organization: String
    package let repository: String
    /// A branch, tag or commit; `nil` for the repository's default branch.
    package let revision: String?
    /// A file of the repository, a quantization, or ``FileGlob`` patterns separated by commas.
    package let file: String?
    /// The family of the repository's releases, if a catalog gives it a short name.
    package private(set) var alias: Family?

    /// The patterns, of which a file must match one; empty if the reference names one file or none.
    package var patterns: [FileGlob] {
        let parts = Self.parts(file ?? "")
        // A comma separates patterns only if at least one part is a pattern; otherwise it belongs to a file name.
        return parts.contains(where: FileGlob.isPattern) ? parts.map(FileGlob.init) : []
    }

    /// The quantization that the reference names.
    package var quantization: QuantizationLabel? { file.flatMap { QuantizationLabel($0) } }

    /// The file that the reference names; `nil` if it names none, a quantization or patterns.
    public var fileName: String? { patterns.isEmpty && quantization == nil ? file : nil }

    /// A reference of the given parts, `nil` if one of them is not allowed.
    public init?(organization: String, repository: String, revision: String? = nil, file: String? = nil) {
        guard Self.isName(organization), Self.isName(repository) else { return nil }
        if let revision {
            guard Self.isRelativePath(revision[...]), revision.utf8.count <= 255,
                revision.utf8.allSatisfy({ $0.isAlphanumeric || "._-/+".utf8.contains($0) })
            else { return nil }
        }
        if let file {
            // A pattern may end in a slash; it then means everything below that folder.
            let paths = Self.parts(file).map { $0.hasSuffix("/") ? $0.dropLast() : $0[...] }
            guard paths.allSatisfy(Self.isRelativePath), file.utf8.count <= 1024 else { return nil }
        }
        self.organization = organization
        self.repository = repository
        self.revision = revision
        // One quantization has one spelling, so that a repository is the same source however a person wrote it.
        self.file = file.map { QuantizationLabel($0)?.name ?? $0 }
    }

    /// A repository by its path `organization/name`, as a family of a short name.
    package init?(path: String, alias: Family? = nil) {
        let names = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard names.count == 2 else { return nil }
        self.init(organization: names[0], repository: names[1])
        self.alias = alias
    }

    /// Reads ``record``.
    package init?(record: String) {
        // A record of another source names no repository.
        guard let (family, text) = RepositoryRecord.parts(record, beginning: "hf:"),
            case .hub(let reference)? = try? ModelReference(parsing: text)
        else { return nil }
        self = reference
        alias = family
    }

    /// The same repository and family with other files.
    package func taking(_ file: String?, at revision: String?) -> HubReference? {
        var other = HubReference(
            organization: organization, repository: repository, revision: revision, file: file)
        other?.alias = alias
        return other
    }

    /// The Hub's rule: a name contains neither `..` nor `--`. The folder name `hf--org--repo` is therefore unambiguous.
    private static func isName(_ text: String) -> Bool {
        guard (1...96).contains(text.utf8.count), let first = text.utf8.first, first.isAlphanumeric else {
            return false
        }
        return text.utf8.allSatisfy { $0.isAlphanumeric || "._-".utf8.contains($0) } && !text.contains("..")
            && !text.contains("--")
    }

    private static func parts(_ file: String) -> [String] {
        file.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }

    private static func isRelativePath(_ text: Substring) -> Bool {
        text.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { PathComponent($0) != nil }
    }

    /// The text of receipts and transfers: the reference, after the short name of the family and `=` if it has one.
    package var record: String { (alias.map { "\($0)=" } ?? "") + description }

    public var description: String {
        "hf:\(organization)/\(repository)" + (revision.map { "@\($0)" } ?? "") + (file.map { ":\($0)" } ?? "")
    }
}
