extension ContactDraft {
    /// The two kinds of entries, by the names of their lines.
    enum Kind: String {
        case number = "TEL"
        case mail = "EMAIL"
    }

    /// The entries of the card.
    func entries(_ kind: Kind) -> [Contact.Entry] {
        kind == .number ? before.contact.numbers : before.contact.mails
    }

    /// Replaces the entries of a kind. An entry that stays keeps its line; one with another label or value keeps the rest
    /// of its line.
    mutating func set(_ entries: [Contact.Entry], of kind: Kind) {
        let wanted = entries.map(Self.trimmed).filter { !$0.value.isEmpty }
        let old = self.entries(kind).map(Self.trimmed)
        let places = kind == .number ? before.numbers : before.mails
        guard wanted != old else { return }
        let sources = Self.sources(of: wanted, among: old)
        for index in old.indices where !sources.contains(index) { remove(lineAt: places[index]) }
        // Entries in another order exchange their places; a new one follows the entry before it.
        var free = sources.compactMap { $0.map { places[$0] } }.sorted()[...]
        var (place, lines): (Int?, [ContentLine]) = (nil, [])
        for (entry, source) in zip(wanted, sources) {
            guard let source, let line = line(at: places[source]), let next = free.popFirst() else {
                lines += written(kind.rawValue, entry)
                continue
            }
            let changed = changed(kind.rawValue, line, from: old[source], to: entry)
            if let place {
                put(lines, at: place)
                lines = changed
            } else {
                lines += changed
            }
            place = next
        }
        if let place = place ?? places.first {
            put(lines, at: place)
        } else {
            for line in lines { append(line) }
        }
    }

    private static func trimmed(_ entry: Contact.Entry) -> Contact.Entry {
        Contact.Entry(label: entry.label.trimmingWhitespace.lowercased(), value: entry.value.trimmingWhitespace)
    }

    /// The old entry that each wanted one continues: the same, or one with the same value, or one with the same label.
    private static func sources(of wanted: [Contact.Entry], among old: [Contact.Entry]) -> [Int?] {
        var free = Array(old.indices)
        var sources = [Int?](repeating: nil, count: wanted.count)
        let comparisons: [(Contact.Entry, Contact.Entry) -> Bool] = [
            { $0 == $1 }, { $0.value == $1.value }, { $0.label == $1.label },
        ]
        for fits in comparisons {
            for index in wanted.indices where sources[index] == nil {
                guard let place = free.firstIndex(where: { fits(old[$0], wanted[index]) }) else { continue }
                sources[index] = free.remove(at: place)
            }
        }
        return sources
    }

    private mutating func remove(lineAt place: Int) {
        if let group = line(at: place)?.group, !isShared(group) { setLabel(nil, ofGroup: group) }
        put([], at: place)
    }

    /// The lines of a new entry.
    private mutating func written(_ name: String, _ entry: Contact.Entry) -> [ContentLine] {
        labelled(name, [], value: encoding.escaped(entry.value), group: nil, entry.label)
    }

    /// The lines of an entry with another label or value.
    private mutating func changed(
        _ name: String, _ line: ContentLine, from old: Contact.Entry, to new: Contact.Entry
    ) -> [ContentLine] {
        guard new != old else { return [line] }
        var (parameters, value) = VCardDecoding.value(line)
        if new.value != old.value {
            // The parts of `tel:…;ext=12` belong to the number before.
            (parameters, value) = (VCardEncoding.withoutForm(parameters), encoding.escaped(new.value))
        } else if VCardEncoding.isEncoded(parameters) {
            parameters = VCardEncoding.withoutForm(parameters)
        }
        let group = line.group
        let label = group.flatMap { before.labels[$0.lowercased()]?.text } ?? ""
        if new.label == old.label {
            return [encoding.line(name, parameters, value: value, group: group)]
        }
        guard let group, !label.isEmpty else {
            return labelled(name, parameters, value: value, group: group, new.label)
        }
        // The label of the other lines of the group stays.
        if isShared(group) { return labelled(name, parameters, value: value, group: nil, new.label) }
        setLabel(new.label.isEmpty ? nil : new.label, ofGroup: group)
        if new.label.isEmpty { parameters = Self.parameters(parameters, label: "") }
        return [encoding.line(name, parameters, value: value, group: group)]
    }

    /// A line with a label: as a type if it can be one, otherwise as the label of a group.
    private mutating func labelled(
        _ name: String, _ parameters: [ContentLine.Parameter], value: String, group: String?, _ label: String
    ) -> [ContentLine] {
        let isWord = label.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: "-")
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
        if isWord, label == "voice" || !VCard.silentTypes.contains(label) {
            return [encoding.line(name, Self.parameters(parameters, label: label), value: value, group: group)]
        }
        // A group with an empty label, or one that joins other lines, keeps them.
        let isFree = group.map { !isShared($0) && before.labels[$0.lowercased()] == nil } ?? false
        let own = isFree ? group ?? newGroup() : newGroup()
        return [encoding.line(name, parameters, value: value, group: own), labelLine(own, label)]
    }

    /// The parameters with a label in place of the type that is one now. Without a label no type stays that would be one.
    private static func parameters(
        _ parameters: [ContentLine.Parameter], label: String
    ) -> [ContentLine.Parameter] {
        var isWritten = label.isEmpty
        var result: [ContentLine.Parameter] = []
        for parameter in parameters {
            guard parameter.isType else {
                result.append(parameter)
                continue
            }
            var types: [String] = []
            for type in parameter.types {
                let word = type.lowercased()
                if word == "voice" {
                    guard !label.isEmpty else { continue }
                    isWritten = isWritten || label == word
                    types.append(type)
                } else if VCard.silentTypes.contains(word) {
                    types.append(type)
                } else if label.isEmpty || label == "voice" {
                    continue
                } else if !isWritten {
                    isWritten = true
                    types.append(label)
                } else if word != label {
                    types.append(type)
                }
            }
            if !types.isEmpty { result.append(.init(parameter.name, types)) }
        }
        if !isWritten { result.append(.init("TYPE", [label])) }
        return result
    }
}
