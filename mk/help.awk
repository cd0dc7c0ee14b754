# Prints the pages `make help`, `make help-teacher` and `make help-author` from the comments beside the targets:
#
#   ##@ Learning                         a heading for the targets and variables below it in this file
#   ##@ teacher: Grading a class         a heading on the teacher's page; the author's likewise
#   grade: ... ## what it does           a target; one line for many: `## [hint-chNN] what it does`
#   ##= STEP=2 ## of hint-chNN: which    a variable of some targets; without `of ...:` one of all
#
# -v page=learner, teacher or author chooses the page; headings keep the order in which they first occur. With
# TARGET=hint-ch04 in the environment only that target is printed, and its variables. Lines have at most 80
# columns, or as many as the environment variable COLUMNS says if that is fewer.

BEGIN {
    width = ENVIRON["COLUMNS"] + 0
    if (width < 30 || width > 80) width = 80
    if (page == "") page = "learner"
    target = page == "learner" ? ENVIRON["TARGET"] : "" # not -v, which would take a backslash for an escape
}

FNR == 1 { reads("The workbook itself") }

/^##@ / { reads(substr($0, 5)); next }

/^##= .* ## / {
    at = index($0, " ## ")
    variable[++variables] = substr($0, 5, at - 5)
    meaning[variables] = substr($0, at + 4)
    variable_page[variables] = reader
    next
}

/^[^\t#].*:.*## / {
    text = substr($0, index($0, "## ") + 3)
    name = substr($0, 1, index($0, ":") - 1)
    if (match(text, /^\[[^]]*\] /)) {
        name = substr(text, 2, RLENGTH - 3)
        text = substr(text, RLENGTH + 1)
    }
    if (!((reader, heading) in targets)) headings[reader, ++count[reader]] = heading
    targets[reader, heading] = targets[reader, heading] entry("make " name, text)
    words[name] = text
    if (target != "" && is_called(name, target)) found = name
}

END {
    if (target != "") exit about_one()
    if (!count[page]) {
        printf "warpbook: this copy of the workbook has no targets for a %s\n", page > "/dev/stderr"
        exit 2
    }
    if (page == "learner") learner_begins()
    else if (page == "teacher") begins("make help-teacher - targets for a teacher", "docs/teaching.md runs a " \
        "first class in thirty minutes; docs/class.md and docs/exports.md describe each step in full.")
    else begins("make help-author - targets for people who change the workbook", "CONTRIBUTING.md says which of " \
        "them prove a change. Targets that need a GPU say so; the others run on any machine.")
    for (i = 1; i <= count[page]; i++) printf "\n%s\n%s", toupper(headings[page, i]), targets[page, headings[page, i]]
    printf "\nVARIABLES\n"
    for (i = 1; i <= variables; i++) if (variable_page[i] == page) printf "%s", entry(variable[i], meaning[i])
    if (page == "learner") learner_ends()
    else printf "\n%s", wrapped("", "", "Variables of all targets, such as JOBS and V: make help. One target " \
        "alone: make help-TARGET.")
}

# `title` is a heading, after the name of its page if that is not the learner's.
function reads(title) {
    reader = "learner"
    heading = title
    if (match(title, /^(teacher|author): /)) {
        reader = substr(title, 1, RLENGTH - 2)
        heading = substr(title, RLENGTH + 1)
    }
}

function begins(name, description) {
    section("NAME", name)
    section("DESCRIPTION", description)
}

function learner_begins() {
    section("NAME", "make - build, judge and record the workbook's kernels")
    section("SYNOPSIS", "make [TARGET ...] [VARIABLE=VALUE ...]")
    section("DESCRIPTION", "Without a target, make shows where you are and what comes next. Each target does one " \
        "thing, after whatever it needs first. Missing Python packages and a missing CUDA compiler are fetched on " \
        "first use. Output is at most 80 columns wide, and plain text in a pipe or with NO_COLOR set. make " \
        "help-TARGET describes one target.")
}

function learner_ends() {
    printf "\nEXIT STATUS\n%s%s", entry("0", "done"), entry("2", "a command failed, and make prints its status: 1 " \
        "not passed, 2 wrong usage, 3 a problem of the machine. ./chNN and ./warpbook exit with these.")
    printf "\nFILES\n"
    printf "%s", entry("chapters/", "the lessons, README.md, and your kernels, kernel.cu")
    printf "%s", entry("progress/", "your history, history.sqlite: every run; updates and make clean keep it")
    printf "%s", entry("build/", "everything that is built; results.json has the last make grade, kept/ your files " \
        "from before reset-chNN")
    printf "%s", entry("docs/commands.md", "the commands in full")
    printf "\nEXAMPLES\n"
    printf "%s", entry("make ch04 && ./ch04", "builds chapter 4 and judges it")
    printf "%s", entry("make watch CH=ch04", "judges chapter 4 at every save")
    printf "%s", entry("make grade CH=\"ch01 ch02\"", "records two chapters")
    printf "%s", entry("make status JSON=1", "prints your progress for a program to read")
    if (count["teacher"] + count["author"]) printf "\nMORE PAGES\n" # a handout has none
    if (count["teacher"]) printf "%s", entry("make help-teacher", "targets for a teacher: grading a class, handouts, " \
        "autograders")
    if (count["author"]) printf "%s", entry("make help-author", "targets for people who change the workbook: " \
        "tests, generated parts, measurements")
}

function section(title, text) {
    if (title != "NAME") print ""
    print title
    printf "%s", wrapped("  ", "  ", text)
}

# A name and its text, wrapped beside it, or below it if there is no room beside.
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

# Whether `asked`, such as hint-ch04, is the target that the page calls `name`, such as hint-chNN.
function is_called(name, asked,    pattern) {
    pattern = name
    sub(/ .*/, "", pattern)
    sub(/NN-name$/, "[0-9N][0-9N]-.*", pattern)
    sub(/NN$/, "[0-9N][0-9N]", pattern)
    return asked ~ ("^" pattern "$")
}

# Whether a variable's text says that it is of the target `name`; one text may say `of a, b and c: ...; of d: ...`.
function is_of(text, name,    parts, number, i) {
    number = split(text, parts, "; ")
    for (i = 1; i <= number; i++) {
        if (!match(parts[i], /^of [^:]*:/)) continue
        text = substr(parts[i], 1, RLENGTH)
        gsub(/[,:]/, " ", text)
        if (index(text, " " name " ")) return 1
    }
    return 0
}

function about_one(    short, i) {
    if (found == "") {
        printf "warpbook: there is no target %s; make help lists them\n", target > "/dev/stderr"
        return 2
    }
    printf "%s", entry("make " found, words[found])
    short = found
    sub(/ .*/, "", short)
    for (i = 1; i <= variables; i++)
        if (is_of(meaning[i], short)) printf "%s%s", (told++ ? "" : "\nVARIABLES\n"), entry(variable[i], meaning[i])
    print ""
    printf "%s", wrapped("", "", "All targets and variables: make help. In full: docs/commands.md.")
    return 0
}
