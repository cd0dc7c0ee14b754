# source <(./warpbook completion bash)
_warpbook() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("$line") # each line is a word
    done < <(COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD _WARPBOOK_COMPLETE=complete_bash "$1" 2>/dev/null)
}
complete -o default -F _warpbook warpbook
