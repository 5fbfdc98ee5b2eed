import Foundation
import HearthBase

/// A folder of notes as Markdown files.
package enum NoteFolder {
    /// The largest file that is read as a note.
    private static let largestFile = 4 << 20

    /// Writes each note to a file in a folder. Files of the same names are replaced, others stay.
    /// - Returns: the names of the files, in the order of the notes.
    /// - Throws: `FileError`.
    package static func write(_ notes: [Note], to folder: Path) async throws -> [String] {
        try await blocking {
            let files = LocalFileSystem()
            try files.makeFolders(folder)
            let names = names(of: notes)
            for (note, name) in zip(notes, names) {
                try files.replaceContents(of: folder.joined(name), with: Data(NoteFile.text(of: note).utf8))
            }
            return names
        }
    }

    /// The names of the notes' files, different also where a file system ignores case. Of two notes with the same title,
    /// the second has its id in the name.
    static func names(of notes: [Note]) -> [String] {
        var taken: Set<String> = []
        return notes.map { note in
            let stem = NoteFile.name(of: note)
            let mark = SHA256Digest(hashing: Array(note.id.utf8)).hex
            var name = stem + ".md"
            var length = 8
            while !taken.insert(name.caselessKey).inserted {
                name = "\(stem) \(mark.prefix(length)).md"
                length += 8
            }
            return name
        }
    }

    /// Reads the Markdown files of a folder and of its folders, without hidden ones. Follows no link.
    /// - Returns: the notes, and the files that are no text of at most 4 MiB.
    /// - Throws: `FileError` if the folder cannot be read.
    package static func read(_ folder: Path) async throws -> (notes: [Note], unreadable: [String]) {
        try await blocking {
            let files = LocalFileSystem()
            var notes: [Note] = []
            var unreadable: [String] = []
            for name in try files.files(below: folder) where isNote(name) {
                let path = Path(folder.string + "/" + name)
                guard let status = try files.status(at: path, followLinks: false), status.kind == .file else {
                    continue
                }
                guard status.size <= largestFile,
                    let text = String(data: try files.contents(ofFile: path, limit: largestFile), encoding: .utf8)
                else {
                    unreadable.append(name)
                    continue
                }
                notes.append(NoteFile.note(from: text, path: name, modified: status.modified))
            }
            return (notes, unreadable)
        }
    }

    private static func isNote(_ name: String) -> Bool {
        name.lowercased().hasSuffix(".md") && !name.split(separator: "/").contains { $0.hasPrefix(".") }
    }
}

extension String {
    /// A key that is equal for names that a file system may take for the same.
    fileprivate var caselessKey: String { lowercased().precomposedStringWithCanonicalMapping }
}
