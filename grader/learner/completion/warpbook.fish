# ./warpbook completion fish | source
function __warpbook
    set -l words (commandline --current-process --tokenize --cut-at-cursor)
    set -l begun (commandline --current-token --cut-at-cursor)
    set -l program $words[1]
    # each line is what kind it is, a comma, the word, and after a tab what it does
    env _WARPBOOK_COMPLETE=complete_fish COMP_WORDS="$words" COMP_CWORD="$begun" $program 2>/dev/null |
        string replace --regex '^[^,]*,' ''
end
complete --command warpbook --no-files --arguments "(__warpbook)"
