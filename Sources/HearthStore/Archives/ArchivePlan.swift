import HearthBase
import HearthCatalog

/// Decides which files of an archive are unpacked, their places and their expected digests. A value: it reads nothing.
///
/// If the manifest lists files, the list is complete: the archive has to contain each with its length and hash, and no
/// other. Without a list the archive's own digest covers its contents. With a member, only that file is unpacked.
struct ArchivePlan: Sendable, Hashable {
    package let format: ArchiveFormat
    package let member: RelativePath?
    /// The name of the member in the release folder.
    private let memberName: RelativePath
    /// The files in the manifest, by their paths in the archive.
    private let listed: [RelativePath: RemoteFile]
    private let modelFormat: ModelFormat
    let limits: ArchiveLimits
    package let label: String

    /// A plan for an archive of `packedSize` bytes; `nil` for a release without an archive.
    init?(_ release: Release, packedSize: UInt64) {
        guard let archive = release.archive else { return nil }
        format = archive.format
        member = archive.member
        label = release.file.name.string
        modelFormat = release.format
        let ownName = release.file.name.last.name
        memberName = RelativePath(
            ArchiveFormat.isArchiveName(ownName)
                ? archive.member?.last ?? release.file.name.last : release.file.name.last)
        var listed: [RelativePath: RemoteFile] = [:]
        for file in release.members {
            // A manifest may list the member under its name in the release folder.
            let isMember = archive.member != nil && file.name == release.file.name
            listed[isMember ? archive.member ?? file.name : file.name] = file
        }
        self.listed = listed
        if listed.isEmpty || archive.member != nil {
            let storage = listed.isEmpty ? release.requirements.storageBytes : nil
            limits = ArchiveLimits(packedSize: packedSize, storage: storage)
        } else {
            limits = ArchiveLimits(totalSize: listed.values.map(\.size.limit).saturatedSum)
        }
    }

    /// The place in the release folder of an archive's file, `nil` if it is not unpacked.
    /// - Throws: `archive-mismatch` for a file that the manifest does not list, or lists with another length.
    package func place(of entry: ArchiveEntry) throws -> RelativePath? {
        if let member, entry.path != member { return nil }
        if let expected = listed[entry.path] {
            guard expected.size.exact.map({ $0 == entry.size }) ?? (entry.size <= expected.size.limit) else {
                throw mismatch(
                    "\(entry.path) has another length than the manifest lists", "\(expected.size.estimate) bytes",
                    "\(entry.size) bytes")
            }
        } else if member == nil, !listed.isEmpty {
            throw mismatch("the manifest does not list \(entry.path)", nil, entry.path.string)
        }
        return member == nil ? entry.path : memberName
    }

    /// Compares an unpacked file with the digest in the manifest.
    package func check(_ entry: ArchiveEntry, _ digest: SHA256Digest) throws {
        guard let promised = listed[entry.path]?.digest, promised != digest else { return }
        throw mismatch("\(entry.path) is not the file that the manifest lists", promised.hex, digest.hex)
    }

    /// The files for the receipt, after all entries were read.
    /// - Throws: `archive-mismatch` if something is missing.
    package func files(_ unpacked: [(entry: ArchiveEntry, place: RelativePath, digest: SHA256Digest)]) throws
        -> [Receipt.File]
    {
        let found = Set(unpacked.map(\.entry.path))
        let wanted = member.map { [$0] } ?? []
        if let missing = (wanted + listed.keys.sorted()).first(where: { !found.contains($0) }) {
            throw mismatch("\(missing) is not in it", missing.string, nil)
        }
        guard !unpacked.isEmpty else { throw StoreError.refusedArchive(.archiveDamaged, label, "nothing is in it") }
        let weights = weights(of: unpacked.map(\.entry))
        return unpacked.map { file in
            let role = listed[file.entry.path]?.role ?? (file.entry.path == weights ? .weights : .other)
            return Receipt.File(name: file.place, role: role, size: file.entry.size, digest: file.digest)
        }
    }

    /// The file an engine opens: the member, else the largest file in the model's format. `nil` if the manifest lists
    /// the weights.
    private func weights(of entries: [ArchiveEntry]) -> RelativePath? {
        if let member { return member }
        guard !listed.values.contains(where: { $0.role == .weights }) else { return nil }
        // A name does not tell MLX's files from others.
        let wanted = modelFormat == .safetensors ? .mlx : modelFormat
        return entries.filter { ModelFormat(file: $0.path) == wanted }
            .max { ($0.size, $1.path) < ($1.size, $0.path) }?.path
    }

    private func mismatch(_ problem: String, _ expected: String?, _ found: String?) -> StoreError {
        .refusedArchive(.archiveMismatch, label, problem, expected: expected, found: found)
    }
}

extension Release {
    /// The files that are in the release's archive and have no URL of their own.
    package var members: [RemoteFile] { archive == nil ? [] : companions.filter(\.locations.isEmpty) }

    /// The bytes on the disk after installation: the fetched files and the unpacked ones of an archive.
    ///
    /// The `storageBytes` that a publisher gives for plain files are the free space a device needs, and contain the
    /// spare fifth that the storage policy adds.
    package var installationSize: UInt64 {
        guard archive != nil else { return max(totalSize, (requirements.storageBytes ?? 0) / 6 * 5) }
        let listed = members.map(\.size.estimate).saturatedSum
        // Without a list: the publisher's figure, else the archive's length and a quarter, since weights hardly shrink.
        let unpacked = members.isEmpty ? requirements.storageBytes ?? file.size.estimate / 4 * 5 : listed
        return [totalSize, unpacked].saturatedSum
    }
}
