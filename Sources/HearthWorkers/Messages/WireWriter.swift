/// Writes values as bytes for the process at the other end: numbers in little endian, lengths before contents.
struct WireWriter {
    private(set) var bytes: [UInt8] = []

    mutating func write(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Counts and sizes travel in eight bytes, on every machine.
    mutating func write(_ value: Int) { write(Int64(value)) }

    mutating func write(_ value: Bool) { write(UInt8(value ? 1 : 0)) }

    mutating func write(_ value: Float) { write(value.bitPattern) }

    mutating func write(_ value: Double) { write(value.bitPattern) }

    /// Seconds or a rate, within the bounds that ``WireReader/amount()`` accepts.
    mutating func write(amount: Double) { write(amount > 0 ? min(max(amount, 1e-9), 1e9) : 0) }

    mutating func write(_ value: String) { write(Array(value.utf8)) }

    mutating func write(_ value: [UInt8]) {
        write(UInt32(value.count))
        bytes.append(contentsOf: value)
    }

    /// Numbers of one kind, copied as they lie in memory.
    mutating func write<Number: WireNumber>(numbers: [Number]) {
        write(UInt32(numbers.count))
        for number in numbers { write(number.pattern) }
    }

    mutating func write<Value>(_ value: Value?, _ each: (inout WireWriter, Value) -> Void) {
        write(value != nil)
        if let value { each(&self, value) }
    }

    mutating func write<Value>(_ values: [Value], _ each: (inout WireWriter, Value) -> Void) {
        write(UInt32(values.count))
        for value in values { each(&self, value) }
    }
}

/// A number of four bytes.
protocol WireNumber {
    var pattern: UInt32 { get }
    init(pattern: UInt32)
}

extension Int32: WireNumber {
    var pattern: UInt32 { UInt32(bitPattern: self) }
    init(pattern: UInt32) { self.init(bitPattern: pattern) }
}

extension Float: WireNumber {
    var pattern: UInt32 { bitPattern }
    init(pattern: UInt32) { self.init(bitPattern: pattern) }
}
