/// The kind of a file by its first bytes, for messages about a file that is not the expected one.
package enum FileKind: Sendable, Hashable, CaseIterable {
    case empty, lfsPointer, webPage, gguf, oldGGML, safetensors, pytorch, zip, gzip, zstd, xz, bzip2, picture, pdf
    case xml, json

    /// The number of bytes that tell the kinds apart.
    package static let prefixLength = 64

    /// The kind of a file that begins with these bytes; `nil` for an unknown kind.
    package init?(beginning bytes: some Collection<UInt8>) {
        let bytes = Array(bytes.prefix(Self.prefixLength))
        guard !bytes.isEmpty else {
            self = .empty
            return
        }
        if let (_, kind) = Self.marks.first(where: { bytes.starts(with: $0.mark) }) {
            self = kind
        } else if bytes.count > 9, bytes[8] == UInt8(ascii: "{"), "\"} ".utf8.contains(bytes[9]),
            bytes[4..<8].allSatisfy({ $0 == 0 })
        {
            // The length of the JSON header that follows.
            self = .safetensors
        } else if let kind = Self.textKind(bytes) {
            self = kind
        } else {
            return nil
        }
    }

    /// The kind as a message names it: `it is a web page`.
    package var name: String {
        switch self {
        case .empty: "an empty file"
        case .lfsPointer: "a Git LFS pointer, which only stands for the file"
        case .webPage: "a web page"
        case .gguf: "a GGUF model"
        case .oldGGML: "a model in a format from before GGUF"
        case .safetensors: "a safetensors file"
        case .pytorch: "a PyTorch file"
        case .zip: "a ZIP archive"
        case .gzip: "compressed with gzip"
        case .zstd: "compressed with zstd"
        case .xz: "compressed with xz"
        case .bzip2: "compressed with bzip2"
        case .picture: "a picture"
        case .pdf: "a PDF document"
        case .xml: "an XML document"
        case .json: "a JSON document"
        }
    }

    /// What gives the file itself, if the kind tells it.
    package var remedy: String? {
        switch self {
        case .empty: "Its download was broken off: fetch it again."
        case .lfsPointer:
            "Fetch the file that it stands for: `git lfs pull` in the clone, or the download of the repository's page."
        case .webPage:
            "It came in place of the file: open the address in a browser, and take the link to the file itself."
        case .oldGGML, .safetensors, .pytorch:
            "Take the model's GGUF file, or convert it with llama.cpp's convert_hf_to_gguf.py."
        case .zip, .gzip, .zstd, .xz, .bzip2: "Unpack it first."
        case .gguf, .picture, .pdf, .xml, .json: nil
        }
    }

    private static let marks: [(mark: [UInt8], kind: Self)] = [
        (Array("version https://git-lfs.github.com/spec/".utf8), .lfsPointer),
        (Array("version https://hawser.github.com/spec/".utf8), .lfsPointer), (Array("GGUF".utf8), .gguf),
        (Array("lmgg".utf8), .oldGGML), (Array("fmgg".utf8), .oldGGML), (Array("tjgg".utf8), .oldGGML),
        (Array("algg".utf8), .oldGGML), ([0x80, 0x02], .pytorch), ([0x50, 0x4B, 0x03, 0x04], .zip),
        ([0x1F, 0x8B], .gzip), ([0x28, 0xB5, 0x2F, 0xFD], .zstd), ([0xFD, 0x37, 0x7A, 0x58, 0x5A], .xz),
        (Array("BZh".utf8), .bzip2), ([0xFF, 0xD8, 0xFF], .picture), ([0x89, 0x50, 0x4E, 0x47], .picture),
        (Array("GIF8".utf8), .picture), (Array("%PDF-".utf8), .pdf),
    ]

    /// The kind of a text that a byte-order mark and spaces may precede.
    private static func textKind(_ bytes: [UInt8]) -> Self? {
        let start = bytes.drop { [0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D].contains($0) }
        let text = String(decoding: start, as: UTF8.self).lowercased()
        if ["<!doctype html", "<html", "<head"].contains(where: text.hasPrefix) { return .webPage }
        if text.hasPrefix("<") { return .xml }
        return text.hasPrefix("{") || text.hasPrefix("[") ? .json : nil
    }
}
