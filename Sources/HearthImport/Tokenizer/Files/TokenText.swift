/// The text of a token. Two texts are equal if their bytes are: to Swift's strings, `é` in one character equals `é` in
/// two, but to a vocabulary they are two tokens.
struct TokenText: Hashable, Sendable, CustomStringConvertible {
    let text: String

    init(_ text: String) { self.text = text }

    var byteCount: Int { text.utf8.count }

    var description: String { text }

    static func == (left: Self, right: Self) -> Bool {
        left.text.utf8.count == right.text.utf8.count && left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        let isHashed: Void? = text.utf8.withContiguousStorageIfAvailable {
            hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        if isHashed == nil { text.utf8.forEach { hasher.combine($0) } }
    }

    static func + (left: Self, right: Self) -> Self { TokenText(left.text + right.text) }
}
