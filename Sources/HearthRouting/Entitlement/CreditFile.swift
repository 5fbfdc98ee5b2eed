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

    /// Reads the book without a lock: replaced files are always whole. Blocks.
    /// - Throws: ``RoutingError`` with `credits-unreadable`, `FileError`.
    func read() throws -> CreditBook {
        do {
            return try CreditBook(data: fileSystem.contents(ofFile: path, limit: CreditBook.maximumFileSize))
        } catch let error as FileError where error.code == .notFound {
            return CreditBook(at: time.now)
        } catch let error as DecodingError {
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
        try await blocking { try fileSystem.makeFolders(folder, permissions: 0o700) }
        let lock = try await acquire()
        defer { lock.release() }
        return try await blocking {
            let old = try read()
            var book = old
            let result = change(&book)
            if book != old { try fileSystem.replaceContents(of: path, with: book.data(), permissions: 0o600) }
            return (result, book)
        }
    }

    private func acquire() async throws -> FileLock {
        let waited = time.stopwatch()
        let path = folder.appending("credits.lock")
        while true {
            if let lock = try await blocking({ try FileLock.tryAcquire(path) }) { return lock }
            guard waited.elapsed < Self.lockTimeout else {
                throw RoutingError(
                    .creditsBusy, "another process is changing the credits in \(folder)",
                    context: ErrorContext(file: path.string, remedy: "Try again in a moment."), disposition: .tryLater)
            }
            try await time.sleep(for: .milliseconds(5))
        }
    }
}
