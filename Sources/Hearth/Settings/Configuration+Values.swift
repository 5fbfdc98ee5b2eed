import HearthBase

// MARK: - Settings by name

extension Configuration {
    /// The names of settings, for messages.
    public static var keys: [String] { Setting.keys }

    /// All settings that are set, in the order of the table.
    public var entries: [(key: String, value: String)] {
        Setting.rows(of: self).compactMap { row in setText(row).map { (key: row.key, value: $0) } }
    }

    /// The value of a setting as text, `nil` without one. A kind of cloud brings the values of `cloud.url` and
    /// `cloud.model`.
    /// - Throws: ``ConfigurationError`` with `unknown-setting`.
    public func value(of key: String) throws -> String? {
        let row = try Setting.named(key)
        return setText(row) ?? row.implied(self)
    }

    /// Checks and sets a value; `nil` removes the setting, an invalid one of the file too.
    /// - Throws: ``ConfigurationError`` with `unknown-setting` or `invalid-configuration`.
    public mutating func set(_ key: String, to text: String?) throws {
        if text == nil, drop(key) { return }
        let row = try Setting.named(key)
        let before = self
        try row.write(&self, text)
        explicit.remove(key)
        if text != nil, row.read(self) == nil { explicit.insert(key) }
        row.changed(&self, before)
        drop(key)
    }

    /// The text of a setting that is set.
    func setText(_ row: Setting) -> String? {
        row.read(self) ?? (explicit.contains(row.key) ? row.defaultText : nil)
    }

    // MARK: Invalid values

    /// The errors of the settings that the file has with invalid values.
    package var problems: [ConfigurationError] { invalid.sorted { $0.key < $1.key }.map { $0.value.error($0.key) } }

    /// The error of one setting; `nil` for a valid one.
    package func problem(of key: String) -> ConfigurationError? {
        [key, Self.section(key)].compactMap { name in invalid[name].map { $0.error(name) } }.first
    }

    /// The invalid value of a setting as the file has it.
    package func invalidText(of key: String) -> String? { (invalid[key] ?? invalid[Self.section(key)])?.found }

    /// Stops work that needs settings with invalid values.
    /// - Throws: ``ConfigurationError`` with `invalid-configuration`, naming the first such setting.
    package func require(_ parts: Setting.Part...) throws {
        for (key, value) in invalid.sorted(by: { $0.key < $1.key }) {
            // A key without a row is a section, or has a name that no member of a family can have.
            let rows =
                (try? [Setting.named(key)])
                ?? Setting.table.filter { Self.section($0.key) == Self.section(key) }
            if rows.contains(where: { parts.contains($0.part) }) { throw value.error(key) }
        }
    }

    /// The settings with the values of other ones in place of invalid ones, for a process that cannot stop.
    package func replacingInvalid(with other: Configuration) -> Configuration {
        var settings = self
        for row in Setting.rows(of: other) where problem(of: row.key) != nil {
            // The text is that of a valid value.
            try? row.write(&settings, row.read(other))
        }
        settings.invalid = [:]
        return settings
    }

    /// The settings with the most careful values in place of invalid ones: nothing leaves this device, and no action and no
    /// store is used whose setting cannot be read.
    package func replacingInvalidCarefully() -> Configuration {
        guard !invalid.isEmpty else { return self }
        var careful = Configuration()
        careful.forceLocal = true
        for row in Setting.rows(of: self) {
            // These rows take these words, so that writing them throws nothing.
            if row.key.hasPrefix("approval.") { try? row.write(&careful, "never") }
            if row.key.hasPrefix("stores.") { try? row.write(&careful, row.key.hasSuffix(".own") ? "none" : "off") }
        }
        var settings = replacingInvalid(with: careful)
        // An invalid address must not send a question to the vendor's own.
        if (try? require(.cloud)) == nil { settings.cloud = careful.cloud }
        for name in upstreams.keys where hasProblem(upstream: name) { settings.upstreams[name] = nil }
        return settings
    }

    private static func section(_ key: String) -> String { String(key.prefix { $0 != "." }) }

    /// Removes an invalid value.
    @discardableResult
    private mutating func drop(_ key: String) -> Bool {
        let section = Self.section(key)
        if invalid.removeValue(forKey: section) != nil {
            rest[section] = nil
            return true
        }
        guard invalid.removeValue(forKey: key) != nil else { return false }
        var members = rest[section]?.members ?? [:]
        members[String(key.dropFirst(section.count + 1))] = nil
        rest[section] = members.isEmpty ? nil : .object(members)
        return true
    }
}
