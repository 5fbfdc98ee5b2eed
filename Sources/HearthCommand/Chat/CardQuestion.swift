import Foundation
import HearthAssistant
import HearthBase

/// Asks the user about an action at the terminal.
struct CardQuestion: Sendable {
    let reader: any LineReader
    let console: Console
    /// Names the user's editor.
    let environment: [String: String]
    let registry: ActionRegistry

    /// Asks until the answer is one of the choices. Ctrl-C and the end of the input decline.
    func decision(on card: ActionCard) async -> ActionDecision {
        let external = ExternalEditor(environment: environment)
        // At most 80 columns.
        let open = external == nil ? "" : " [o]pen in editor"
        var prompt = "Do it? [y]es [n]o [a]lways [c] in this conversation [e]dit\(open) > "
        if let columns = console.errors.width, columns <= prompt.count {
            console.complain("y does it, n does not, a always, c in this conversation; e edits it.")
            prompt = "Do it? [y/n] > "
        }
        while true {
            guard case .line(let line) = await reader.line(prompt: prompt, initial: "") else { return .decline }
            switch line.trimmingCharacters(in: .whitespaces).lowercased() {
            case "y", "yes": return .approve
            case "n", "no", "": return .decline
            case "c", "conversation": return .approveForConversation
            case "a", "always": return .always
            case "e", "edit":
                if let payload = await edited(card) { return .edit(payload: payload) }
            case "o", "open":
                guard let external else {
                    console.complain("Set EDITOR to open a card in your editor.")
                    break
                }
                if let payload = await edited(card, in: external) { return .edit(payload: payload) }
            default: console.complain("Type y, n, c, a or e\(external == nil ? "" : ", or o").")
            }
        }
    }
}

extension CardQuestion {
    /// The names of an action's fields.
    private func fields(_ tag: ActionTag) -> [String] {
        registry.action(tag).map { ActionRegistry.fields(of: $0) } ?? []
    }

    /// The values of an action; what is no object cannot be edited.
    private func values(of card: ActionCard) -> JSONMembers? {
        let values = (try? JSONValue(parsing: Data(card.payload.utf8)))?.members
        if values == nil { console.complain("The values cannot be edited.") }
        return values
    }

    /// The payload after the user changed its values, one line each; `nil` if the user gives up.
    private func edited(_ card: ActionCard) async -> String? {
        guard var values = values(of: card) else { return nil }
        console.complain("Enter keeps a value; a single - removes it; Ctrl-C gives up.")
        for name in order(of: values, card) {
            guard let value = values[name], let text = Self.text(of: value) else { continue }
            guard case .line(let line) = await reader.line(prompt: "\(name): ", initial: text) else { return nil }
            let edited = line.trimmingCharacters(in: .whitespaces)
            // A terminal that cannot show the value takes an empty line for it.
            if edited.isEmpty && !reader.canEdit { continue }
            values[name] = edited == "-" || edited.isEmpty ? nil : Self.value(edited, like: value)
        }
        let others = fields(card.tag).filter { values[$0] == nil && $0 != "id" && $0 != "action" }
        while !others.isEmpty {
            let prompt = "more, as name=value (\(others.joined(separator: ", "))): "
            guard case .line(let line) = await reader.line(prompt: prompt, initial: "") else { return nil }
            let parts = line.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            if parts.isEmpty { break }
            guard parts.count == 2, others.contains(parts[0]) else {
                console.complain("Write name=value, or Enter for no more.")
                continue
            }
            values[parts[0]] = Self.value(parts[1], like: nil)
        }
        return JSONValue.object(values).text
    }

    /// The payload as changed in the user's editor; `nil` if nothing is changed, or it is no object.
    func edited(_ card: ActionCard, in editor: ExternalEditor) async -> String? {
        guard let values = values(of: card) else { return nil }
        let lines = order(of: values, card).compactMap { name in
            values[name].map { "  \(JSONValue.string(name).text): \($0.text)" }
        }
        let text = "{\n\(lines.joined(separator: ",\n"))\n}\n"
        do {
            guard let edited = try await blocking({ try editor.edited(text, suffix: ".json") }) else {
                console.complain("The editor failed: nothing is changed.")
                return nil
            }
            guard edited != text else { return nil }
            guard var changed = try JSONValue(parsing: Data(edited.utf8)).members else {
                console.complain("The file is no JSON object: nothing is changed.")
                return nil
            }
            for name in ["action", "id"] { changed[name] = values[name] }
            return JSONValue.object(changed).text
        } catch {
            console.complain("Nothing is changed: \(TerminalText.singleLine("\(error)")).")
            return nil
        }
    }

    /// The names of the values in the order of the card; the kind of action stays.
    private func order(of values: JSONMembers, _ card: ActionCard) -> [String] {
        let known = fields(card.tag)
        let rest = values.keys.filter { !known.contains($0) }.sorted()
        return (known + rest).filter { $0 != "action" && $0 != "id" && values[$0] != nil }
    }

    private static func text(of value: JSONValue) -> String? {
        switch value {
        case .string(let text): text
        case .number, .boolean: value.text
        default: nil
        }
    }

    /// The typed text as a value of the same kind; without one, as what it looks like.
    private static func value(_ text: String, like old: JSONValue?) -> JSONValue {
        if case .string = old { return .string(text) }
        // Other text is a string.
        if let parsed = try? JSONValue(parsing: Data(text.utf8)) {
            switch parsed {
            case .number, .boolean: return parsed
            default: break
            }
        }
        return .string(text)
    }
}
