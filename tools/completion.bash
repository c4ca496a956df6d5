# Words that bash completes for htwave: commands, their flags, files, and keys of input files.
_htwave() {
    local word=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} words
    # key=value: COMP_WORDBREAKS makes three words of it, of which the key is one
    compopt -o default 2>/dev/null
    if [ "$COMP_CWORD" = 1 ]; then
        words="$("$program" --help 2>/dev/null | sed -n 's/^  htwave \([a-z][a-z-]*\) .*/\1/p')"
        words="$words --help --help-config --version"
    elif [ "${word#-}" != "$word" ]; then
        words=$("$program" "$command" --help 2>/dev/null | sed -n 's/^  \(--[a-z-]*\).*/\1/p')
    elif [ "$COMP_CWORD$command" = 2describe ]; then
        words=$("$program" describe 2>/dev/null | sed -n 's/^\([a-z_]*\)  .*/\1/p')
    elif [ "$COMP_CWORD" -gt 2 ]; then
        compopt -o nospace
        words=$("$program" --help-config 2>/dev/null | sed -n 's/^  \([a-z][A-Za-z0-9_.]*\) = .*/\1=/p')
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _htwave htwave
