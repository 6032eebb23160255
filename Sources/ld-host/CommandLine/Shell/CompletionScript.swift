/// The scripts by which shells call ``Completion``.
enum CompletionScript: String, CaseIterable {
    case bash
    case zsh
    case fish

    var text: String {
        switch self {
        case .bash:
            #"""
            # Completion of ld-host for bash 4 or later: ld-host completions bash
            _ld_host() {
                local line=${COMP_LINE:0:COMP_POINT} words current candidate broken=
                # Without -r, since a backslash before a character is no part of the word.
                read -a words <<<"$line"
                [[ $line == *[[:space:]] && $line != *\\[[:space:]] ]] && words+=("")
                current=${words[-1]}
                # Bash replaces what stands behind the last of the characters at which it breaks words.
                [[ $COMP_WORDBREAKS == *:* && $current == *:* ]] && broken=${current%"${current##*:}"}
                [[ $COMP_WORDBREAKS == *=* && ${current##*:} == *=* ]] && broken=${current%"${current##*=}"}
                COMPREPLY=()
                while IFS=$'\t' read -r candidate _; do
                    if [[ $candidate == :files ]]; then
                        compopt -o filenames
                        while IFS= read -r candidate; do COMPREPLY+=("$candidate"); done < <(compgen -f -- "$current")
                    else
                        # Names may have any characters, and what is inserted here is read by the shell.
                        printf -v candidate %q "${candidate#"$broken"}"
                        COMPREPLY+=("$candidate")
                    fi
                done < <("${words[0]}" __complete "${words[@]:1}" 2>/dev/null)
                [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[/=] ]] && compopt -o nospace
                return 0
            }
            complete -F _ld_host ld-host
            """#
        case .zsh:
            #"""
            #compdef ld-host
            # Completion of ld-host for zsh: ld-host completions zsh
            _ld_host() {
                local line text
                local -a whole wholeShown open openShown
                for line in "${(@f)$("${(Q)words[1]}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
                    text=${line%%$'\t'*}
                    case $text in
                        '') ;;
                        :files) _files ;;
                        */|*=) open+=("$text"); openShown+=("${line/$'\t'/  -- }") ;;
                        *) whole+=("$text"); wholeShown+=("${line/$'\t'/  -- }") ;;
                    esac
                done
                compadd -l -d wholeShown -a whole
                compadd -l -S '' -d openShown -a open
            }
            if [[ $funcstack[1] == _ld_host ]]; then _ld_host "$@"; else compdef _ld_host ld-host; fi
            """#
        case .fish:
            #"""
            # Completion of ld-host for fish: ld-host completions fish
            function __ld_host_complete
                set -l words (commandline -opc) (commandline -ct)
                for line in ($words[1] __complete $words[2..] 2>/dev/null)
                    if test "$line" = :files
                        __fish_complete_path (commandline -ct)
                    else
                        echo $line
                    end
                end
            end
            complete -c ld-host -f -a '(__ld_host_complete)'
            """#
        }
    }
}
