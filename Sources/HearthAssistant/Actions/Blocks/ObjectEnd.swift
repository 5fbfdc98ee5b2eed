/// Finds the end of a JSON object byte by byte: nested brackets, strings and escapes.
struct ObjectEnd: Sendable {
    enum Progress {
        case inside
        case ended
        /// A closing bracket of a list where an object is open: the object lacks its end.
        case broken
    }

    /// The open brackets.
    private var open: [UInt8] = []
    private var isString = false
    private var isEscaped = false

    /// Reads a byte; the first is the opening brace.
    mutating func take(_ byte: UInt8) -> Progress {
        if isString {
            if isEscaped {
                isEscaped = false
            } else if byte == 0x5C {
                isEscaped = true
            } else if byte == 0x22 {
                isString = false
            }
            return .inside
        }
        switch byte {
        case 0x22: isString = true
        case 0x7B, 0x5B: open.append(byte)
        case 0x7D:
            // A list that lacks its end ends with the object around it.
            while open.last == 0x5B { open.removeLast() }
            open.removeLast()
            if open.isEmpty { return .ended }
        case 0x5D:
            guard open.last == 0x5B else { return .broken }
            open.removeLast()
        default: break
        }
        return .inside
    }
}
