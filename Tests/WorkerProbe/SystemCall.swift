import Foundation

/// System calls by number, because most of them have no function in Swift.
enum SystemCall {
    private typealias Function = @convention(c) (Int, Int, Int, Int, Int, Int, Int) -> Int

    /// Performs a call.
    /// - Parameter words: its number and arguments: numbers, `parent` for the parent's process identifier, `self` for the
    ///   own, `/…` for a path, `zeros` for the address of zero bytes.
    /// - Returns: the value of `errno`, 0 for success.
    static func perform(_ words: [String]) -> Int32 {
        result(words) < 0 ? errno : 0
    }

    /// Performs a call.
    /// - Returns: its result.
    static func result(_ words: [String]) -> Int {
        guard let symbol = dlsym(nil, "syscall") else { return -1 }
        let function = unsafeBitCast(symbol, to: Function.self)
        var numbers = words.map(value)
        numbers += [Int](repeating: 0, count: max(0, 7 - numbers.count))
        return function(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6])
    }

    private static func value(_ word: String) -> Int {
        switch word {
        case "parent": Int(getppid())
        case "self": Int(getpid())
        case "zeros": Int(bitPattern: calloc(1, 4096))
        case let path where path.hasPrefix("/"): Int(bitPattern: strdup(path))
        default: Int(word) ?? 0
        }
    }
}
