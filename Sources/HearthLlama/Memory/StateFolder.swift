#if Llama
    import Foundation
    import HearthBase

    /// The states in a folder, whichever model's and process's they are, beside files that are none. When each was used last
    /// is the date of its file.
    struct StateFolder {
        let path: Path
        let fileSystem: any FileSystem

        /// A file that begins as a state does.
        struct File {
            let path: Path
            let used: Date
            let bytes: UInt64
            /// Somebody is writing it, or was ended before it was whole.
            let isTemporary: Bool
        }

        /// The states of whatever maker and version, those used last first.
        func files() throws -> [File] {
            guard try fileSystem.status(at: path)?.kind == .folder else { return [] }
            return try fileSystem.contents(of: path).compactMap { name in
                let isTemporary = name.hasPrefix(".") && name.contains(StateFile.suffix + Path.temporaryMark)
                guard isTemporary || name.hasSuffix(StateFile.suffix), let component = PathComponent(name) else {
                    return nil
                }
                let file = path.appending(component)
                guard let status = try fileSystem.status(at: file, followLinks: false), status.kind == .file,
                    StateFile.isState(beginning(of: file, length: StateFile.magic.count))
                else { return nil }
                return File(path: file, used: status.modified, bytes: status.size, isTemporary: isTemporary)
            }
            .sorted { $0.used > $1.used }
        }

        /// The first bytes of a file; none of one that is just gone, or cannot be read and so may be anything.
        func beginning(of file: Path, length: Int) -> Data {
            do {
                let file = try fileSystem.open(file, .read)
                var data = Data(count: length)
                let count = try data.withUnsafeMutableBytes { try fileSystem.read(file, into: $0, at: 0) }
                return data.prefix(count)
            } catch let error as FileError where error.code == .notFound {
                return Data()
            } catch {
                Log.write(.warning, "memory", "left a file alone that may be a state: \(error)")
                return Data()
            }
        }

        /// Brings the folder within so many bytes: the states used last stay, as far as they fit. One that another process just
        /// wrote or used is thus the last to go.
        /// - Parameter spared: one that counts as used now.
        /// - Returns: those deleted.
        func trim(to limit: UInt64, sparing spared: Path? = nil) throws -> Set<Path> {
            let files = try files()
            var kept: UInt64 = 0
            var gone: Set<Path> = []
            for file in files.filter({ $0.path == spared }) + files.filter({ $0.path != spared }) {
                if file.bytes <= limit - kept {
                    kept += file.bytes
                } else {
                    delete(file.path)
                    gone.insert(file.path)
                }
            }
            return gone
        }

        /// Gives a state the date of now, by writing what is there.
        func touch(_ file: Path) {
            do {
                let open = try fileSystem.open(file, .readWrite)
                // One that somebody deleted in between was made anew.
                guard try fileSystem.status(of: open).size > 0 else { return delete(file) }
                try StateFile.magic.withUnsafeBytes { try fileSystem.write(open, $0, at: 0) }
            } catch {
                Log.write(.warning, "memory", "cannot date the state of a conversation: \(error)")
            }
        }

        func delete(_ file: Path) {
            do {
                try fileSystem.removeFile(file)
            } catch {
                Log.write(.warning, "memory", "cannot delete the state of a conversation: \(error)")
            }
        }
    }
#endif
