import Foundation
import HearthBase
import HearthInference

/// The states of conversations, or of parts of them, that have no place in the context. They are in memory, or in files
/// of a folder, which outlive the model and the process.
///
/// A background thread reads, checks and writes the files; a state that waits for its writing is read from memory.
/// A folder may contain the states of several models and processes, and other files. Only files that begin like a
/// state are ever deleted: this model's broken ones, and the least recently used ones beyond the limit, of any
/// model.
final class StateCache: Sendable {
    /// The place of a state.
    enum Place: Sendable {
        case memory(StateFile)
        /// A file; `unwritten` until the background thread has written it.
        case file(Path, unwritten: StateFile?)

        fileprivate var path: Path? { if case .file(let path, _) = self { path } else { nil } }
    }

    /// The result of reading a kept state.
    enum Reading: Sendable, Hashable {
        case whole(StateFile)
        case gone
        /// The file differs from the one that was written.
        case damaged
        /// The disk or the system cannot read the file now; its content is unknown.
        case unreadable
    }

    private struct Contents {
        var limit: UInt64
        var places: [Int: Place] = [:]
        /// The numbers of states that could not be written, or whose files were deleted because of the limit.
        var lost: [Int] = []
        var unwrittenBytes: UInt64 = 0
        /// The numbers of the states that are being read from their files, until ``readings`` holds the results.
        var asked: [Int] = []
        var readings: [Int: Reading] = [:]

        mutating func stopReading() { (asked, readings) = ([], [:]) }
    }

    /// The most bytes of states that wait to be written; a single state may be larger.
    static let unwrittenLimit: UInt64 = 128 << 20

    private let folder: StateFolder?
    private let contents: Locked<Contents>
    private let queue = BackgroundQueue()

    /// Makes a cache.
    /// - Parameter limit: the most bytes of all states, with those of other models in the folder; 0 keeps none and
    ///   leaves a folder unchanged.
    init(folder: Path?, limit: UInt64, fileSystem: any FileSystem = LocalFileSystem()) {
        self.folder = folder.map { StateFolder(path: $0, fileSystem: fileSystem) }
        contents = Locked(Contents(limit: limit))
    }

    /// Makes a cache in a folder that belongs to one model: files in it that the model cannot use are deleted.
    init(ownFolder folder: Path, limit: UInt64, fileSystem: any FileSystem = LocalFileSystem()) {
        self.folder = StateFolder(path: folder, fileSystem: fileSystem, isOwn: true)
        contents = Locked(Contents(limit: limit))
    }

    /// Whether saved states still exist after the model is unloaded.
    var outlivesTheModel: Bool { folder != nil }

    /// The most bytes of all states.
    var limit: UInt64 {
        get { contents.withLock { $0.limit } }
        set { contents.withLock { $0.limit = newValue } }
    }

    /// The place for a new state; `nil` for a state above the limit, or while too many bytes wait to be written.
    /// - Parameter isNext: whether it is a further part of a conversation whose saving has begun, for which the bytes that
    ///   wait do not count.
    func place(for state: StateFile, isNext: Bool = false) -> Place? {
        let bytes = state.byteCount
        guard bytes <= limit else { return nil }
        guard let folder else { return .memory(state) }
        // In a folder of the model's own, two processes that save the same tokens write one file. The other names are in the
        // order of the conversation's parts.
        let mark =
            folder.isOwn
            ? state.digestOfTokens.description
            : String(format: "%08d-", state.tokens.count) + UUID().uuidString.lowercased()
        guard let name = PathComponent(mark + StateFile.suffix) else { return nil }
        let fits = contents.withLock { contents in
            let sum = contents.unwrittenBytes + bytes
            guard isNext || contents.unwrittenBytes == 0 || sum <= Self.unwrittenLimit else { return false }
            contents.unwrittenBytes = sum
            return true
        }
        guard fits else {
            Log.write(.info, "memory", "the state of a conversation is not saved: the disk is too slow")
            return nil
        }
        return .file(folder.path.appending(name), unwritten: state)
    }

    /// Stores a state under a number; a new one in a folder is written to its file.
    func keep(_ place: Place, as number: Int) {
        contents.withLock { $0.places[number] = place }
        guard let folder, case .file(let path, let state?) = place else { return }
        queue.add { [self] in
            defer { contents.withLock { $0.unwrittenBytes -= state.byteCount } }
            guard contents.withLock({ $0.places[number] != nil }) else { return }
            let isWritten = folder.write(state, to: path)
            let isDeleted = contents.withLock { contents in
                guard contents.places[number] != nil else { return true }
                contents.places[number] = isWritten ? .file(path, unwritten: nil) : nil
                if !isWritten { contents.lost.append(number) }
                return false
            }
            guard isWritten else { return }
            if isDeleted { return folder.delete(path) }
            let gone = trim(sparing: number)
            contents.withLock { $0.lost += gone }
        }
    }

    /// Returns and removes the numbers of lost states.
    func takeLost() -> [Int] {
        contents.withLock { contents in
            defer { contents.lost = [] }
            return contents.lost
        }
    }

    /// Marks the files of states as used now, the last one first: the beginning of conversations is then the newest, and
    /// deleted last.
    func date(_ numbers: [Int]) {
        guard let folder else { return }
        queue.add { [self] in
            for number in numbers.reversed() {
                guard case .file(let path, nil)? = contents.withLock({ $0.places[number] }) else { continue }
                folder.touch(path)
            }
        }
    }

    /// Reads the states of a conversation.
    /// - Parameters:
    ///   - numbers: the states, the beginning first.
    ///   - isDated: whether the files count as used now.
    ///   - onRead: called on the background thread after files are read; then call this function again.
    /// - Returns: `nil` while states are read from their files. Those of one conversation are read at a time.
    func read(_ numbers: [Int], isDated: Bool = true, onRead: @escaping @Sendable () -> Void) -> [Reading]? {
        let (known, isNew) = contents.withLock { contents -> ([Reading]?, Bool) in
            let known = numbers.map { number -> Reading? in
                switch contents.places[number] {
                case nil: .gone
                case .memory(let state), .file(_, unwritten: let state?): .whole(state)
                case .file(_, nil): contents.asked == numbers ? contents.readings[number] : nil
                }
            }
            guard known.contains(where: { $0 == nil }) else {
                // Removed with the first call, because whole states may be large.
                if contents.asked == numbers { contents.stopReading() }
                return (known.compactMap { $0 }, false)
            }
            if contents.asked == numbers { return (nil, false) }
            (contents.asked, contents.readings) = (numbers, [:])
            return (nil, true)
        }
        guard let folder, isNew else { return known }
        queue.add { [self] in
            var readings: [Int: Reading] = [:]
            // The beginning is read last, and so has the newest date. States that waited to be written are in files now.
            for number in numbers.reversed() {
                guard case .file(let path, nil)? = contents.withLock({ $0.places[number] }) else { continue }
                readings[number] = folder.read(path, isDated: isDated)
            }
            contents.withLock { if $0.asked == numbers { $0.readings = readings } }
            onRead()
        }
        return nil
    }

    /// Records that llama.cpp has read a state whole.
    func didRestore(_ number: Int) {
        guard let folder, folder.isOwn, case .file(let path, nil)? = contents.withLock({ $0.places[number] })
        else { return }
        queue.add { folder.putBack(path) }
    }

    /// Forgets a state and leaves its file to other processes.
    func leave(_ number: Int) { _ = remove(number) }

    /// Deletes a found state of which nothing can be used.
    func delete(_ place: Place) {
        guard let folder, case .file(let path, nil) = place else { return }
        queue.add { folder.delete(path) }
    }

    /// Deletes a state, and its file if it was written.
    func delete(_ number: Int) {
        guard case .file(let path, nil) = remove(number), let folder else { return }
        queue.add { folder.delete(path) }
    }

    private func remove(_ number: Int) -> Place? {
        contents.withLock { contents in
            if contents.asked.contains(number) { contents.stopReading() }
            return contents.places.removeValue(forKey: number)
        }
    }

    /// Blocks until all requested file changes are made.
    func settle() { queue.settle() }

    /// The saved states with the same maker, the least recently used first. Broken ones are deleted, and all others in a
    /// folder of the model's own. Blocks.
    func found(maker: String, window: Int) -> [(place: Place, tokens: [TokenID], start: Int, bytes: UInt64)] {
        guard let folder, limit > 0 else { return [] }
        return list { try folder.files() }.reversed().compactMap { file in
            guard !file.isTemporary else { return nil }
            let front = folder.beginning(of: file.path, length: StateFile.frontLength(tokens: window))
            switch StateFile.front(of: front, size: file.bytes, maker: maker, window: window) {
            case .foreign where !folder.isOwn: return nil
            case .foreign, .broken:
                folder.delete(file.path)
                return nil
            case .usable(let tokens, let start): return (.file(file.path, unwritten: nil), tokens, start, file.bytes)
            }
        }
    }

    /// Deletes files until the folder is within the limit. Blocks.
    /// - Parameter spared: the number of the state written last.
    /// - Returns: the numbers of the deleted states.
    func trim(sparing spared: Int? = nil) -> [Int] {
        let limit = limit
        guard let folder, limit > 0 else { return [] }
        let path = contents.withLock { contents in spared.flatMap { contents.places[$0]?.path } }
        let gone = list { try folder.trim(to: limit, sparing: path) }
        return contents.withLock { contents in
            let numbers = contents.places.filter { $0.value.path.map(gone.contains) ?? false }.map(\.key)
            for number in numbers { contents.places[number] = nil }
            return numbers.sorted()
        }
    }

    private func list<Files: ExpressibleByArrayLiteral>(_ body: () throws -> Files) -> Files {
        do {
            return try body()
        } catch {
            Log.write(.warning, "memory", "cannot list the states of conversations: \(error)")
            return []
        }
    }
}
