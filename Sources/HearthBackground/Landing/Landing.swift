import Foundation
import HearthBase
import HearthTransfer

/// Moves files that the system has brought to their transfers. Blocks, for the system removes a file as soon as the call
/// that announces it returns.
package struct Landing: Sendable {
    private let transfers: Path
    private let fileSystem: any FileSystem

    /// - Parameter transfers: the home's folder of transfers.
    package init(transfers: Path, fileSystem: any FileSystem) {
        self.transfers = transfers
        self.fileSystem = fileSystem
    }

    /// Moves the file of a task into its transfer's folder; the bytes are checked when the transfer continues.
    /// - Parameter status: the status of the server's response.
    /// - Returns: the report of the task.
    package func take(_ file: Path, of order: PieceOrder, status: Int) -> PieceReport {
        guard status == 200 || status == 206 else { return .failed(order, .refused(status: status)) }
        do {
            guard let found = try fileSystem.status(at: file, followLinks: false), found.kind == .file,
                let range = Self.range(of: found.size, order, status)
            else { return .failed(order, .wrongBytes) }
            guard let folder = TransferFolder(order.digest, in: transfers, fileSystem: fileSystem),
                // A transfer that was cancelled meanwhile does not come back.
                try folder.plan().plan != nil
            else { return .failed(order, .cannotKeep) }
            try move(file, to: folder.landingPlace(range))
            return .landed(order, range)
        } catch {
            Log.write(.warning, "background", "a piece was not kept", [.error(error)])
            return .failed(order, .cannotKeep)
        }
    }

    /// The bytes that came; `nil` for a length that was not ordered. A server without ranges sends the whole file.
    private static func range(of count: UInt64, _ order: PieceOrder, _ status: Int) -> Range<UInt64>? {
        if status == 200, count == order.size { return 0..<count }
        return count == UInt64(order.range.count) && status == 206 ? order.range : nil
    }

    private func move(_ file: Path, to place: Path) throws {
        do {
            try fileSystem.rename(file, to: place)
        } catch let error as FileError where error.isSystemError(EXDEV) {
            // The home is on another disk.
            let copy = place.parent.appendingTemporary(besides: place.lastComponent)
            _ = try FilePump(fileSystem: fileSystem).copy(try fileSystem.open(file, .read), to: copy)
            try fileSystem.rename(copy, to: place)
        }
        try fileSystem.synchronizeFolder(place.parent)
    }
}

extension TransferFolder {
    /// The folder of the file with a digest.
    package init?(_ digest: SHA256Digest, in transfers: Path, fileSystem: any FileSystem) {
        guard let key = TransferKey(digest.hex) else { return nil }
        self.init(key, in: transfers, fileSystem: fileSystem)
    }
}
