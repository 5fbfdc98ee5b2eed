import HearthBase

extension Fields {
    /// The items of a list.
    /// - Parameter form: the form of the items for the description.
    package func items(_ key: String, of form: JSONForm = .any) throws(APIFailure) -> [JSONValue]? {
        guard let value = value(key, .list(form)) else { return nil }
        guard let items = value.items else { throw .invalid(name(key), "a list") }
        return items
    }

    /// The objects of a list.
    package func objects(_ key: String, atMost limit: Int = 100_000) throws(APIFailure) -> [Fields]? {
        guard let value = value(key, as: .objects(limit)) else { return nil }
        guard let items = value.items else { throw .invalid(name(key), "a list") }
        guard items.count <= limit else { throw .invalid(name(key), "a list of at most \(limit) objects") }
        var objects: [Fields] = []
        for (index, item) in items.enumerated() {
            objects.append(try object(item, "\(name(key))[\(index)]"))
        }
        return objects
    }

    /// A list of texts; one text counts as a list of one.
    package func strings(_ key: String, atMost limit: Int) throws(APIFailure) -> [String]? {
        guard let value = value(key, .either(.text, .list(.text, atMost: limit))) else { return nil }
        if let text = value.string { return [text] }
        let texts = value.items?.compactMap(\.string)
        guard let texts, texts.count == value.items?.count, texts.count <= limit else {
            throw .invalid(name(key), "a text or a list of at most \(limit) texts")
        }
        return texts
    }

    /// Refuses fields that are known and not served, if they have a value other than the neutral ones.
    package func refuse(_ names: [String: [JSONValue]]) throws(APIFailure) {
        for (key, neutral) in names.sorted(by: { $0.key < $1.key }) {
            guard let value = unrecorded(key) else { continue }
            if neutral.contains(value) || Self.equals(value, neutral) { continue }
            if let items = value.items, items.isEmpty { continue }
            if let members = value.members, members.isEmpty { continue }
            throw .notServed(name(key))
        }
    }

    /// Whether a number equals one of the neutral numbers in another spelling, such as `1.0` and `1`.
    private static func equals(_ value: JSONValue, _ neutral: [JSONValue]) -> Bool {
        guard case .number(let digits) = value, let number = Double(digits) else { return false }
        return neutral.contains { if case .number(let other) = $0 { Double(other) == number } else { false } }
    }
}
