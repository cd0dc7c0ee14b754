# After compinit: source <(./warpbook completion zsh)
_warpbook() {
    local -a lines described
    local kind word about
    lines=("${(@f)$(COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT - 1)) _WARPBOOK_COMPLETE=complete_zsh "${words[1]}" 2>/dev/null)}")
    for kind word about in "${lines[@]}"; do # three lines a word; _ where nothing is said about it
        [[ $about == _ ]] && described+=("$word") || described+=("$word:$about")
    done
    _describe -V commands described
}
compdef _warpbook warpbook
