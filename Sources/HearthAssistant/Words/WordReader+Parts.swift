extension WordReader {
    /// The endings of words such as `Montagabend`.
    static let germanParts: [(String, DayPart)] = [
        ("vormittag", .forenoon), ("nachmittag", .afternoon), ("mittag", .noon), ("abend", .evening),
        ("morgen", .morning),
    ]

    private static let english: [String: DayPart] = [
        "morning": .morning, "noon": .noon, "afternoon": .afternoon, "evening": .evening, "night": .evening,
    ]
    private static let german: [String: DayPart] = [
        "morgen": .morning, "früh": .morning, "vormittag": .forenoon, "mittag": .noon, "nachmittag": .afternoon,
        "abend": .evening, "nacht": .thisNight,
    ]
    private static let germanAdverbs: [String: DayPart] = [
        "morgens": .morning, "früh": .morning, "vormittags": .forenoon, "mittags": .noon, "nachmittags": .afternoon,
        "abends": .evening, "nachts": .night,
    ]

    /// A part of the day behind a day: `tomorrow morning`, `heute Abend`, and that within `Montagabend`.
    func partAfterDay(_ index: Int) -> (DayPart, Int)? {
        if language == .english {
            if let part = Self.english[word(index)], !isCapital(index) { return (part, index + 1) }
            if let end = after(index, "in", "the"), let part = Self.english[word(end)], word(end) != "noon" {
                return (part, end + 1)
            }
            return after(index, "at", "night").map { (.night, $0) }
        }
        let before = word(index - 1)
        for (ending, part) in Self.germanParts where before.count > ending.count && before.hasSuffix(ending) {
            if vocabulary.weekdays[String(before.dropLast(ending.count))] != nil { return (part, index) }
        }
        if let part = Self.german[word(index)] ?? Self.germanAdverbs[word(index)] { return (part, index + 1) }
        guard isAny(index, ["am", "zu"]), let part = Self.german[word(index + 1)], word(index + 1) != "früh" else {
            return nil
        }
        return word(index) == "am" ? (part, index + 2) : nil
    }

    /// A part of the day behind a time: `nine in the evening`, `3 Uhr nachts`.
    func partAfterClock(_ index: Int) -> (DayPart, Int)? {
        if language == .english {
            if let end = after(index, "in", "the"), let part = Self.english[word(end)], word(end) != "noon" {
                return (part, end + 1)
            }
            return after(index, "at", "night").map { (.night, $0) }
        }
        if let part = Self.germanAdverbs[plain(index)] { return (part, index + 1) }
        if isAny(index, ["am"]), let part = Self.german[word(index + 1)], part != .thisNight {
            return (part, index + 2)
        }
        if let end = after(index, "in", "der"), isAny(end, ["früh", "nacht"]) {
            return (word(end) == "nacht" ? .night : .morning, end + 1)
        }
        return nil
    }

    /// A part of the day without a day before it: `this evening`, `tonight`, `am Abend`.
    func partWords(_ index: Int) -> Found? {
        if language == .english {
            if plain(index) == "tonight" { return Found(said: Said(day: .relative(0), part: .evening), end: index + 1) }
            if plain(index) == "this", let part = Self.english[word(index + 1)], word(index + 1) != "noon" {
                return Found(said: Said(day: .relative(0), part: part), end: index + 2)
            }
            if let end = after(index, "in", "the"), let part = Self.english[word(end)],
                !["noon", "night"].contains(word(end))
            {
                return Found(said: Said(part: part), end: end + 1)
            }
            return nil
        }
        guard isAny(index, ["am", "diesen"]), let part = Self.german[word(index + 1)],
            isCapital(index + 1) || isEnd(index + 2)
        else { return nil }
        let day: SaidDay? = word(index) == "diesen" ? .relative(0) : nil
        return Found(said: Said(day: day, part: part), end: index + 2)
    }
}
