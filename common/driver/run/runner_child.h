// The runner's side: a process that does as it is told over its socket.
#ifndef WARPBOOK_RUNNER_CHILD_H
#define WARPBOOK_RUNNER_CHILD_H

// main() calls it for `--runner`, and exits with what it returns.
int runner_main(void);

#endif
