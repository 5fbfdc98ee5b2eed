import HearthBase

/// The credit book on the disk, changed under a lock, so that several processes never spend the same credit.
struct CreditFile: Sendable {
    /// The folder of the file and its lock.
    let folder: Path
    let fileSystem: any FileSystem
    let time: TimeSource

    private var path: Path { folder.appending("credits.json") }

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
    /// - Throws: ``RoutingError`` with `credits-unreadable`; `FileError`, with `settings-busy` too; `CancellationError`
    ///   before the change.
    func change<Result: Sendable>(
        _ change: @escaping @Sendable (inout CreditBook) -> Result
    ) async throws -> (result: Result, book: CreditBook) {
        try await LockedFile(path, fileSystem: fileSystem, time: time).change {
            let old = try read()
            var book = old
            let result = change(&book)
            return (book == old ? nil : try book.data(), (result, book))
        }
    }
}
