# Sourced by scripts that run commands on another machine; `run` runs one of them there.
# Runs each argument and says its status and its time. Ends with 1 if one failed.
run_each() {
    local status=0 command before result
    for command; do
        echo "---- $command"
        before=$(date +%s)
        result=0
        run "$command" || result=$?
        echo "---- $command: status $result after $(($(date +%s) - before)) s"
        [ "$result" = 0 ] || status=1
    done
    exit "$status"
}
