import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthTransfer

/// A model file that a client sent, in a folder of its own: `HOME/server/uploads/TOKEN/NAME.gguf`.
///
/// The folder is removed when the file is installed or refused. Those of an ended process are removed at the next start.
struct ModelUpload: Sendable {
    /// The media type of the body.
    static let mediaType = "application/octet-stream"
    /// The address, whose bodies may be larger than others.
    static let path = NativeRouter.base + "/models/upload"
    /// The most bytes of a file.
    static let limit: UInt64 = 1 << 40
    /// The first bytes of every GGUF file.
    private static let magic = Array("GGUF".utf8)

    /// The disk is looked at again after so many bytes.
    static let stride: UInt64 = 64 << 20

    let file: Path
    /// The bytes of the disk that stay free.
    let reserve: UInt64
    let fileSystem: any FileSystem

    /// The bytes to keep free of so many: a twentieth, and at most 1 GiB.
    static func reserve(of free: UInt64) -> UInt64 { min(1 << 30, free / 20) }

    private static func folder(home: Path) -> Path { home.appending("server").appending("uploads") }

    /// Writes the body of a request to the disk, as it arrives.
    /// - Throws: ``NativeFailure`` with `media-type`, `unusable-name`, `not-gguf`, `insufficient-storage`; ``ServerError`` with
    ///   `client-left`; `GGUFError` for a file that is no whole model; `FileError`. Nothing stays then.
    static func receive(
        _ call: NativeCall, home: Path, on fileSystem: any FileSystem = LocalFileSystem()
    ) async throws -> ModelUpload {
        let type = call.request.headers["Content-Type"]?.prefix { $0 != ";" }.trimmed.lowercased()
        guard type == mediaType else { throw NativeFailure(415, "media-type", "the body must be \(mediaType)") }
        let name = try name(call.query("name") ?? "")
        let body = call.request.body
        let folder = folder(home: home).joined(Claim.newToken())
        let reserve = try await blocking {
            try fileSystem.makeFolders(home.appending("server"), permissions: 0o700)
            let free = try fileSystem.freeSpace(at: home)
            let reserve = Self.reserve(of: free)
            if let length = body.declaredLength, length > free - reserve { throw tooLarge(length, free - reserve) }
            try fileSystem.makeFolders(folder, permissions: 0o700)
            return reserve
        }
        let upload = ModelUpload(file: folder.appending(name), reserve: reserve, fileSystem: fileSystem)
        do {
            try await upload.write(body)
            try await blocking { try upload.checkModel() }
            return upload
        } catch {
            await upload.remove()
            if let error = error as? FileError, error.code == .diskFull {
                throw NativeFailure(507, error.codeText, error.message, remedy: "Free some space, and try again.")
            }
            throw upload.shown(error)
        }
    }

    private func write(_ body: RequestBody) async throws {
        let open = try await blocking { [file] in try fileSystem.open(file, .createNew, permissions: 0o600) }
        var (beginning, offset, look) = ([UInt8](), UInt64(0), UInt64(0))
        for try await chunk in body {
            // A file of another kind ends before it fills the disk.
            if beginning.count < Self.magic.count {
                beginning += chunk.prefix(Self.magic.count - beginning.count)
                guard Self.magic.starts(with: beginning) else { throw Self.notGGUF(FileKind(beginning: chunk)) }
            }
            guard offset + UInt64(chunk.count) <= Self.limit else { throw Self.tooLarge(Self.limit, nil) }
            let isLook = offset >= look
            if isLook { look = offset + Self.stride }
            try await blocking { [offset] in
                // Other programs need room too, and a body without a length could go on for ever.
                if isLook {
                    let free = try fileSystem.freeSpace(at: file.parent)
                    guard free > reserve else { throw Self.tooLarge(offset + UInt64(chunk.count), 0) }
                }
                try chunk.withUnsafeBytes { try fileSystem.write(open, $0, at: offset) }
            }
            offset += UInt64(chunk.count)
        }
        guard beginning.count == Self.magic.count else { throw Self.notGGUF(beginning.isEmpty ? .empty : nil) }
        try await blocking { try fileSystem.synchronize(open) }
    }

    /// Refuses a file that is no whole model. Blocks.
    /// - Throws: ``GGUFError``, `FileError`.
    private func checkModel() throws {
        let header = try GGUFHeader(file: file)
        let size = try LocalFileSystem().status(at: file, followLinks: false)?.size ?? 0
        guard header.tensorCount > 0 else {
            throw GGUFError(
                .corrupt, "\(file.lastComponent) has no weights",
                context: ErrorContext(
                    remedy: "Choose the file of the whole model; a vocabulary alone answers nothing."))
        }
        if let least = header.tensors?.minimumFileSize, size < least {
            throw GGUFError(
                .truncated, "\(file.lastComponent) ends before its last tensor",
                context: ErrorContext(
                    expected: "at least \(least) bytes", found: "\(size) bytes", remedy: "Download the file again."))
        }
        try header.checkEnd(ofFile: size, name: file.lastComponent)
    }

    /// An error for a client, which knows the file by its name alone.
    func shown(_ error: any Error) -> any Error {
        guard error is any HearthFailure else { return error }
        var failure = NativeFailure(error)
        failure.message = failure.message.replacing(file.string, with: file.lastComponent)
        failure.remedy = failure.remedy?.replacing(file.string, with: file.lastComponent)
        return failure
    }

    /// Removes the file and its folder.
    func remove() async {
        do {
            try await blocking { [file] in try LocalFileSystem().removeTree(file.parent) }
        } catch {
            Log.write(.warning, "native", "an uploaded file stays until the next start", [.error(error)])
        }
    }

    /// Removes the files of ended processes. Blocks.
    static func sweep(home: Path) {
        do {
            try LocalFileSystem().removeTree(folder(home: home))
        } catch {
            Log.write(.warning, "native", "uploaded files of an earlier process stay", [.error(error)])
        }
    }

    /// The name of a file as it may stand on the disk.
    private static func name(_ text: String) throws -> PathComponent {
        guard let name = PathComponent(text), Path(text).fileExtension.lowercased() == "gguf", text.isPlain(),
            text.utf8.count <= 200, !text.hasPrefix(".")
        else {
            throw NativeFailure(
                422, "unusable-name", "a model file has a name such as my-model-v1.0.0-q4_k_m.gguf",
                remedy: "Rename the file: letters, digits, points and hyphens, ending with .gguf.", field: "name")
        }
        return name
    }

    private static func notGGUF(_ kind: FileKind?) -> NativeFailure {
        NativeFailure(
            422, "not-gguf", "the file is not a GGUF file" + (kind.map { ": it is \($0.name)" } ?? ""),
            remedy: kind?.remedy ?? "Choose a file that ends with .gguf, as models have it.")
    }

    private static func tooLarge(_ length: UInt64, _ free: UInt64?) -> NativeFailure {
        let room = free.map { ", and \(ByteCount($0)) are free" } ?? ""
        return NativeFailure(
            507, "insufficient-storage", "the file has at least \(ByteCount(length))\(room)",
            remedy: "Free some space, and try again.")
    }
}

extension LibraryDesk {
    /// Installs an uploaded file as `hearth pull ./file` does. Goes on if the client leaves, because every byte is here.
    func install(_ upload: ModelUpload) async throws -> RowReply {
        let manager = hearth.manager
        let work = Task { () async throws -> Family in
            do {
                let offer = try await manager.resolve(.file(upload.file))
                let identity = offer.release.identity
                do {
                    _ = try await manager.pull(offer)
                } catch {
                    try await Self.discard(identity, in: manager)
                    throw error
                }
                await upload.remove()
                return identity.family
            } catch {
                await upload.remove()
                throw upload.shown(error)
            }
        }
        let family = try await work.value
        await library.refreshLocal()
        arrived(family)
        return try await reply(family)
    }

    /// Discards the bytes of a file that was not installed: they cannot be continued.
    private nonisolated static func discard(_ identity: ReleaseIdentity, in manager: ModelManager) async throws {
        for transfer in try await manager.transfers.list()
        where transfer.release == identity && !transfer.state.isHeld {
            try await manager.transfers.cancel(transfer.key)
        }
    }
}
