import Foundation
import HearthBase
import HearthHTTP

extension Catalog {
    /// Parses the single-model dialect: `version, url, sha256, num_classes, class_list_version, training_date,
    /// size_mb`.
    ///
    /// The list of classes is `classes/<class_list_version>.txt` beside the manifest, if that file exists.
    /// If `url` has an archive's extension, the file is unpacked. `size_mb` is rounded: it serves progress and the
    /// storage check, and the download may have at most `size_mb x 2^20 x 1.1 + 1 MiB` bytes.
    package init(singleModel document: ManifestReader, familyHint: Family?) throws(CatalogError) {
        let version = try document.required("version", "a version such as 1.0.0", document.version)
        let url = try document.required("url", "an address", document.address)
        guard let name = PathComponent(url.fileName), !name.name.hasPrefix("."),
            name.name.lowercased() != "receipt.json"
        else {
            throw document.malformed("url", expected: "an address that ends in a file name", found: url.shown.quoted)
        }
        let megabytes = try document.required("size_mb", "a number of MiB") { field throws(CatalogError) in
            try document.decimal(field, in: 0...Double(1 << 33))
        }
        guard let family = familyHint ?? Family(fileName: name.name, version: version) else {
            throw document.failure(
                "url", "the file name \(name.name.quoted) gives the model no name", expected: "a name of the model",
                found: name.name)
        }

        var release = Release(
            identity: ReleaseIdentity(family: family, version: version), id: "\(family)-v\(version)",
            file: RemoteFile(
                name: RelativePath(name), size: .rounded(megabytes: megabytes), digest: try document.digest("sha256"),
                locations: [url]),
            role: .classifier, format: ModelFormat(fileName: name.name) ?? .coreml)
        if let packed = ArchiveFormat(fileName: name.name) {
            release.archive = Archive(format: packed)
            release.format = ModelFormat(fileName: ArchiveFormat.unpackedName(name.name)) ?? release.format
        }
        let count = try document.integer("num_classes", in: 0...1 << 31).map { Int($0) }
        let listVersion = try document.text("class_list_version")
        let listName = listVersion.flatMap { PathComponent("\($0).txt") }
        release.classes = Classes(
            count: count, listVersion: listVersion,
            listAddress: listName.flatMap { URL(address: "classes/\($0.name)", relativeTo: document.manifest) })
        release.trainedOn = try document.text("training_date")
        self.init(releases: [release], current: [family: version])
        isOrdered = false
    }
}

extension FileSize {
    /// A size known only approximately, in MiB.
    package static func rounded(megabytes: Double) -> Self {
        let bytes = megabytes * 1_048_576
        return .about(UInt64(bytes), limit: UInt64(bytes * 1.1) + 1_048_576)
    }
}

extension Family {
    /// The family that a file name without extension and version suggests.
    package init?(fileName: String, version: ReleaseVersion) {
        var stem = ArchiveFormat.unpackedName(fileName)
        let extensions = ["mlpackage", "mlmodelc", "mlmodel", "gguf", "onnx", "safetensors"]
        if extensions.contains(Path(stem).fileExtension) { stem = (stem as NSString).deletingPathExtension }
        if let found = stem.range(of: version.name, options: [.backwards, .caseInsensitive]) {
            var start = found.lowerBound
            if let mark = stem[..<start].indices.last, stem[mark] == "v" || stem[mark] == "V", mark > stem.startIndex,
                "-_. ".contains(stem[stem.index(before: mark)])
            {
                start = mark
            }
            stem.removeSubrange(start..<found.upperBound)
        }
        guard let family = WrittenName(stem)?.family else { return nil }
        self = family
    }
}
