# Prints the manual of `make` from what stands beside the targets:
#
#   ##@ Learning                         the targets after this line stand under that heading, whatever the file
#   grade: ... ## what it does           a target; where it stands for many, `## [hint-chNN] what it does`
#   ##= STEP=2 ## what it changes        a variable; its words name the targets that it is of, or none for all
#
# The headings come in the order in which they are first met. With -v target=hint-ch04 only that one, and the
# variables whose words name it. 80 columns, or as many as the environment's COLUMNS where those are fewer.

BEGIN { width = ENVIRON["COLUMNS"] + 0; if (width < 30 || width > 80) width = 80 }

FNR == 1 { heading = "The workbook itself" }

/^##@ / { heading = substr($0, 5); next }

/^##= .* ## / {
    at = index($0, " ## ")
    variable[++variables] = substr($0, 5, at - 5)
    meaning[variables] = substr($0, at + 4)
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
    words[name] = text
    if (target != "" && is_called(name, target)) found = name
}

END {
    if (target != "") exit about_one()
    section("NAME", "make - build, judge and record the workbook's kernels, and keep the workbook in order")
    section("SYNOPSIS", "make [TARGET ...] [VARIABLE=VALUE ...]")
    section("DESCRIPTION", "Without a target, make says where you are and what comes next. A target does one thing " \
        "and whatever it needs first; what is missing, Python's packages and NVIDIA's compiler included, is " \
        "fetched on first use. Pages are plain in a pipe and where NO_COLOR is set, and at most 80 columns wide. " \
        "make help-TARGET tells of one target alone.")
    for (i = 1; i <= count; i++) printf "\n%s\n%s", toupper(order[i]), targets[order[i]]
    printf "\nVARIABLES\n"
    for (i = 1; i <= variables; i++) printf "%s", entry(variable[i], meaning[i])
    printf "\nEXIT STATUS\n%s%s", entry("0", "done"), entry("2", "a command of it failed. make then names that " \
        "one's status: 1 not passed, 2 wrong usage, 3 the machine's fault. ./chNN and ./warpbook end with these.")
    printf "\nFILES\n"
    printf "%s", entry("chapters/", "the lessons, README.md, and your kernels, kernel.cu")
    printf "%s", entry("progress/", "your history, history.sqlite: every run; updates and make clean leave it")
    printf "%s", entry("build/", "all that is built; results.json is what make grade wrote last, kept/ are your " \
        "files from before reset-chNN")
    printf "%s", entry("docs/commands.md", "the commands in full")
    printf "\nEXAMPLES\n"
    printf "%s", entry("make ch04 && ./ch04", "builds chapter 4 and judges it")
    printf "%s", entry("make watch CH=ch04", "judges chapter 4 at every save")
    printf "%s", entry("make grade CH=\"ch01 ch02\"", "records two chapters")
    printf "%s", entry("make status JSON=1", "for a program to read")
}

function section(title, text) {
    if (title != "NAME") print ""
    print title
    printf "%s", wrapped("  ", "  ", text)
}

# A name and its words, wrapped beside it, or below it where there is no room beside.
function entry(name, text,    made, indent) {
    indent = width < 60 ? "        " : sprintf("%22s", "")
    made = sprintf("  %-19s", name)
    if (length(made) > length(indent) - 1) made = made "\n" indent
    else made = substr(made sprintf("%22s", ""), 1, length(indent))
    return wrapped(made, indent, text)
}

function wrapped(first, indent, text,    parts, number, line, made, i) {
    line = first
    sub(/.*\n/, "", line)
    made = substr(first, 1, length(first) - length(line))
    first = line
    number = split(text, parts, " ")
    for (i = 1; i <= number; i++) {
        if (line != first && length(line) + 1 + length(parts[i]) > width) {
            made = made line "\n"
            line = first = indent
        }
        line = line (line == first ? "" : " ") parts[i]
    }
    return made line "\n"
}

# Whether `asked`, such as hint-ch04, is what the manual calls `name`, such as hint-chNN.
function is_called(name, asked,    pattern) {
    pattern = name
    sub(/ .*/, "", pattern)
    sub(/NN-name$/, "[0-9N][0-9N]-.*", pattern)
    sub(/NN$/, "[0-9N][0-9N]", pattern)
    return asked ~ ("^" pattern "$")
}

function about_one(    short, i, said) {
    if (found == "") {
        printf "warpbook: there is no target %s; make help lists them\n", target > "/dev/stderr"
        return 2
    }
    printf "%s", entry("make " found, words[found])
    short = found
    sub(/ .*/, "", short)
    for (i = 1; i <= variables; i++) {
        said = " " meaning[i] " "
        gsub(/[,;:.]/, " ", said)
        if (index(said, " " short " ")) printf "%s%s", (told++ ? "" : "\nVARIABLES\n"), entry(variable[i], meaning[i])
    }
    print ""
    printf "%s", wrapped("", "", "All targets and variables: make help. In full: docs/commands.md.")
    return 0
}
