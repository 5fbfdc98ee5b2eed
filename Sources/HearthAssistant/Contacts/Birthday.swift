import HearthBase

/// The day of BDAY (RFC 6350 4.3.1), with or without a year.
package struct Birthday {
    /// `nil` for a birthday without a year.
    package let year: Int?
    package let month: Int
    package let day: Int

    /// `1980-02-29`, or `--02-29` without a year.
    package var text: String {
        "\(year.map { Self.padded($0, 4) } ?? "-")-\(Self.padded(month, 2))-\(Self.padded(day, 2))"
    }

    /// The value in a card: version 4 writes dates without hyphens.
    func value(ofVersion4 isVersion4: Bool) -> String {
        guard isVersion4 else { return text }
        return "\(year.map { Self.padded($0, 4) } ?? "--")\(Self.padded(month, 2))\(Self.padded(day, 2))"
    }

    /// Reads a line; `nil` for text, for a part of a date without a day, and for days that no calendar has.
    init?(_ line: ContentLine) {
        let (parameters, value) = VCardDecoding.value(line)
        guard let birthday = Birthday(value.trimmingWhitespace) else { return nil }
        // Apple's programs write a year for none, and name it.
        let omitted = parameters.first { $0.name == "X-APPLE-OMIT-YEAR" }?.values.first.flatMap { Int($0) }
        self =
            omitted != nil && omitted == birthday.year
            ? Birthday(year: nil, month: birthday.month, day: birthday.day) : birthday
    }

    /// Reads `1980-02-29`, `19800229`, `--02-29` or `--0229`, and what stands before the time of day in a date and time.
    package init?(_ text: String) {
        let date = text.prefix { !"Tt ".contains($0) }
        let shape = String(date.map { "0123456789".contains($0) ? "0" : $0 })
        guard ["0000-00-00", "00000000", "--00-00", "--0000"].contains(shape),
            let number = Int(date.filter { $0 != "-" })
        else { return nil }
        let year = date.hasPrefix("-") ? nil : number / 10_000
        let (month, day) = (number / 100 % 100, number % 100)
        guard CivilDate.days(year: year ?? 2000, month: month, day: day) != nil else { return nil }
        self.init(year: year, month: month, day: day)
    }

    private init(year: Int?, month: Int, day: Int) { (self.year, self.month, self.day) = (year, month, day) }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
