import Foundation

/// Asks the system to read the beginning of a model file before an engine opens it.
///
/// It is only a hint: if it is not possible, the call has no effect. Called once after a release is installed and once
/// before it is loaded; any number of threads may call it at the same time.
public enum ModelPageCacheWarmer {
    /// The default size of a hint: 64 MiB.
    package static let defaultBytes: UInt64 = 64 << 20
    /// The largest size of a hint, 128 MiB: a larger one would displace the data of other apps from memory.
    package static let maximumBytes: UInt64 = 128 << 20

    /// The size of one call. Linux reads at most as much for a call as the device accepts at once (8 MiB of 64 in a
    /// measurement; the lowest default is 128 KiB).
    private static let step: UInt64 = 128 << 10

    /// Asks the system to read the first bytes of a file. Runs off the cooperative pool.
    ///
    /// - Parameters:
    ///   - file: the file an engine will open.
    ///   - root: the folder of the store; a file outside of it, after symbolic links are resolved, is skipped.
    ///   - bytes: the size of the hint, at most ``maximumBytes``.
    /// - Returns: the requested bytes; 0 if the file is missing, empty, not regular or outside of `root`, or if the
    ///   system does not support the hint.
    @discardableResult
    package static func hint(file: Path, below root: Path, bytes: UInt64 = defaultBytes) async -> UInt64 {
        let advised = await blocking { advise(file, below: root, bytes: min(bytes, maximumBytes)) }
        Log.write(.debug, "cache", "asked for the first \(advised) bytes of \(file)")
        return advised
    }

    /// Asks the system to read the first 64 MiB of a model file. Runs off the cooperative pool.
    /// - Parameters:
    ///   - fileURL: the file an engine will open.
    ///   - folder: the folder of the models; a file outside of it, after symbolic links are resolved, is skipped. By default
    ///     the file's own folder.
    /// - Returns: the requested bytes; 0 if the file is missing, empty, not regular or outside of the folder.
    @discardableResult
    public static func hint(fileURL: URL, below folder: URL? = nil) async -> UInt64 {
        let folder = folder ?? fileURL.deletingLastPathComponent()
        return await hint(file: Path(fileURL.path), below: Path(folder.path))
    }

    private static func advise(_ file: Path, below root: Path, bytes: UInt64) -> UInt64 {
        guard let target = resolve(file), let folder = resolve(root), leads(target, below: folder) else { return 0 }
        // A symbolic link that replaced the file is not followed, and opening a named pipe does not wait for a writer.
        let descriptor = open(target, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return 0 }
        let end = min(bytes, UInt64(max(0, facts.st_size)))
        var done: UInt64 = 0
        while done < end {
            let count = min(step, end - done)
            guard advise(descriptor, from: done, count: count) else { break }
            done += count
        }
        return done
    }

    private static func advise(_ descriptor: Int32, from start: UInt64, count: UInt64) -> Bool {
        #if canImport(Darwin)
        var range = radvisory(ra_offset: off_t(start), ra_count: Int32(count))
        return fcntl(descriptor, F_RDADVISE, &range) != -1
        #else
        return posix_fadvise(descriptor, off_t(start), off_t(count), POSIX_FADV_WILLNEED) == 0
        #endif
    }

    /// The path with all symbolic links resolved; `nil` if it does not exist.
    private static func resolve(_ path: Path) -> String? {
        // A NUL would end the C string, which would then be the name of another file.
        guard !path.string.utf8.contains(0), let resolved = realpath(path.string, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Whether `target` is below `folder`, name by name: `/models-of-others` is not below `/models`.
    private static func leads(_ target: String, below folder: String) -> Bool {
        let names = target.utf8.split(separator: UInt8(ascii: "/"))
        let above = folder.utf8.split(separator: UInt8(ascii: "/"))
        return names.count > above.count && zip(names, above).allSatisfy { $0.elementsEqual($1) }
    }
}
