/// A card whose lines are being replaced. Places are those of the card before the first change.
struct ContactDraft {
    let before: VCard.Decoded
    let encoding: VCardEncoding
    private let original: ContentComponent
    /// The items in the place of each item of the card; the last one is for new lines.
    private var slots: [[ContentComponent.Item]]
    /// The groups in use, in lower case.
    private var groups: Set<String>

    init(_ card: ContentComponent) {
        original = card
        before = VCard.decoded(card)
        encoding = VCardEncoding(card)
        slots = card.items.map { [$0] } + [[]]
        groups = Set(card.lines.compactMap { $0.group?.lowercased() })
    }

    /// The card with its changes.
    var card: ContentComponent {
        var card = original
        card.items = Array(slots.joined())
        return card
    }

    /// The place of new lines.
    var end: Int { slots.count - 1 }

    /// The line at a place before the changes; `nil` for an inner component.
    func line(at place: Int) -> ContentLine? {
        original.items[place].asLine
    }

    mutating func put(_ lines: [ContentLine], at place: Int) { slots[place] = lines.map { .line($0) } }

    mutating func append(_ line: ContentLine) { slots[end].append(.line(line)) }

    // MARK: - Texts

    mutating func setName(_ name: String) {
        let place = before.name ?? original.items.firstIndex { $0.asLine?.name == "FN" }
        write("FN", encoding.escaped(name), at: place.map { [$0] } ?? [])
        // The parts belong to the name before.
        let parts = encoding.line("N", value: encoding.escaped(name) + ";;;;")
        if let place = original.items.firstIndex(where: { $0.asLine?.name == "N" }) {
            put([parts], at: place)
        } else {
            append(parts)
        }
    }

    mutating func setNicknames(_ nicknames: [String]) {
        write("NICKNAME", nicknames.map(encoding.escaped).joined(separator: ","), at: before.nicknames)
    }

    mutating func setOrganization(_ organization: String) {
        // Other lines are the same organization in other languages.
        let places = organization.isEmpty ? before.organizations : Array(before.organizations.prefix(1))
        write("ORG", encoding.escaped(organization), at: places)
    }

    mutating func setNote(_ note: String) { write("NOTE", encoding.escaped(note), at: before.notes) }

    mutating func setBirthday(_ day: Birthday?) {
        write("BDAY", day?.value(ofVersion4: encoding.isVersion4) ?? "", at: before.birthdays)
    }

    /// Writes a value into the line at the first place, or into a new one, and removes the other lines; an empty value
    /// removes them all.
    private mutating func write(_ name: String, _ value: String, at places: [Int]) {
        for place in places { put([], at: place) }
        guard !value.isEmpty else { return }
        if let place = places.first, let line = line(at: place) {
            put([encoding.line(like: line, name, value: value)], at: place)
        } else {
            append(encoding.line(name, value: value))
        }
    }

    // MARK: - Groups

    /// Whether a group joins more lines than one and its labels.
    func isShared(_ group: String) -> Bool {
        original.lines.filter { $0.group?.lowercased() == group.lowercased() && !$0.name.hasPrefix("X-AB") }.count > 1
    }

    /// The name of a group that no line has.
    mutating func newGroup() -> String {
        var number = 1
        while !groups.insert("item\(number)").inserted { number += 1 }
        return "item\(number)"
    }

    /// The line that labels a group.
    func labelLine(_ group: String, _ label: String) -> ContentLine {
        encoding.line("X-ABLabel", value: encoding.escaped(label), group: group)
    }

    /// Writes another label into the lines that label a group; `nil` removes them.
    mutating func setLabel(_ label: String?, ofGroup group: String) {
        for place in before.labels[group.lowercased()]?.places ?? [] {
            put(label.map { [labelLine(group, $0)] } ?? [], at: place)
        }
    }
}
