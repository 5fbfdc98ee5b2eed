/// What a terminal can do, by the environment.
struct TerminalFeatures: Sendable, Hashable {
    /// Whether it makes links of OSC 8. Unknown terminals may print the sequence, so only known ones count.
    var hasLinks: Bool

    init(environment: [String: String]) {
        let programs = ["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio", "zed"]
        let terminals = ["xterm-kitty", "xterm-ghostty", "alacritty", "foot", "foot-extra", "wezterm", "contour"]
        // A multiplexer of an unknown version stands between the program and the terminal.
        let isMultiplexed = environment["TMUX"] != nil || environment["STY"] != nil
        let isNewVTE = (environment["VTE_VERSION"].flatMap { Int($0) } ?? 0) >= 5000
        hasLinks =
            !isMultiplexed
            && (programs.contains(environment["TERM_PROGRAM"] ?? "") || terminals.contains(environment["TERM"] ?? "")
                || isNewVTE || environment["WT_SESSION"] != nil || environment["KONSOLE_VERSION"] != nil)
    }
}
