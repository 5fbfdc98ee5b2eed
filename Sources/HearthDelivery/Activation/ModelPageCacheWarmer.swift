import Foundation
import HearthBase

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Asks the system to read the head of a model file ahead of the engine that is about to open it; of a model that is a folder,
/// the files in it.
///
/// A hint and nothing more: whatever speaks against it is quietly no advice, never an error. Called once after a release is
/// installed and once before it is loaded; any thread and any number of callers may do so at once.
public enum ModelPageCacheWarmer {
    /// What is asked for unless the caller says otherwise: 64 MiB.
    public static let usualBytes: UInt64 = 64 << 20
    /// The most that is ever asked for, 128 MiB: more would push out what other apps have in memory.
    public static let maximumBytes: UInt64 = 128 << 20

    /// Linux reads no more for one piece of advice than the device takes at once (8 MiB of 64 where this was measured, 128
    /// KiB by the least default); so the head is asked for in steps of that.
    private static let step: UInt64 = 128 << 10

    /// Asks for the first bytes of a file, or of the files in a folder and below it, the smallest first: an engine reads all of
    /// those before it maps the weights. Runs off the cooperative pool.
    ///
    /// - Parameters:
    ///   - file: the file or folder an engine will open; no link in a folder is followed.
    ///   - root: the folder of the store; a file that leads out of it through symbolic links is left alone.
    ///   - bytes: how many to ask for in all, at most ``maximumBytes``.
    /// - Returns: the bytes the system was asked for; 0 where the file is missing, empty, neither a regular file nor a folder,
    ///   outside of `root`, or the system takes no advice.
    @discardableResult
    public static func hint(file: Path, below root: Path, bytes: UInt64 = usualBytes) async -> UInt64 {
        do {
            let advised = try await blocking { try advise(file, below: root, bytes: min(bytes, maximumBytes)) }
            Log.write(.debug, "delivery.cache", "asked for the first \(advised) bytes of \(file)")
            return advised
        } catch {
            return 0
        }
    }

    private static func advise(_ file: Path, below root: Path, bytes: UInt64) throws -> UInt64 {
        guard let target = resolve(file), let folder = resolve(root), leads(target, below: folder) else { return 0 }
        let disk = LocalFileSystem()
        let path = Path(target)
        guard try disk.status(at: path, followLinks: false)?.kind == .folder else { return advise(target, bytes) }
        let files = try disk.files(below: path).compactMap { name -> (path: Path, size: UInt64)? in
            let file = Path("\(target)/\(name)")
            return try disk.status(at: file, followLinks: false).map { (file, $0.size) }
        }
        return files.sorted { $0.size < $1.size }.reduce(0) { $0 + advise($1.path.string, bytes - $0) }
    }

    private static func advise(_ target: String, _ bytes: UInt64) -> UInt64 {
        // Should a link have taken its place since, it is not followed; a named pipe does not wait for a writer.
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

    /// The path without any symbolic link; `nil` if it leads nowhere.
    private static func resolve(_ path: Path) -> String? {
        // The system's text would end at a NUL and name another file.
        guard !path.string.utf8.contains(0), let resolved = realpath(path.string, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Whether `target` lies below `folder`, name by name: `/models-of-others` is not below `/models`.
    private static func leads(_ target: String, below folder: String) -> Bool {
        let names = target.utf8.split(separator: UInt8(ascii: "/"))
        let above = folder.utf8.split(separator: UInt8(ascii: "/"))
        return names.count > above.count && zip(names, above).allSatisfy { $0.elementsEqual($1) }
    }
}
