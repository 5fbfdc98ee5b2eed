import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthRouting
import HearthTransfer

/// The types of settings, for forms and programs.
package enum SettingType: String, Sendable, Hashable, Codable, CaseIterable {
    case text, integer, number, boolean, choice, list, path, address
}

/// Checks the texts of a setting, and writes its values as text.
struct SettingForm<Value: Sendable>: Sendable {
    let type: SettingType
    /// Completes "must be …".
    let expectation: String
    var range: ClosedRange<Double>?
    var choices: [String]?
    /// The text of a value.
    let text: @Sendable (Value) -> String
    /// The value of a text; `nil` refuses it.
    let parse: @Sendable (String) -> Value?

    /// - Throws: ``ConfigurationError`` with `invalid-configuration`.
    func value(_ text: String, _ key: String) throws -> Value {
        guard let value = parse(text) else { throw ConfigurationError.invalid(key, expectation, found: text) }
        return value
    }
}

extension SettingForm where Value: FixedWidthInteger {
    static func integer(_ range: ClosedRange<Int>) -> Self {
        Self(
            type: .integer, expectation: "a whole number from \(range.lowerBound) to \(range.upperBound)",
            range: Double(range.lowerBound)...Double(range.upperBound), text: { "\($0)" },
            parse: { text in Int(text).flatMap { range.contains($0) ? Value(exactly: $0) : nil } })
    }
}

extension SettingForm where Value == Float {
    static func number(_ range: ClosedRange<Float>) -> Self {
        Self(
            type: .number, expectation: "a number from \(Int(range.lowerBound)) to \(Int(range.upperBound))",
            range: Double(range.lowerBound)...Double(range.upperBound), text: { "\($0)" },
            parse: { text in Float(text).flatMap { range.contains($0) ? $0 : nil } })
    }
}

extension SettingForm where Value == Bool {
    static var flag: Self {
        Self(type: .boolean, expectation: "true or false", text: { "\($0)" }, parse: { Bool($0) })
    }

    static var onOrOff: Self {
        Self(
            type: .choice, expectation: "on or off", choices: ["on", "off"], text: { $0 ? "on" : "off" },
            parse: { ["on": true, "off": false][$0] })
    }
}

extension SettingForm where Value: RawRepresentable<String> & CaseIterable {
    static var choice: Self {
        let words = Value.allCases.map(\.rawValue)
        return Self(
            type: .choice, expectation: "one of \(words.joined(separator: ", "))", choices: words,
            text: { $0.rawValue }, parse: { Value(rawValue: $0) })
    }
}

extension SettingForm where Value == String {
    static func choice(of words: [String]) -> Self {
        Self(
            type: .choice, expectation: "one of \(words.joined(separator: ", "))", choices: words, text: { $0 },
            parse: { words.contains($0) ? $0 : nil })
    }

    static func text(_ expectation: String, _ isAllowed: @escaping @Sendable (String) -> Bool) -> Self {
        Self(type: .text, expectation: expectation, text: { $0 }, parse: { isAllowed($0) ? $0 : nil })
    }

    static var header: Self {
        text("the name of a header such as X-API-Key") { AuthenticatedDownloader.isHeaderName($0) }
    }

    /// The name of a model on this device.
    static var model: Self {
        text("a model such as family@version:variant") { text in
            Family(text.prefix { $0 != "@" && $0 != ":" }) != nil && text.utf8.count <= 256
        }
    }
}

extension SettingForm where Value == Path {
    static var path: Self {
        Self(
            type: .path, expectation: "an absolute path", text: { $0.string },
            parse: { $0.hasPrefix("/") && $0.utf8.count < 4096 && !$0.utf8.contains(0) ? Path($0) : nil })
    }
}

extension SettingForm where Value == URL {
    /// The address of a server to which a key may be sent.
    static var server: Self {
        Self(
            type: .address, expectation: "an https address, or http to this machine, without a user and a query",
            text: { $0.absoluteString }, parse: Self.serverAddress)
    }

    /// The address of a publisher's list.
    static var origin: Self {
        Self(
            type: .address, expectation: OriginAddress.expectation, text: { $0.absoluteString },
            parse: { OriginAddress.url($0) })
    }

    @Sendable fileprivate static func serverAddress(_ text: String) -> URL? {
        guard let url = URL(address: text), let host = url.host(), !host.isEmpty, url.user() == nil,
            url.query() == nil, url.fragment() == nil, url.port.map({ (1...65_535).contains($0) }) ?? true,
            url.scheme == "https" || (url.scheme == "http" && url.isLoopback)
        else { return nil }
        return url
    }
}

extension SettingForm where Value == TrustedRoot {
    static var root: Self {
        Self(type: .text, expectation: TrustedRoot.expectation, text: { $0.text }, parse: { TrustedRoot($0) })
    }
}

extension SettingForm where Value == CloudShares {
    static var shares: Self {
        let names = CloudShares.Section.allCases.map(\.rawValue)
        return Self(
            type: .list, expectation: "none, or some of \(names.joined(separator: ","))", choices: names + ["none"],
            text: { $0.text }, parse: { CloudShares($0) })
    }
}

extension SettingForm where Value == Duration? {
    /// Seconds, or `always` for a time without end.
    static func seconds(_ range: ClosedRange<Int>) -> Self {
        Self(
            type: .text, expectation: "seconds from \(range.lowerBound) to \(range.upperBound), or always",
            range: Double(range.lowerBound)...Double(range.upperBound),
            text: { $0.map { "\($0.components.seconds)" } ?? "always" },
            parse: { text in
                if text == "always" { return .some(nil) }
                return Int(text).flatMap { range.contains($0) ? .some(.seconds($0)) : nil }
            })
    }
}

extension SettingForm {
    /// Texts of one kind, separated by commas, without repetitions.
    static func list<Item: Hashable & Sendable>(
        _ expectation: String, atMost limit: Int, _ text: @escaping @Sendable (Item) -> String,
        _ parse: @escaping @Sendable (String) -> Item?
    ) -> Self where Value == [Item] {
        Self(type: .list, expectation: expectation, text: { $0.map(text).joined(separator: ",") }) { list in
            let words = list.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
                .filter { !$0.isEmpty }
            let items = words.compactMap(parse)
            guard (1...limit).contains(words.count), items.count == words.count else { return nil }
            var seen: Set<Item> = []
            return items.filter { seen.insert($0).inserted }
        }
    }
}

extension SettingForm where Value == [URL] {
    static var servers: Self {
        list(
            "at most 16 addresses, separated by commas", atMost: 16, { $0.absoluteString },
            SettingForm<URL>.serverAddress)
    }
}

extension SettingForm where Value == [String] {
    /// The models of lists.
    static var references: Self {
        list(
            "repositories such as hf:org/repository, addresses and families, separated by commas", atMost: 200, { $0 }
        ) { text in
            // A text that is no reference names no model.
            switch try? ModelReference(parsing: text) {
            case .family, .hub, .registry, .manifest: text
            case .file, nil: nil
            }
        }
    }

    /// Names of folders of records, or `none`.
    static var collections: Self {
        let form = list("names of collections, separated by commas, or none", atMost: 64, { $0 }) { (text: String) in
            PathComponent(text) != nil && !text.hasPrefix(".") && text != "none" ? text : nil
        }
        return Self(
            type: .list, expectation: form.expectation, text: { $0.isEmpty ? "none" : form.text($0) },
            parse: { $0 == "none" ? [] : form.parse($0) })
    }

    static var hosts: Self {
        list("names of this machine, separated by commas", atMost: 64, { $0 }) { text in
            let name = text.lowercased()
            let isHost = name.utf8.allSatisfy { byte in
                (48...57).contains(byte) || (97...122).contains(byte) || byte == UInt8(ascii: "-")
                    || byte == UInt8(ascii: ".")
            }
            return isHost && (1...253).contains(name.utf8.count) ? name : nil
        }
    }

    /// Origins of pages as browsers send them: a scheme, a host, and a port unless it is the scheme's own.
    static var pages: Self {
        list("origins such as https://app.example.org, separated by commas", atMost: 64, { $0 }) { text in
            let text = text.lowercased()
            guard let url = URL(address: text), let scheme = url.scheme, let host = url.host(), !host.isEmpty,
                scheme == "http" || scheme == "https"
            else { return nil }
            return text == "\(scheme)://\(host)" + (url.port.map { ":\($0)" } ?? "") ? text : nil
        }
    }
}
