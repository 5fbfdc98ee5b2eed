import HearthBase
import HearthTransfer

extension FileTransfer {
    /// Fetches a file without a queue, with its own lock.
    /// - Throws: as ``fetch(_:under:_:)``; ``TransferError`` with `transfer-busy` if another owner has the lock.
    package func fetch(
        _ request: TransferRequest, progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> TransferredFile {
        guard let lock = try await TransferLock.acquire(try place(of: request), fileSystem: fileSystem) else {
            throw TransferError(.busy, "another owner is fetching \(request.label)", disposition: .tryLater)
        }
        let reporter = reporter()
        reporter.add(0, progress)
        do {
            let file = try await fetch(request, under: lock, reporter)
            await lock.end()
            return file
        } catch {
            await lock.end()
            throw error
        }
    }
}
