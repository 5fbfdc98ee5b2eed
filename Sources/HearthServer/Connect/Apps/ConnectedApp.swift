import HearthBase

/// The apps that Hearth connects.
package enum ConnectedApp: String, Sendable, Hashable, CaseIterable, Codable {
    case claude, codex, opencode, aider, `continue`, zed, cline, llm
    case openWebUI = "open-webui"

    /// The name that people know.
    package var title: String {
        switch self {
        case .claude: "Claude Code"
        case .codex: "Codex"
        case .opencode: "opencode"
        case .aider: "aider"
        case .continue: "Continue"
        case .zed: "Zed"
        case .cline: "Cline"
        case .llm: "llm"
        case .openWebUI: "Open WebUI"
        }
    }

    /// The names of its program.
    var programs: [String] {
        switch self {
        case .continue: ["cn"]
        case .zed: ["zed", "zeditor", "zed-editor"]
        default: [rawValue]
        }
    }

    /// Whether the app is on this machine: its program, or a folder that it made. Blocks.
    package func isFound(in places: ConnectPlaces) -> Bool {
        if places.program(programs) != nil { return true }
        switch self {
        case .claude: return places.exists(Self.claudeFolder(places))
        case .codex: return places.exists(Self.codexFolder(places))
        case .opencode: return places.exists(places.configuration.appending("opencode"))
        case .continue: return places.exists(Self.continueFolder(places))
        case .zed: return places.exists(places.configuration.appending("zed"))
        case .cline:
            let folders = [".vscode", ".vscode-server", ".vscode-oss", ".cursor"]
            return folders.contains {
                places.exists(in: places.user.joined($0).appending("extensions"), beginning: "saoudrizwan.claude-dev")
            }
        case .llm: return places.exists(Self.llmFolder(places))
        case .aider, .openWebUI: return false
        }
    }

    /// What connects the app. Blocks.
    package func plan(_ target: ConnectTarget, in places: ConnectPlaces) -> ConnectPlan {
        switch self {
        case .claude: Self.claude(target, places)
        case .codex: Self.codex(target, places)
        case .opencode: Self.opencode(target, places)
        case .aider: Self.aider(target, places)
        case .continue: Self.continue(target, places)
        case .zed: Self.zed(target, places)
        case .cline: Self.cline(target)
        case .llm: Self.llm(target, places)
        case .openWebUI: Self.openWebUI(target)
        }
    }
}
