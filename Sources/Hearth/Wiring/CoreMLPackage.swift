import HearthBase
import HearthDelivery

/// What of a release Core ML opens: a package, which is a folder around the weights, or a file. A value, made of names alone.
///
/// ```
/// Leaf.mlpackage/Data/com.apple.CoreML/model.mlmodel   the weights
/// Leaf.mlpackage                                       the package
/// ```
public struct CoreMLPackage: Sendable, Hashable {
    /// What there is, by the extension of its name.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A folder with a model and its weights in files of their own.
        case package = "mlpackage"
        /// A single file.
        case model = "mlmodel"
        /// A folder that Core ML has made of one of the others.
        case compiled = "mlmodelc"
    }

    public let kind: Kind
    /// The folder or file.
    public let path: Path
    /// Its place in the release.
    public let place: RelativePath
    /// Whether it is a folder.
    public let isFolder: Bool
    /// The bytes of all files in it.
    public let size: UInt64

    /// What Core ML opens of an installed release, `nil` for one of another format and for weights whose names say nothing.
    public init?(_ release: InstalledRelease) {
        let files = release.receipt.files
        guard release.receipt.format == .coreml, let weights = files.first(where: { $0.role == .weights }) else {
            return nil
        }
        self.init(weights.name, release.folder.appending(weights.name), among: files.map { ($0.name, $0.size) })
    }

    /// What Core ML opens of a release that came with the app, `nil` as for an installed one.
    public init?(_ release: BundledRelease) {
        let files = release.files
        guard release.release.format == .coreml, let weights = files.first(where: { $0.role == .weights }) else {
            return nil
        }
        self.init(weights.name, weights.path, among: files.map { ($0.name, $0.size) })
    }

    private init?(_ weights: RelativePath, _ file: Path, among files: [(name: RelativePath, size: UInt64)]) {
        // The outermost: what lies in a package is that one's own affair.
        let folder = weights.folders.first { [.package, .compiled].contains(Kind($0)) }
        let place = folder ?? weights
        guard let kind = Kind(place) else { return nil }
        self.kind = kind
        self.place = place
        isFolder = folder != nil
        path = (place.components.count..<weights.components.count).reduce(file) { path, _ in path.parent }
        size = files.filter { $0.name == place || $0.name.folders.contains(place) }.reduce(0) { sum, file in
            let (total, isTooMuch) = sum.addingReportingOverflow(file.size)
            return isTooMuch ? .max : total
        }
    }

    /// How it is compiled on a system, `nil` for what is compiled already and used as it came.
    /// - Parameter system: the version and build of the system: what one has compiled is not another's.
    public func recipe(on system: String) -> PreparationRecipe? {
        guard kind != .compiled else { return nil }
        let stem = place.last.name.dropLast(kind.rawValue.count + 1)
        return PreparationRecipe(
            engine: "coreml", engineVersion: system, settings: "compiled",
            fileName: "\(stem).\(Kind.compiled.rawValue)", expectedSize: size, summary: "compiled by Core ML",
            product: .folder, source: isFolder ? .folder(place) : .weights)
    }
}

extension CoreMLPackage.Kind {
    /// The kind by a name, in either case.
    fileprivate init?(_ place: RelativePath) { self.init(rawValue: Path(place.last.name).fileExtension) }
}
