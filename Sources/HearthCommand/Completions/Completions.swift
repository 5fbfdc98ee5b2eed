import HearthBase

/// `hearth completions`
struct Completions: Command {
    @Argument("SHELL", .choice, "bash, zsh or fish.") var shell: CompletionShell
    @Argument("WORD", .text, arity: .any, "The words after hearth up to the cursor; the last may be empty.")
    var words: [String]

    static let declaration = CommandDeclaration(
        "completions", summary: "Print a shell's script that completes hearth's commands",
        """
        `make install` puts the scripts where the shells look for them; then a new shell completes commands, options,
        their values, models and settings.

        With words, prints what may come in place of the last one, a line each, for zsh and fish with a tab and its
        meaning: the scripts ask this way. The line :files stands for the names of files, :folders for those of folders.

        hearth completions bash > ~/.local/share/bash-completion/completions/hearth  # For bash.
        hearth completions zsh > ~/.zfunc/_hearth  # For zsh, where ~/.zfunc is in fpath.
        hearth completions fish > ~/.config/fish/completions/hearth.fish  # For fish.
        """)

    func run(in context: CommandContext) async throws {
        guard !words.isEmpty else { return try context.console.write(shell.script) }
        let completer = Completer(table: HearthCommand.table, names: await CompletionNames(context))
        for candidate in completer.candidates(words) {
            let meaning = shell == .bash || candidate.meaning.isEmpty ? "" : "\t\(candidate.meaning)"
            try context.console.print(candidate.word + meaning)
        }
    }
}

/// A shell with its script, which asks the program for the candidates.
enum CompletionShell: String, CaseIterable, Sendable {
    case bash, zsh, fish

    var script: String {
        switch self {
        case .bash:
            """
            # Completes the command line of hearth in bash. Printed by `hearth completions bash`.
            _hearth() {
                local line current=${COMP_WORDS[COMP_CWORD]}
                COMPREPLY=()
                while IFS= read -r line; do
                    case $line in
                        :files | :folders)
                            local kind=-f
                            [ "$line" = :folders ] && kind=-d
                            compopt -o filenames 2>/dev/null
                            while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$kind" -- "$current")
                            ;;
                        *) COMPREPLY+=("$line") ;;
                    esac
                done < <(hearth completions bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
            }
            complete -F _hearth hearth

            """
        case .zsh:
            """
            #compdef hearth
            # Completes the command line of hearth in zsh. Printed by `hearth completions zsh`.
            _hearth() {
                local line files
                local -a candidates
                while IFS= read -r line; do
                    case $line in
                        :files) files=(_files) ;;
                        :folders) files=(_files -/) ;;
                        *$'\t'*) candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
                        *) candidates+=("${line//:/\\:}") ;;
                    esac
                done < <(hearth completions zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)
                (( $#candidates )) && _describe -V hearth candidates
                (( $#files )) && $files
            }
            if [ "$funcstack[1]" = _hearth ]; then _hearth "$@"; else compdef _hearth hearth; fi

            """
        case .fish:
            """
            # Completes the command line of hearth in fish. Printed by `hearth completions fish`.
            function __hearth_candidates
                set -l before (commandline -opc)
                set -l current (commandline -ct)
                for line in (hearth completions fish -- $before[2..-1] "$current" 2>/dev/null)
                    switch $line
                        case :files
                            __fish_complete_path "$current"
                        case :folders
                            __fish_complete_directories "$current"
                        case '*'
                            echo $line
                    end
                end
            end
            complete -c hearth -f -a '(__hearth_candidates)'

            """
        }
    }
}
