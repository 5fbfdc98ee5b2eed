#if Llama
    import Foundation
    import HearthBase
    import HearthInference

    /// Where the states of conversations wait that have no place in the context: in memory, or as files of a folder, where
    /// they outlive the model and the process.
    ///
    /// A folder may have the states of several models and processes, and files that are no states. Only files that begin as a
    /// state does are ever deleted: this model's broken ones, and the least recently used beyond the limit, whosever they are.
    final class StateShelf {
        fileprivate enum Place {
            case memory(StateFile)
            case file(Path)

            var path: Path? {
                switch self {
                case .memory: nil
                case .file(let path): path
                }
            }
        }

        private let folder: StateFolder?
        /// The bytes that all states may take.
        var limit: UInt64
        private var places: [Int: Place] = [:]

        /// - Parameter limit: the bytes that all states may take, those of others in the folder among them; 0 for a shelf that is
        ///   not used, which leaves a folder as it is.
        init(folder: Path?, limit: UInt64, fileSystem: any FileSystem = LocalFileSystem()) {
            self.folder = folder.map { StateFolder(path: $0, fileSystem: fileSystem) }
            self.limit = limit
        }

        /// Whether what is saved is still there when the model is loaded again.
        var outlivesTheModel: Bool { folder != nil }

        /// Writes a state down, or keeps it.
        /// - Returns: how to find it, and its bytes; `nil` when it alone is beyond the limit, or the disk refuses.
        func write(_ state: StateFile) -> (place: Written, bytes: UInt64)? {
            guard state.byteCount <= limit else { return nil }
            guard let folder else { return (Written(place: .memory(state)), state.byteCount) }
            let fileSystem = folder.fileSystem
            let name = UUID().uuidString.lowercased() + StateFile.suffix
            guard let component = PathComponent(name) else { return nil }
            let path = folder.path.appending(component)
            do {
                try fileSystem.makeFolders(folder.path, permissions: 0o700)
                let temporary = folder.path.appendingTemporary(besides: name)
                let file = try fileSystem.open(temporary, .createNew, permissions: 0o600)
                do {
                    try state.write(to: file, fileSystem)
                    try fileSystem.rename(temporary, to: path)
                } catch {
                    try fileSystem.removeFile(temporary)
                    throw error
                }
                return (Written(place: .file(path)), state.byteCount)
            } catch {
                Log.write(.warning, "memory", "cannot save the state of a conversation: \(error)")
                return nil
            }
        }

        /// A state that is written and has no number yet.
        struct Written {
            fileprivate let place: Place
        }

        /// Gives a written state its number.
        func keep(_ written: Written, as number: Int) { places[number] = written.place }

        /// What became of a state that was kept.
        enum Reading: Sendable, Hashable {
            /// It is used then.
            case whole(StateFile)
            case gone
            /// Not as it was written.
            case damaged
            /// The disk or the system refuses for now, and nobody knows what the file holds.
            case unreadable
        }

        /// Reads a state.
        func read(_ number: Int) -> Reading {
            switch places[number] {
            case .memory(let state): return .whole(state)
            case .file(let path):
                guard let folder else { return .gone }
                do {
                    guard let status = try folder.fileSystem.status(at: path), status.kind == .file else {
                        return .gone
                    }
                    let data = try folder.fileSystem.contents(ofFile: path, limit: Int(clamping: status.size))
                    guard let state = StateFile(decoding: data) else { return .damaged }
                    folder.touch(path)
                    return .whole(state)
                } catch let error as FileError where error.code == .notFound {
                    return .gone
                } catch {
                    Log.write(
                        .warning, "memory", "left the state of a conversation alone that cannot be read: \(error)")
                    return .unreadable
                }
            case nil: return .gone
            }
        }

        /// Looks for a state no more; its file stays for who can read it.
        func leave(_ number: Int) { places[number] = nil }

        /// Gives a state up.
        func delete(_ number: Int) {
            guard let path = places.removeValue(forKey: number)?.path else { return }
            folder?.delete(path)
        }

        /// What an earlier model of the same making left, the least recently used first.
        func found(maker: String, window: Int) -> [(written: Written, tokens: [TokenID], bytes: UInt64)] {
            guard let folder, limit > 0 else { return [] }
            return list { try folder.files() }.reversed().compactMap { file in
                guard !file.isTemporary else { return nil }
                let front = folder.beginning(of: file.path, length: StateFile.frontLength(tokens: window))
                switch StateFile.front(of: front, size: file.bytes, maker: maker, window: window) {
                case .foreign: return nil
                case .broken:
                    folder.delete(file.path)
                    return nil
                case .usable(let tokens): return (Written(place: .file(file.path)), tokens, file.bytes)
                }
            }
        }

        /// Brings the folder within the limit.
        /// - Parameter spared: the number of the state that was written last.
        /// - Returns: the numbers of those that are gone.
        func trim(sparing spared: Int? = nil) -> [Int] {
            guard let folder, limit > 0 else { return [] }
            let gone = list { try folder.trim(to: limit, sparing: spared.flatMap { places[$0]?.path }) }
            let numbers = places.filter { $0.value.path.map(gone.contains) ?? false }.map(\.key)
            for number in numbers { places[number] = nil }
            return numbers.sorted()
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
#endif
