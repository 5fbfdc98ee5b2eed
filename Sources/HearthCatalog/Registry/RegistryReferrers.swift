import Foundation
import HearthBase
import HearthHTTP

/// Finds the chunk indexes that a publisher added to a model's manifest: those of a manifest that refers to it.
struct RegistryReferrers: Sendable {
    let reference: RegistryReference
    /// The address of the repository.
    let repository: URL
    let client: RegistryClient

    private static let timeout = Duration.seconds(10)
    private static let maximumSize = RegistryManifest.maximumSize

    /// The chunk indexes of a manifest's files, by their paths; none for a copy without them, and if they cannot be had.
    /// - Throws: `CancellationError`.
    func indexes(of digest: SHA256Digest) async throws -> [RelativePath: RemoteFile] {
        do {
            guard let list = try await list(of: digest) else { return [:] }
            let entry = list["manifests"]?.items?.prefix(256).first {
                $0["artifactType"]?.string == RegistryFormat.chunks
            }
            guard let own = entry?["digest"]?.string.flatMap({ SHA256Digest(tagged: $0) }),
                let data = try await get("manifests/\(own.tagged)", accept: RegistryFormat.manifest),
                SHA256Digest(hashing: data) == own
            else { return [:] }
            var indexes: [RelativePath: RemoteFile] = [:]
            for blob in try RegistryManifest(data, of: reference).layers where blob.mediaType == RegistryFormat.chunks {
                guard let path = blob.fileName.flatMap({ RelativePath($0) }), let name = path.withSuffix(".index")
                else {
                    continue
                }
                indexes[path] = RemoteFile(
                    name: name, role: .index, size: .exact(blob.size), digest: blob.digest,
                    locations: [repository.below("blobs/\(blob.digest.tagged)")])
            }
            return indexes
        } catch let error as CancellationError {
            throw error
        } catch {
            Log.write(.info, "registry", "\(reference) is pulled without chunk indexes: \(error)")
            return [:]
        }
    }

    /// The list of manifests that refer to one; `nil` if there is none.
    private func list(of digest: SHA256Digest) async throws -> JSONValue? {
        let places = ["referrers/\(digest.tagged)", "manifests/\(RegistryFormat.referrersTag(digest.hex))"]
        for place in places {
            if let data = try await get(place, accept: RegistryFormat.list) { return try JSONValue(parsing: data) }
        }
        return nil
    }

    private func get(_ place: String, accept: String) async throws -> Data? {
        let response = try await client.execute(
            HTTPRequest(
                repository.below(place), headers: ["Accept": accept, "Accept-Encoding": "identity"],
                totalTimeout: Self.timeout, maximumBodySize: UInt64(Self.maximumSize)))
        guard response.status == 200 else { return nil }
        return try await response.body.collect(upTo: Self.maximumSize)
    }
}
