# After compinit: source <(./warpbook completion zsh)
_warpbook() {
    local -a described
    local line word
    # the answer for fish: each line is a word, and after a tab what it does
    for line in "${(@f)$(_WARPBOOK_COMPLETE=complete_fish _TYPER_COMPLETE_FISH_ACTION=get-args \
        _TYPER_COMPLETE_ARGS="${(j: :)words[1,CURRENT]}" "${words[1]}" 2>/dev/null)}"; do
        [[ -n $line ]] || continue
        word=${line%%$'\t'*}
        [[ $line == *$'\t'* ]] && described+=("$word:${line#*$'\t'}") || described+=("$word")
    done
    _describe -V commands described
}
compdef _warpbook warpbook
