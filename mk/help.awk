# Prints the manual of `make`, 80 columns wide, from what stands beside the targets:
#
#   ##@ Learning                         the targets after this line stand under that heading, whatever the file
#   grade: ... ## what it does           a target; where it stands for many, `## [hint-chNN] what it does`
#   ##= STEP=2 ## what it changes        a variable
#
# The headings come in the order in which they are first met.

FNR == 1 { heading = "The workbook itself" }

/^##@ / { heading = substr($0, 5); next }

/^##= .* ## / {
    at = index($0, " ## ")
    variables = variables entry(substr($0, 5, at - 5), substr($0, at + 4))
    next
}

/^[^\t#].*:.*## / {
    text = substr($0, index($0, "## ") + 3)
    name = substr($0, 1, index($0, ":") - 1)
    if (match(text, /^\[[^]]*\] /)) {
        name = substr(text, 2, RLENGTH - 3)
        text = substr(text, RLENGTH + 1)
    }
    if (!(heading in targets)) order[++count] = heading
    targets[heading] = targets[heading] entry("make " name, text)
}

END {
    print "make [TARGET] [VARIABLE=VALUE ...]     without a target: where you are"
    for (i = 1; i <= count; i++) printf "\n%s\n%s", order[i], targets[order[i]]
    printf "\nVariables\n%s", variables
    print "\nExit status: 0 done, 2 a command of it failed; make then names that one's: 1 not"
    print "passed, 2 wrong usage, 3 the machine's fault."
}

# A name and its words, wrapped between columns 22 and 80.
function entry(name, words,    parts, number, line, made, i) {
    made = sprintf("  %-19s", name)
    if (length(made) > 21) made = made "\n" sprintf("%21s", "")
    line = ""
    number = split(words, parts, " ")
    for (i = 1; i <= number; i++) {
        if (line != "" && length(line) + 1 + length(parts[i]) > 58) {
            made = made " " line "\n" sprintf("%21s", "")
            line = ""
        }
        line = line (line == "" ? "" : " ") parts[i]
    }
    return made " " line "\n"
}
