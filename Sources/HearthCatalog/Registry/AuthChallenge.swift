import Foundation
import HearthHTTP

/// How a registry wants to be asked: the header `WWW-Authenticate` of an answer with status 401 (RFC 9110, 11.6.1).
enum AuthChallenge: Sendable, Hashable {
    /// With a token that the server at `realm` gives out.
    case bearer(realm: URL, service: String?, scope: String?)
    /// With a name and a password.
    case basic

    /// The challenge that can be answered; a token is preferred. `nil` if there is none.
    init?(_ response: HTTPResponse) {
        var found: Self?
        for field in response.headers.fields
        where field.name.caseInsensitiveCompare("WWW-Authenticate") == .orderedSame {
            for (scheme, parameters) in Self.challenges(field.value.prefix(8192)) {
                switch scheme {
                case "bearer":
                    // A token is asked for as safely as the registry.
                    guard let realm = parameters["realm"].flatMap({ URL(address: $0) }), realm.authority != nil,
                        realm.scheme == response.url.scheme || realm.scheme == "https"
                    else { continue }
                    self = .bearer(realm: realm, service: parameters["service"], scope: parameters["scope"])
                    return
                case "basic": found = .basic
                default: continue
                }
            }
        }
        guard let found else { return nil }
        self = found
    }

    /// The schemes in lower case, each with its parameters.
    private static func challenges(_ text: Substring) -> [(scheme: String, parameters: [String: String])] {
        var challenges: [(scheme: String, parameters: [String: String])] = []
        for item in items(text) {
            var parameter = item
            // The first parameter of a challenge stands after the scheme and a space.
            let name = item.prefix { !" =".contains($0) }
            if item.dropFirst(name.count).first != "=" {
                challenges.append((name.lowercased(), [:]))
                parameter = item.dropFirst(name.count).drop { $0 == " " }
            }
            let pair = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, let last = challenges.indices.last else { continue }
            let key = pair[0].trimmingCharacters(in: .whitespaces).lowercased()
            if challenges[last].parameters[key] == nil { challenges[last].parameters[key] = unquoted(pair[1]) }
        }
        return challenges
    }

    /// The parts between commas outside quotation marks.
    private static func items(_ text: Substring) -> [Substring] {
        var items: [Substring] = []
        var (start, isQuoted, isEscaped) = (text.startIndex, false, false)
        for index in text.indices {
            let character = text[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            } else if character == ",", !isQuoted {
                items.append(text[start..<index])
                start = text.index(after: index)
            }
        }
        return (items + [text[start...]]).map { $0.drop { $0 == " " || $0 == "\t" } }.filter { !$0.isEmpty }
    }

    private static func unquoted(_ value: Substring) -> String {
        let text = value.trimmingCharacters(in: .whitespaces)
        guard text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
        var (result, isEscaped) = ("", false)
        for character in text.dropFirst().dropLast() {
            if character == "\\", !isEscaped {
                isEscaped = true
            } else {
                result.append(character)
                isEscaped = false
            }
        }
        return result
    }
}
