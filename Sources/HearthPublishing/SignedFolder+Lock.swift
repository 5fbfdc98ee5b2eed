import HearthBase

extension SignedFolder {
    /// Takes the lock that publishers of the folder take.
    /// - Throws: ``PublishingError`` with `publisher-busy`; `FileError`.
    package func lock() throws -> FileLock {
        try fileSystem.makeFolders(folder)
        guard let lock = try FileLock.tryAcquire(folder.appending(".publish.lock")) else {
            throw PublishingError(
                .publisherBusy, "another process publishes to \(folder) now",
                context: ErrorContext(file: folder.string, remedy: "Try again when it is done."), disposition: .tryLater
            )
        }
        return lock
    }
}
