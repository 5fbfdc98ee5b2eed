/// A tool that clients name by its kind alone, because the models of its maker know its description. Other models read the
/// one written here.
struct AgentTool: Sendable {
    /// The beginning of the kind; its end is a date.
    let prefix: String
    let name: String
    let description: String
    /// The JSON schema of its arguments.
    let parameters: String

    /// The tools that clients of Anthropic's API run.
    static let all = [
        AgentTool(
            prefix: "bash_", name: "bash",
            description:
                "Runs a command in a shell that stays open between calls, and returns its output. With `restart` the shell starts anew.",
            parameters: object([
                ("command", text("the command")), ("restart", #"{"type":"boolean"}"#),
            ])),
        AgentTool(
            prefix: "text_editor_", name: "str_replace_based_edit_tool",
            description: """
                Shows and changes text files. `view` shows a file or lists a folder, `create` writes `file_text` to a new file, \
                `str_replace` puts `new_str` in the place of `old_str`, which the file must have exactly once, `insert` puts \
                `insert_text` after the line `insert_line`.
                """,
            parameters: object(
                [
                    ("command", choice("view", "create", "str_replace", "insert", "undo_edit")),
                    ("path", text("the path of the file or folder")), ("file_text", text()), ("old_str", text()),
                    ("new_str", text()), ("insert_text", text()), ("insert_line", line),
                    ("view_range", lines),
                ], required: "command", "path")),
        AgentTool(
            prefix: "memory_", name: "memory",
            description: """
                Keeps notes in files under /memories, which stay between conversations. Look there before you begin. `view` \
                shows a file or lists a folder, `create` writes `file_text`, `str_replace` puts `new_str` in the place of \
                `old_str`, `insert` puts `insert_text` after the line `insert_line`, `delete` and `rename` do what they say.
                """,
            parameters: object(
                [
                    ("command", choice("view", "create", "str_replace", "insert", "delete", "rename")),
                    ("path", text("a path under /memories")), ("file_text", text()), ("old_str", text()),
                    ("new_str", text()), ("insert_text", text()), ("insert_line", line), ("view_range", lines),
                    ("old_path", text()), ("new_path", text()),
                ], required: "command")),
        AgentTool(
            prefix: "computer_", name: "computer",
            description: """
                Uses the screen, the mouse and the keyboard of a computer. `screenshot` shows the screen; `coordinate` is a \
                place in pixels from the left and from the top; `text` is what is typed, or the keys that are pressed.
                """,
            parameters: object(
                [
                    (
                        "action",
                        choice(
                            "screenshot", "left_click", "right_click", "middle_click", "double_click", "triple_click",
                            "mouse_move", "left_click_drag", "left_mouse_down", "left_mouse_up", "cursor_position",
                            "type", "key", "hold_key", "scroll", "wait", "zoom")
                    ), ("coordinate", place), ("start_coordinate", place), ("text", text()),
                    ("scroll_direction", choice("up", "down", "left", "right")),
                    ("scroll_amount", line), ("duration", #"{"type":"number"}"#),
                ], required: "action")),
    ]

    /// The tools of OpenAI's Responses API, by kind.
    static let localShell = AgentTool(
        prefix: "local_shell", name: "local_shell",
        description: "Runs a program on the user's computer, and returns its output.",
        parameters: object(
            [
                (
                    "command",
                    #"{"type":"array","items":{"type":"string"},"description":"the program and its arguments"}"#
                ),
                ("working_directory", text()), ("timeout_ms", line),
            ], required: "command"))
    static let shell = AgentTool(
        prefix: "shell", name: "shell",
        description: "Runs commands in a shell, each on its own, and returns their outputs.",
        parameters: object(
            [
                ("commands", #"{"type":"array","items":{"type":"string"}}"#), ("timeout_ms", line),
                ("max_output_length", line),
            ], required: "commands"))
    static let applyPatch = AgentTool(
        prefix: "apply_patch", name: "apply_patch",
        description: """
            Changes one file. `diff` has the new lines behind `+` for `create_file`; for `update_file` it has sections that \
            begin with `@@`, with unchanged lines behind a space, removed ones behind `-` and new ones behind `+`.
            """,
        parameters: object(
            [
                ("type", choice("create_file", "update_file", "delete_file")), ("path", text()), ("diff", text()),
            ], required: "type", "path"))

    private static let line = #"{"type":"integer"}"#
    private static let lines = #"{"type":"array","items":{"type":"integer"}}"#
    private static let place = #"{"type":"array","items":{"type":"integer"}}"#

    private static func text(_ description: String = "") -> String {
        description.isEmpty ? #"{"type":"string"}"# : #"{"type":"string","description":"\#(description)"}"#
    }

    private static func choice(_ words: String...) -> String {
        #"{"type":"string","enum":["\#(words.joined(separator: #"",""#))"]}"#
    }

    private static func object(_ properties: [(String, String)], required: String...) -> String {
        let members = properties.map { #""\#($0.0)":\#($0.1)"# }.joined(separator: ",")
        let names = required.map { #""\#($0)""# }.joined(separator: ",")
        return #"{"type":"object","properties":{\#(members)},"required":[\#(names)]}"#
    }
}
