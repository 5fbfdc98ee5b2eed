#if Llama
    import Foundation
    import HearthBase
    import HearthInference

    /// Where the states of conversations wait that have no place in the context: in memory, or as files of a folder, where
    /// they outlive the model and the process.
    final class StateShelf {
        fileprivate enum Place {
            case memory(StateFile)
            case file(Path)
        }

        private let folder: Path?
        private let fileSystem: any FileSystem
        private var places: [Int: Place] = [:]

        init(folder: Path?, fileSystem: any FileSystem = LocalFileSystem()) {
            self.folder = folder
            self.fileSystem = fileSystem
        }

        /// Whether what is saved is still there when the model is loaded again.
        var outlivesTheModel: Bool { folder != nil }

        /// Writes a state down, or keeps it.
        /// - Returns: how to find it, and its bytes; `nil` when the disk refuses.
        func write(_ state: StateFile) -> (place: Written, bytes: UInt64)? {
            guard let folder else {
                return (Written(place: .memory(state)), UInt64(state.state.count + state.tokens.count * 4))
            }
            let data = state.encoded
            let name = UUID().uuidString.lowercased() + StateFile.suffix
            guard let component = PathComponent(name) else { return nil }
            let path = folder.appending(component)
            do {
                try fileSystem.makeFolders(folder, permissions: 0o700)
                let temporary = folder.appendingTemporary(besides: name)
                let file = try fileSystem.open(temporary, .createNew, permissions: 0o600)
                do {
                    try data.withUnsafeBytes { try fileSystem.write(file, $0, at: 0) }
                    try fileSystem.rename(temporary, to: path)
                } catch {
                    try fileSystem.removeFile(temporary)
                    throw error
                }
                return (Written(place: .file(path)), UInt64(data.count))
            } catch {
                Log.write(.warning, "llama.memory", "cannot save the state of a conversation: \(error)")
                return nil
            }
        }

        /// A state that is written and has no number yet.
        struct Written {
            fileprivate let place: Place
        }

        /// Gives a written state its number.
        func keep(_ written: Written, as number: Int) { places[number] = written.place }

        /// Reads a state; `nil` if it is gone or damaged.
        func read(_ number: Int) -> StateFile? {
            switch places[number] {
            case .memory(let state): return state
            case .file(let path):
                do {
                    guard let status = try fileSystem.status(at: path), status.kind == .file else { return nil }
                    let limit = Int(clamping: status.size)
                    return StateFile(decoding: try fileSystem.contents(ofFile: path, limit: limit))
                } catch {
                    Log.write(.warning, "llama.memory", "cannot read the state of a conversation: \(error)")
                    return nil
                }
            case nil: return nil
            }
        }

        /// Gives a state up.
        func delete(_ number: Int) {
            guard case .file(let path)? = places.removeValue(forKey: number) else { return }
            delete(path)
        }

        private func delete(_ path: Path) {
            do {
                try fileSystem.removeFile(path)
            } catch {
                Log.write(.warning, "llama.memory", "cannot delete the state of a conversation: \(error)")
            }
        }

        /// What an earlier model of the same making left, the oldest first. Files that cannot be read are deleted.
        func found(maker: String, window: Int) -> [(written: Written, tokens: [TokenID], bytes: UInt64)] {
            guard let folder else { return [] }
            var found: [(date: Date, written: Written, tokens: [TokenID], bytes: UInt64)] = []
            do {
                guard try fileSystem.status(at: folder)?.kind == .folder else { return [] }
                for name in try fileSystem.contents(of: folder) where name.hasSuffix(StateFile.suffix) {
                    guard let component = PathComponent(name) else { continue }
                    let path = folder.appending(component)
                    guard let status = try fileSystem.status(at: path, followLinks: false), status.kind == .file
                    else { continue }
                    guard let front = try front(path, window: window) else {
                        delete(path)
                        continue
                    }
                    guard front.maker == maker else { continue }
                    found.append(
                        (status.modified, Written(place: .file(path)), front.tokens, status.size))
                }
            } catch {
                Log.write(.warning, "llama.memory", "cannot list the states of conversations: \(error)")
            }
            return found.sorted { $0.date < $1.date }.map { ($0.written, $0.tokens, $0.bytes) }
        }

        private func front(_ path: Path, window: Int) throws -> (maker: String, tokens: [TokenID])? {
            let file = try fileSystem.open(path, .read)
            var bytes = [UInt8](repeating: 0, count: StateFile.frontLength(tokens: window))
            let count = try bytes.withUnsafeMutableBytes { try fileSystem.read(file, into: $0, at: 0) }
            // A state of a larger window is of no use to this one.
            return StateFile.front(of: Data(bytes.prefix(count)), limit: window)
        }
    }
#endif
