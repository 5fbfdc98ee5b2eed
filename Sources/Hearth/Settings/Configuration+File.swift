import Foundation
import HearthBase

extension Configuration {
    /// Parses a `config.json`. A setting with an invalid value is unset, and work that needs it throws.
    /// - Throws: ``ConfigurationError`` with `invalid-configuration` for a file that is no JSON object.
    public init(json data: Data) throws {
        do {
            guard case .object(let members) = try JSONValue(parsing: data) else {
                throw ConfigurationError(.invalid, "the configuration is not a JSON object")
            }
            rest = members
        } catch let error where !(error is ConfigurationError) {
            throw ConfigurationError(.invalid, "the configuration is not a JSON object", underlying: error)
        }
        for (name, value) in rest {
            guard Setting.sections.contains(name) else {
                if take(name, value) { rest[name] = nil }
                continue
            }
            guard case .object(let members) = value else {
                if value != .null { invalid[name] = InvalidSetting(expectation: "an object", found: value.shown) }
                continue
            }
            let others = members.filter { !take("\(name).\($0.key)", $0.value) }
            rest[name] = others.isEmpty ? nil : .object(others)
        }
    }

    /// Uses a member of the file.
    /// - Returns: whether it is a setting with a valid value, or with none.
    private mutating func take(_ key: String, _ value: JSONValue) -> Bool {
        do {
            let row = try Setting.named(key)
            guard value != .null else { return true }
            guard let text = row.text(of: value) else {
                throw ConfigurationError.invalid(key, row.expectation, found: value.shown)
            }
            try row.write(&self, text)
            if row.read(self) == nil { explicit.insert(key) }
            return true
        } catch let error as ConfigurationError where error.code == .invalid {
            invalid[key] = InvalidSetting(
                expectation: error.context.expected ?? "another value", found: error.context.found ?? value.shown)
        } catch {
            // The member belongs to another version.
        }
        return false
    }

    /// Encodes a `config.json`.
    public func json() -> Data {
        var object = rest
        for row in Setting.rows(of: self) {
            guard problem(of: row.key) == nil, let text = setText(row) else { continue }
            let names = row.key.split(separator: ".", maxSplits: 1).map(String.init)
            guard let section = names.first, let name = names.last, names.count == 2 else {
                object[row.key] = row.json(text)
                continue
            }
            var members = object[section]?.members ?? [:]
            members[name] = row.json(text)
            object[section] = .object(members)
        }
        return JSONValue.object(object).data
    }

    /// The path of a home's configuration.
    public static func path(home: Path) -> Path { home.appending("config.json") }

    /// Reads a home's configuration; empty if the file does not exist. Blocks.
    /// - Throws: ``ConfigurationError`` for a file that is no JSON object, `FileError`
    public static func load(home: Path) throws -> Configuration {
        let path = path(home: home)
        let data: Data
        do {
            data = try LocalFileSystem().contents(ofFile: path, limit: maximumFileSize)
        } catch let error as FileError where error.code == .notFound {
            return Configuration()
        }
        do {
            return try Configuration(json: data)
        } catch let error as ConfigurationError {
            var context = error.context
            context.file = path.string
            context.remedy = "Correct \(path), or move it away to begin anew."
            throw ConfigurationError(error.code, error.message, context: context, underlying: error.underlying)
        }
    }

    /// Reads a home's configuration, changes and writes it, while no other process does; creates the home if needed.
    ///
    /// The file is readable by its owner only. A change without effect, and one that throws, write nothing.
    /// - Throws: errors of `body`; ``ConfigurationError``; `FileError`, with `settings-busy` if another process holds the
    ///   file for more than 10 s.
    @discardableResult
    public static func change(
        home: Path, _ body: @escaping @Sendable (inout Configuration) throws -> Void
    ) async throws -> Configuration {
        try await SettingsFile(home: home).change(body)
    }
}

extension JSONValue {
    /// The value as text, for messages.
    var shown: String {
        switch self {
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .number(let digits): digits
        case .string(let text): text
        case .array: "a list"
        case .object: "an object"
        }
    }
}
