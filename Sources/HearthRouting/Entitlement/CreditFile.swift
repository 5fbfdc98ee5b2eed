import Foundation
import HearthBase

/// The credit book on the disk, changed under a lock, so that several processes never spend the same credit.
struct CreditFile: Sendable {
    /// The folder of the file and its lock.
    let folder: Path
    let fileSystem: any FileSystem
    let time: TimeSource

    private static let lockTimeout: Duration = .seconds(15)

    private var path: Path { folder.appending("credits.json") }
    private var lockPath: Path { folder.appending("credits.lock") }

    /// Reads the book without a lock: replaced files are always whole. Blocks.
    /// - Throws: ``RoutingError`` with `credits-unreadable`.
    func read() throws -> CreditBook {
        do {
            return try CreditBook(data: fileSystem.contents(ofFile: path, limit: CreditBook.maximumFileSize))
        } catch let error as FileError where error.code == .notFound {
            return CreditBook(at: time.now)
        } catch  where error is DecodingError || error is FileError {
            throw RoutingError(
                .creditsUnreadable, "the credits in \(path) cannot be read",
                context: ErrorContext(
                    file: path.string, remedy: "Restore the file, or remove it to begin the month anew."),
                underlying: error)
        }
    }

    /// Changes the book.
    /// - Returns: what `change` returns, and the book as it is on the disk now.
    /// - Throws: ``RoutingError`` with `credits-unreadable` or `credits-busy`, `FileError`; `CancellationError` before the change.
    func change<Result: Sendable>(
        _ change: @escaping @Sendable (inout CreditBook) -> Result
    ) async throws -> (result: Result, book: CreditBook) {
        let waited = time.stopwatch()
        try await blocking { try fileSystem.makeFolders(folder, permissions: 0o700) }
        while true {
            if let changed = try await blocking({ try changeIfFree(change) }) { return changed }
            guard waited.elapsed < Self.lockTimeout else {
                throw RoutingError(
                    .creditsBusy, "another process is changing the credits in \(folder)",
                    context: ErrorContext(file: lockPath.string, remedy: "Try again in a moment."),
                    disposition: .tryLater)
            }
            try await time.sleep(for: .milliseconds(5))
        }
    }

    /// Changes the book unless another holds the lock; the lock is held for the time of the disk's work alone. Blocks.
    private func changeIfFree<Result>(_ change: (inout CreditBook) -> Result) throws -> (
        result: Result, book: CreditBook
    )? {
        guard let lock = try FileLock.tryAcquire(lockPath) else { return nil }
        defer { lock.release() }
        let old = try read()
        var book = old
        let result = change(&book)
        if book != old { try fileSystem.replaceContents(of: path, with: book.data(), permissions: 0o600) }
        return (result, book)
    }
}
