import HearthBase

/// One step of the way to a value in an app's configuration.
package enum ConfigurationStep: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The member of an object.
    case key(String)
    /// The item of a list whose member `key` has a text.
    case item(key: String, value: String)

    package var description: String {
        switch self {
        case .key(let key): key
        case .item(let key, let value): "[\(key)=\(value)]"
        }
    }
}

extension [ConfigurationStep] {
    /// The steps with points between them, for messages.
    var shown: String { map(\.description).joined(separator: ".") }
}

/// One change of an app's configuration.
package struct ConfigurationEdit: Sendable, Hashable {
    package var path: [ConfigurationStep]
    /// The new value; `nil` removes the value.
    package var value: JSONValue?

    package init(_ path: [ConfigurationStep], _ value: JSONValue?) {
        self.path = path
        self.value = value
    }

    /// A change of a member of objects.
    package init(_ keys: String..., value: JSONValue?) { self.init(keys.map { .key($0) }, value) }
}

extension JSONValue {
    /// The value at the end of a path; `nil` if there is none.
    package func at(_ path: some Collection<ConfigurationStep>) -> JSONValue? {
        guard let step = path.first else { return self }
        return child(step)?.at(path.dropFirst())
    }

    private func child(_ step: ConfigurationStep) -> JSONValue? {
        switch step {
        case .key(let key): self[key]
        case .item(let key, let value): items?.first { $0[key]?.string == value }
        }
    }

    /// The value with another one at the end of a path; missing objects and lists are made, `nil` removes.
    /// - Returns: `nil` if a step leads through a value of another kind.
    func replacing(_ path: some Collection<ConfigurationStep>, with value: JSONValue?) -> JSONValue? {
        guard let step = path.first else { return value }
        let rest = path.dropFirst()
        switch step {
        case .key(let key):
            guard var members = members ?? (self == .null ? JSONMembers() : nil) else { return nil }
            if rest.isEmpty {
                members[key] = value
            } else if let old = members[key] ?? (value == nil ? nil : JSONValue.null) {
                guard let new = old.replacing(rest, with: value) else { return nil }
                members[key] = new
            }
            return .object(members)
        case .item(let key, let text):
            guard var list = items ?? (self == .null ? [] : nil) else { return nil }
            let place = list.firstIndex { $0[key]?.string == text }
            if rest.isEmpty, value == nil {
                if let place { list.remove(at: place) }
            } else {
                let old = place.map { list[$0] } ?? [key: .string(text)]
                guard let new = old.replacing(rest, with: value) else { return nil }
                if let place { list[place] = new } else { list.append(new) }
            }
            return .array(list)
        }
    }

    /// A value within objects and lists, as the steps of a path make them.
    func wrapped(in path: some Collection<ConfigurationStep>) -> JSONValue {
        path.reversed().reduce(self) { value, step in
            switch step {
            case .key(let key): [key: value]
            case .item: [value]
            }
        }
    }
}

/// A configuration that cannot be read or changed.
struct ConfigurationTextError: Error, Hashable {
    enum Kind: Sendable, Hashable {
        /// The app itself cannot read the file.
        case broken
        /// The file may be right, but a change of its text might harm it.
        case unsafe
    }

    let kind: Kind
    /// A clause without a full stop.
    let problem: String
    /// The line, from 1; `nil` if it concerns no line.
    var line: Int?

    static func broken(_ problem: String, at position: Int, in bytes: [UInt8]) -> Self {
        Self(kind: .broken, problem: problem, line: bytes.line(of: position))
    }

    static func unsafe(_ problem: String) -> Self { Self(kind: .unsafe, problem: problem) }

    static func unsafe(_ problem: String, at position: Int, in bytes: [UInt8]) -> Self {
        Self(kind: .unsafe, problem: problem, line: bytes.line(of: position))
    }
}

extension [UInt8] {
    /// The line of a place, from 1.
    fileprivate func line(of position: Int) -> Int { self[..<Swift.min(position, count)].count { $0 == 10 } + 1 }
}
