import HearthBase
import HearthCatalog

/// A row of the table of settings. Files, commands, their help, the page and the documentation come from the table.
package struct Setting: Sendable {
    /// The part of the product that a setting belongs to, and that an invalid value of it stops.
    package enum Part: Sendable, Hashable {
        case sources, network, gateway, models, answers, engines, cloud, upstreams, assistant, server
    }

    /// A family of settings, such as `origins.NAME` or `stores.KIND.own`.
    struct Members: Sendable {
        /// The beginning of the keys, with its dot.
        let prefix: String
        /// The end of the keys, with its dot; empty for keys that end with the name.
        let suffix: String
        /// The form of names that users choose; `nil` for given names.
        let form: SettingName?
        let names: @Sendable (Configuration) -> [String]
        let row: @Sendable (_ name: String) -> Setting

        /// Whether users choose the names.
        var isOpen: Bool { form != nil }

        /// The name in a key; `nil` for a key of another family.
        func name(in key: String) -> String? {
            guard key.hasPrefix(prefix), key.hasSuffix(suffix), key.utf8.count > prefix.utf8.count + suffix.utf8.count
            else { return nil }
            return String(key.dropFirst(prefix.count).dropLast(suffix.count))
        }
    }

    /// The name in commands and files; of a family, a pattern such as `origins.NAME`.
    package private(set) var key: String
    package let type: SettingType
    package let range: ClosedRange<Double>?
    package let choices: [String]?
    package let unit: String?
    /// The value that an unset setting has; `nil` if ``note`` alone tells what holds.
    package let defaultText: String?
    /// What holds for an unset setting, in words.
    package let note: String?
    /// One sentence.
    package let summary: String
    /// Completes "must be …".
    let expectation: String
    fileprivate(set) var part = Part.models
    private(set) var members: Members?
    /// The text of the value; `nil` for the default.
    let read: @Sendable (Configuration) -> String?
    /// Checks a text and sets the value; `nil` sets the default.
    let write: @Sendable (inout Configuration, String?) throws -> Void
    /// The value that another setting brings with it.
    let implied: @Sendable (Configuration) -> String?
    /// Adapts other settings to a change.
    let changed: @Sendable (inout Configuration, _ before: Configuration) -> Void

    /// Whether a change opens the models anew.
    package var reopensModels: Bool { [.sources, .network, .gateway, .engines, .server].contains(part) }

    /// The allowed values for people: the choices, or the range with its unit.
    package var values: String {
        if let choices { return choices.joined(separator: ", ") }
        let words =
            switch (type, range) {
            case (.boolean, _): "true, false"
            case (_, let range?): "\(Int(range.lowerBound)) to \(Int(range.upperBound))"
            case (.text, nil): expectation
            default: type == .list ? "a list with commas" : "\(type == .address ? "an" : "a") \(type.rawValue)"
            }
        return unit.map { "\(words) \($0)" } ?? words
    }

    /// What holds for an unset setting, for people.
    package var unset: String { [defaultText, note].compactMap { $0 }.joined(separator: "; ") }

    /// A setting without a value of its own until it is set.
    init<Value>(
        _ key: String, optional field: any WritableKeyPath<Configuration, Value?> & Sendable,
        _ form: SettingForm<Value>,
        unit: String? = nil, default defaultText: String? = nil, unset note: String? = nil,
        implied: @escaping @Sendable (Configuration) -> String? = { _ in nil },
        changed: @escaping @Sendable (inout Configuration, Configuration) -> Void = { _, _ in }, _ summary: String
    ) {
        self.init(
            key, form, unit: unit, default: defaultText, unset: note, implied: implied, changed: changed, summary,
            read: { $0[keyPath: field].map(form.text) },
            write: { $0[keyPath: field] = try $1.map { try form.value($0, key) } })
    }

    /// A setting whose default is that of ``Configuration``.
    init<Value: Equatable>(
        _ key: String, _ field: any WritableKeyPath<Configuration, Value> & Sendable, _ form: SettingForm<Value>,
        unit: String? = nil, unset note: String? = nil, _ summary: String
    ) {
        let standard = Configuration()[keyPath: field]
        let text = form.text(standard)
        self.init(
            key, form, unit: unit, default: text.isEmpty ? nil : text, unset: note, implied: { _ in nil },
            changed: { _, _ in }, summary,
            read: { $0[keyPath: field] == standard ? nil : form.text($0[keyPath: field]) },
            write: { $0[keyPath: field] = try $1.map { try form.value($0, key) } ?? standard })
    }

    private init<Value>(
        _ key: String, _ form: SettingForm<Value>, unit: String?, default defaultText: String?, unset note: String?,
        implied: @escaping @Sendable (Configuration) -> String?,
        changed: @escaping @Sendable (inout Configuration, Configuration) -> Void, _ summary: String,
        read: @escaping @Sendable (Configuration) -> String?,
        write: @escaping @Sendable (inout Configuration, String?) throws -> Void
    ) {
        self.key = key
        type = form.type
        range = form.range
        choices = form.choices
        expectation = form.expectation
        self.unit = unit
        self.defaultText = defaultText
        self.note = note
        self.implied = implied
        self.changed = changed
        self.summary = summary
        self.read = read
        self.write = write
    }

    /// A family of settings.
    /// - Parameters:
    ///   - pattern: the keys with a word in place of the name, such as `stores.KIND.own`.
    ///   - form: the form of names that users choose; `nil` for given names.
    ///   - names: those of a configuration; the same for all configurations unless users choose them.
    static func family(
        _ pattern: String, named form: SettingName? = nil, _ names: @escaping @Sendable (Configuration) -> [String],
        _ row: @escaping @Sendable (String) -> Setting
    ) -> Setting {
        let prefix = pattern.prefix { $0 != "." } + "."
        let word = pattern.dropFirst(prefix.count).prefix { $0 != "." }
        var setting = row(String(word))
        setting.key = pattern
        setting.members = Members(
            prefix: String(prefix), suffix: String(pattern.dropFirst(prefix.count + word.count)), form: form,
            names: names, row: row)
        return setting
    }

    /// Rows of one part.
    static func rows(_ part: Part, _ rows: [Setting]) -> [Setting] {
        rows.map { row in
            var row = row
            row.part = part
            return row
        }
    }

    private func member(_ name: String) -> Setting? {
        var row = members?.row(name)
        row?.part = part
        return row
    }
}

/// The form of the names that users choose for members of a family of settings.
struct SettingName: Sendable {
    /// Completes "must be …".
    let expectation: String
    let isAllowed: @Sendable (String) -> Bool

    /// Names such as those of origins.
    static let plain = SettingName(expectation: "named with small letters, digits, '.', '-' and '_'") {
        Family($0) != nil
    }

    /// Names that programs use for models, such as `gpt-5.5` or `org/Model:tag`.
    static let model = SettingName(
        expectation: "named with at most 128 letters, digits, '.', '-', '_', ':', '@' and '/'"
    ) { $0.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9._:@\/-]{0,127}/) != nil }
}

extension Setting {
    private static let single = Dictionary(
        uniqueKeysWithValues: table.filter { $0.members == nil }.map { ($0.key, $0) })
    private static let families = table.compactMap { row in row.members.map { (row: row, members: $0) } }

    /// The sections of the file: objects of settings.
    static let sections = Set(
        table.compactMap { row in row.key.contains(".") ? String(row.key.prefix { $0 != "." }) : nil })

    /// The keys of the table, those of families without chosen names in full.
    static let keys = table.flatMap { row in
        guard let members = row.members, !members.isOpen else { return [row.key] }
        return members.names(Configuration()).map { members.prefix + $0 + members.suffix }
    }

    /// The row of a key.
    /// - Throws: ``ConfigurationError`` with `unknown-setting`; with `invalid-configuration` for a name that no member of
    ///   a family can have.
    package static func named(_ key: String) throws -> Setting {
        if let row = single[key] { return row }
        for (row, members) in families {
            guard let name = members.name(in: key) else { continue }
            if let form = members.form, !form.isAllowed(name) {
                throw ConfigurationError.invalid(row.key, form.expectation, found: name)
            }
            if members.isOpen || members.names(Configuration()).contains(name), let member = row.member(name) {
                return member
            }
        }
        throw ConfigurationError.unknownKey(key)
    }

    /// The rows of a configuration: one for each member of a family.
    /// - Parameter patterns: whether families with chosen names have a row too.
    static func rows(of configuration: Configuration, patterns: Bool = false) -> [Setting] {
        table.flatMap { row in
            guard let members = row.members else { return [row] }
            return (patterns && members.isOpen ? [row] : []) + members.names(configuration).compactMap(row.member)
        }
    }

    /// The value of a member of the file as text; `nil` for one of another type.
    func text(of value: JSONValue) -> String? {
        switch value {
        case .string(let text): text
        case .number(let digits) where [.integer, .number, .text].contains(type): digits
        case .boolean(let flag) where type == .boolean: "\(flag)"
        default: nil
        }
    }

    /// The member of the file for a text.
    func json(_ text: String) -> JSONValue {
        switch type {
        case .integer, .number: .number(text)
        case .boolean: .boolean(text == "true")
        case .text, .choice, .list, .path, .address: .string(text)
        }
    }
}
