import Foundation
import HearthDelivery
import HearthStore
import HearthTransfer

@testable import HearthBase
@testable import HearthCatalog

func fuzzVersion(_ data: Data) {
    guard let version = SemanticVersion(String(decoding: data, as: UTF8.self)) else { return }
    precondition(SemanticVersion(version.description) == version, "a version changed when it was written and read")
}

func fuzzPathComponent(_ data: Data) {
    guard let name = PathComponent(String(decoding: data, as: UTF8.self)) else { return }
    requireSafe("\(name)")
}

func fuzzRelativePath(_ data: Data) {
    guard let path = RelativePath(String(decoding: data, as: UTF8.self)) else { return }
    requireSafePath("\(path)")
    precondition(RelativePath(path.string) == path && path.folders.count == path.components.count - 1)
}

func fuzzManifest(_ data: Data) {
    guard let url = URL(string: "https://models.example/folder/models.json"),
        let catalog = typed({ try Catalog(manifest: data, url: url) })
    else { return }
    for release in catalog.releases {
        for file in [release.file] + release.companions {
            requireSafePath("\(file.name)")
            for location in file.locations {
                let isLoopback = ["localhost", "127.0.0.1", "[::1]", "::1"].contains(location.host() ?? "")
                precondition(
                    ["https", "file"].contains(location.scheme?.lowercased()) || isLoopback,
                    "\(location) would be fetched in the open")
            }
        }
        let identity = release.identity
        precondition(
            ReleaseIdentity(family: identity.family, folderName: identity.folderName) == identity,
            "\(identity) is another release when its folder name is read back")
    }
    for family in catalog.families {
        let resolver = Resolver(catalog: catalog, device: DeviceProfile(memory: 1 << 30))
        _ = typed { try resolver.offer(of: family) }
    }
}

func fuzzModelReference(_ data: Data) {
    _ = typed { try ModelReference(parsing: String(decoding: data, as: UTF8.self)) }
}

func fuzzFileName(_ data: Data) {
    guard let name = ReleaseFileName(parsing: String(decoding: data, as: UTF8.self)) else { return }
    precondition(SemanticVersion(name.version.description) == name.version)
}

func fuzzChunkIndex(_ data: Data) {
    guard let index = typed({ try ChunkIndex(encoded: data) }) else { return }
    precondition(index.encoded == data, "an index changed when it was read and written")
    var end: UInt64 = 0
    for chunk in index.chunks {
        precondition(chunk.offset == end && chunk.length > 0, "a gap, an overlap or an empty chunk came through")
        end += UInt64(chunk.length)
    }
    precondition(end == index.fileSize)
}

func fuzzGGUF(_ data: Data) {
    for extent in [GGUFHeader.Extent.metadata, .tensors] {
        guard let header = typed({ try GGUFHeader(data: data, extent: extent) }) else { continue }
        _ = (header.architecture, header.contextLength, header.quantization)
    }
}

/// The result, or nil for a refusal that a person can read; any other error is a finding.
func typed<Result>(_ work: () throws -> Result) -> Result? {
    do {
        return try work()
    } catch let refusal as any HearthFailure {
        precondition(!refusal.message.isEmpty)
        return nil
    } catch {
        preconditionFailure("an error without a code: \(error)")
    }
}

func requireSafePath(_ path: String) {
    precondition(path.utf8.count <= 1024, "a path of \(path.utf8.count) bytes came through")
    for name in path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
        requireSafe(String(decoding: name, as: UTF8.self))
    }
}

func requirePlain(_ text: String) {
    precondition(text.isPlain(), "a text that may not be shown came through")
}

func requireSafe(_ name: String) {
    precondition(
        !name.isEmpty && name != "." && name != ".." && name.utf8.count <= 255
            && !name.utf8.contains { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "/") },
        "an unsafe name came through: \(name.debugDescription)")
}
