# ./warpbook completion fish | source
function __warpbook
    set -l program (commandline --current-process --tokenize)[1]
    set -l typed (commandline --current-process --cut-at-cursor)
    # each line is a word, and after a tab what it does
    env _WARPBOOK_COMPLETE=complete_fish _TYPER_COMPLETE_FISH_ACTION=get-args \
        _TYPER_COMPLETE_ARGS="$typed" $program 2>/dev/null
end
complete --command warpbook --no-files --arguments "(__warpbook)"
